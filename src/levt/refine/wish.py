"""What a person wishes, in text: a source, a draft, and what must stay, go or appear. Knows no token."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from levt.errors import InputError, raise_all
from levt.refine.options import Options
from levt.refine.ranges import MANY

Span = tuple[int, int]
"""Characters of the draft: from the first to the one before the second."""


@dataclass(frozen=True, kw_only=True)
class Wish:
    """One text to write or to refine.

    >>> Wish(source="A dog.", draft="Ein Hund.", keep=((4, 99),))
    Traceback (most recent call last):
    levt.errors.InputError: keep: the draft has 9 characters, got the span 4 … 99
    hint: texts, or spans (first character, the one behind the last) of the draft
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
        for text in (self.source, self.draft):
            checked_text(text)
        problems = []
        for name in ("keep", "drop", "terms"):
            given = getattr(self, name)
            # A single text is a sequence of characters too: nobody means that.
            items = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
            object.__setattr__(self, name, items)
            problems += [*filter(None, (item_problem(name, item, self.draft) for item in items))]
        problems += places_problems(self.insert_at, self.draft)
        if not isinstance(self.ordered, bool):
            problems.append(f"ordered: must be True or False, got {self.ordered!r}")
        if not isinstance(self.options, Options):
            problems.append(f"options: must be Options, got {self.options!r}")
        if problems:
            hint = HINTS[problems[0].partition(":")[0]]
            if len(problems) == 1:
                raise InputError(problems[0], hint=hint)
            raise_all(InputError, "steering", problems, hint=hint)

    @property
    def steered(self) -> bool:
        """Whether anything is asked for beyond the settings."""
        return bool(self.keep or self.drop or self.insert_at or self.terms)

    @property
    def blank(self) -> bool:
        """Whether there is nothing to do: no source, no draft, no term."""
        return not (self.source.strip() or self.draft.strip() or self.terms)


_SPANS = "texts, or spans (first character, the one behind the last) of the draft"
HINTS = {
    "keep": _SPANS,
    "drop": _SPANS,
    "terms": "texts that are to appear",
    "insert_at": "{characters before the place: how many placeholders}",
    "ordered": "True where the terms must appear in the order given",
    "options": "levt.Options(max_iterations=…, …)",
}
"""What steering is made of."""


def checked_text(given: Any) -> str:
    """What is given, if it is a text."""
    if not isinstance(given, str):
        raise InputError(f"a text must be a string, got {given!r}", hint="one string, or a list of strings")
    return given


def checked_wish(given: Any) -> Wish:
    """What is given, if it is a wish."""
    if not isinstance(given, Wish):
        raise InputError(f"there must be wishes, got {given!r}", hint="levt.Wish(source=…, …)")
    return given


def item_problem(name: str, item: Any, draft: str) -> str | None:
    """What is wrong with one thing to keep, to drop or to use, if anything is.

    >>> item_problem("keep", 5, "Ein Hund.")
    'keep: must be texts or spans, got 5'
    """
    if isinstance(item, str):
        return None if item.strip() else f"{name}: a text must not be blank, got {item!r}"
    if name == "terms":
        return f"terms: must be texts, got {item!r}"
    if not isinstance(item, Sequence) or len(item) != 2 or not all(_whole(end) for end in item):
        return f"{name}: must be texts or spans, got {item!r}"
    start, end = item
    if not 0 <= start < end <= len(draft):
        return f"{name}: the draft has {len(draft)} characters, got the span {start} … {end}"
    return None if draft[start:end].strip() else f"{name}: the span {start} … {end} of the draft is blank"


def places_problems(given: Any, draft: str) -> list[str]:
    """What is wrong with the places where placeholders are to be opened.

    >>> places_problems([3], "Ein Hund."), places_problems({3: 1}, "Ein Hund.")
    (['insert_at: must be places with counts, got [3]'], [])
    """
    if not isinstance(given, Mapping) or not all(_whole(number) for pair in given.items() for number in pair):
        return [f"insert_at: must be places with counts, got {given!r}"]
    problems = []
    for place, count in given.items():
        if not 0 <= place <= len(draft):
            problems.append(f"insert_at: the draft has {len(draft)} characters, got the place {place}")
        if count < 0:
            problems.append(f"insert_at: a count must be at least 0, got {count}")
        if count > MANY:
            problems.append(f"insert_at: a count must be at most {MANY}, got {count}")
    return problems


def _whole(number: Any) -> bool:
    # Those of numpy are numbers, too; a truth value is none.
    return isinstance(number, Integral) and not isinstance(number, bool)
