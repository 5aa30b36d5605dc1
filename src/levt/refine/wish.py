"""What a person wishes, in text: a source, a draft, and what must stay, go or appear. Knows no token."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from levt.errors import InputError, raise_all
from levt.refine.options import Options

Span = tuple[int, int]
"""Characters of the draft: from the first to the one before the second."""


@dataclass(frozen=True, kw_only=True)
class Wish:
    """One text to write or to refine.

    >>> Wish(source="A dog.", draft="Ein Hund.", keep=((4, 99),))
    Traceback (most recent call last):
    levt.errors.InputError: keep: the draft has 9 characters, got the span 4 … 99
    """

    source: str
    """x."""
    draft: str = ""
    """y⁰; empty to write from nothing."""
    keep: Sequence[str | Span] = ()
    """Parts of the draft that must survive unchanged and in one piece."""
    drop: Sequence[str | Span] = ()
    """Texts that must not stand in the result, as whole words; a span crosses out one place of the draft."""
    insert_at: Mapping[int, int] = field(default_factory=dict)
    """Places of the draft (characters before them) where so many placeholders are to be opened at first."""
    terms: Sequence[str] = ()
    """Texts that must appear in the result, wherever they fit."""
    ordered: bool = False
    """The terms must appear in the order given; otherwise the model's favourite order is taken."""
    options: Options = field(default_factory=Options)
    """The settings of this text."""

    def __post_init__(self) -> None:
        for name in ("keep", "drop", "terms"):
            given = getattr(self, name)
            # A single text is a sequence of characters too: nobody means that.
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        problems = []
        for name in ("keep", "drop", "terms"):
            for item in getattr(self, name):
                if isinstance(item, str):
                    if not item.strip():
                        problems.append(f"{name}: a text must not be blank, got {item!r}")
                elif name == "terms":
                    problems.append(f"terms: must be texts, got {item!r}")
                elif not 0 <= item[0] < item[1] <= len(self.draft):
                    problems.append(
                        f"{name}: the draft has {len(self.draft)} characters, got the span {item[0]} … {item[1]}"
                    )
                elif not self.draft[item[0] : item[1]].strip():
                    problems.append(f"{name}: the span {item[0]} … {item[1]} of the draft is blank")
        for place, count in self.insert_at.items():
            if not 0 <= place <= len(self.draft):
                problems.append(
                    f"insert_at: the draft has {len(self.draft)} characters, got the place {place}"
                )
            if count < 0:
                problems.append(f"insert_at: a count must be at least 0, got {count}")
        if len(problems) == 1:
            raise InputError(problems[0])
        raise_all(InputError, "steering", problems)

    @property
    def steered(self) -> bool:
        """Whether anything is asked for beyond the settings."""
        return bool(self.keep or self.drop or self.insert_at or self.terms)

    @property
    def blank(self) -> bool:
        """Whether there is nothing to do: no source, no draft, no term."""
        return not (self.source.strip() or self.draft.strip() or self.terms)
