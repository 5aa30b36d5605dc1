"""Result: what a user gets back for one text. Knows no network."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any

from levt.edits.trace import Trace
from levt.engine.story import Story
from levt.refine.request import Tokens
from levt.text.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """Another output for the same text."""

    text: str
    tokens: Tokens
    score: float


@dataclass(frozen=True, kw_only=True)
class Result:
    """A text, and how it came about."""

    text: str
    """The text."""
    tokens: Tokens
    """Its tokens, without boundaries."""
    pieces: tuple[str, ...]
    """The text of each token."""
    score: float
    """Mean log-probability: of the model's decisions, or of the tokens where it writes from left to right."""
    iterations: int
    """Rounds, one that only confirms counted; from left to right, tokens written."""
    passes: int
    """Passes through a decoder."""
    stopped: str
    """Why it ended: unchanged, repeated, cycle, limit; ended where it was done; empty where there was no text."""
    alternatives: tuple[Alternative, ...] = ()
    """The other outputs asked for by ``n_best``, best first; of a text that went in parts, each differs in one."""
    story: Story = field(repr=False, compare=False)
    """What the trace is made of."""

    @cached_property
    def trace(self) -> Trace:
        """Every edit with its probability, from the draft to the result."""
        return self.story.trace()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {**self.summary(), "trace": self.trace.to_json()}

    def summary(self) -> dict[str, Any]:
        """The same without the trace."""
        return {
            "text": self.text,
            "tokens": list(self.tokens),
            "pieces": list(self.pieces),
            "score": _number(self.score),
            "iterations": self.iterations,
            "passes": self.passes,
            "stopped": self.stopped,
            "alternatives": [
                {"text": other.text, "tokens": list(other.tokens), "score": _number(other.score)}
                for other in self.alternatives
            ],
        }

    @classmethod
    def of(
        cls, story: Story, tokens: Tokens, *, score: float, iterations: int, passes: int, stopped: str,
        alternatives: tuple[Alternative, ...] = (),
    ) -> "Result":  # fmt: skip
        """The result that a story ends with."""
        tokenizer = story.tokenizer
        return cls(
            text=tokenizer.decode(tokens),
            tokens=tokens,
            pieces=tuple(tokenizer.pieces(tokens)),
            score=score,
            iterations=iterations,
            passes=passes,
            stopped=stopped,
            alternatives=alternatives,
            story=story,
        )

    @classmethod
    def empty(cls, tokenizer: Tokenizer) -> "Result":
        """The result of an empty text, for which no model is asked."""
        story = Story(draft=(), rounds=(), stopped=None, tokenizer=tokenizer)
        return cls.of(story, (), score=0.0, iterations=0, passes=0, stopped="empty")

    @classmethod
    def joined(cls, parts: list["Result"]) -> "Result":
        """The result of a text that went through the model in parts, as its sentences."""
        if len(parts) == 1:
            return parts[0]
        worst = ("empty", "ended", "unchanged", "repeated", "cycle", "limit")
        stopped = max((part.stopped for part in parts), key=worst.index)
        story = Story.side_by_side([part.story for part in parts], stopped)
        chosen: list[Result | Alternative] = [*parts]
        tokens, score = _row(chosen)
        others = []
        for i, part in enumerate(parts):
            for other in part.alternatives:
                row, its_score = _row([*chosen[:i], other, *chosen[i + 1 :]])
                others.append(Alternative(text=story.tokenizer.decode(row), tokens=row, score=its_score))
        others.sort(key=lambda other: -other.score)
        return cls.of(
            story,
            tokens,
            score=score,
            iterations=max(part.iterations for part in parts),
            passes=sum(part.passes for part in parts),
            stopped=stopped,
            alternatives=tuple(others[: max(len(part.alternatives) for part in parts)]),
        )


def _row(parts: Sequence[Result | Alternative]) -> tuple[Tokens, float]:
    """The tokens of parts side by side, and their mean score."""
    weights = [max(len(part.tokens), 1) for part in parts]
    score = sum(w * part.score for w, part in zip(weights, parts, strict=True)) / sum(weights)
    return tuple(token for part in parts for token in part.tokens), score


def _number(value: float) -> float | None:
    """A number that JSON can hold."""
    return value if isfinite(value) else None
