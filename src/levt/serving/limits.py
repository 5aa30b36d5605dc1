"""What the server accepts: every limit with its default and its own error. Knows no request."""

from dataclasses import dataclass, fields

from levt.errors import ConfigError, raise_all
from levt.serving.problems import Problem


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a server.

    >>> Limits(texts=2).check_texts(3)
    Traceback (most recent call last):
    levt.serving.problems.Problem: the request has 3 texts, at most 2 are taken
    """

    bytes: int = 1 << 20
    """Largest body of a request."""
    texts: int = 256
    """Most texts in a request."""
    tokens: int = 2048
    """Most tokens of a text or a draft."""
    iterations: int = 50
    """Largest max_iterations."""
    terms: int = 16
    """Most terms of a text; and most parts to keep, to drop, to insert at, most banned sequences."""
    alternatives: int = 32
    """Most alternatives of a place, and most placeholders they fill."""
    queue: int = 4096
    """Most texts that wait for a place in the batch."""
    seconds: float = 60.0
    """Longest time for an answer."""
    body_seconds: float = 10.0
    """Longest time for a request to arrive."""
    stall_seconds: float = 20.0
    """Longest time in which a client takes nothing of its answer."""

    def __post_init__(self) -> None:
        problems = [
            f"{field.name} must be {'above 0 and finite' if field.type is float else 'at least 1'}, got {value}"
            for field in fields(self)
            if not 0 < (value := getattr(self, field.name)) < float("inf")
        ]
        raise_all(ConfigError, "limits", problems, hint="leave it out: every limit has a default")

    def check_bytes(self, size: int) -> None:
        """The body."""
        if size > self.bytes:
            raise Problem(
                "too_many_bytes",
                f"the request has more than {self.bytes} bytes",
                hint="send fewer texts at a time",
            )

    def check_texts(self, count: int) -> None:
        """Texts of a request."""
        if count > self.texts:
            raise Problem(
                "too_many_texts",
                f"the request has {count} texts, at most {self.texts} are taken",
                hint="send them in several requests",
            )

    def check_text(self, text: str) -> None:
        """A text that has too many tokens whatever the vocabulary: asking the tokenizer would take long."""
        if len(text) > 16 * self.tokens:
            raise Problem(
                "too_many_tokens",
                f"a text has {len(text)} characters, at most {self.tokens} tokens are taken",
                hint="send it paragraph by paragraph",
            )

    def check_tokens(self, count: int) -> None:
        """Tokens of a text or a draft."""
        if count > self.tokens:
            raise Problem(
                "too_many_tokens",
                f"a text has {count} tokens, at most {self.tokens} are taken",
                hint="send it paragraph by paragraph",
            )

    def check_iterations(self, count: int) -> None:
        """The iterations asked for."""
        if count > self.iterations:
            raise Problem(
                "too_many_iterations",
                f"max_iterations must be at most {self.iterations}, got {count}",
                hint="leave it out for the default",
            )

    def check_terms(self, name: str, count: int) -> None:
        """Terms of a text, and other steering."""
        if count > self.terms:
            raise Problem(
                "too_many_terms",
                f"{name}: at most {self.terms} are taken for a text, got {count}",
                hint="refine the text in parts",
            )

    def check_alternatives(self, name: str, count: int) -> None:
        """Alternatives of a place."""
        if count > self.alternatives:
            raise Problem(
                "too_many_alternatives",
                f"{name} must be at most {self.alternatives}, got {count}",
                hint="/v1/models tells the limits",
            )
