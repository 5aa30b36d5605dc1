"""Cutting a text that is too long for a model, where a reader would pause. Knows no model."""

import re
from collections.abc import Callable

from levt.errors import InputError

PAUSES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<=[.!?…])[\"'”’»)\]]*\s+|(?<=[。！？])",
        r"(?<=[;:])\s+|(?<=[；：])",
        r"(?<=,)\s+|\s+(?=[–—-]\s)|(?<=[、，])",
        r"\s+",
    )
)
"""Where to cut, best first: sentences, clauses, commas, words."""


def split(text: str, fits: Callable[[str], bool], readable: Callable[[str], bool] | None = None) -> list[str]:
    """Parts that fit, in order; nothing but white space between them is lost.

    What can be cut nowhere need not fit, if it is ``readable``.

    >>> split("One two. Three, four.", lambda part: len(part) <= 9)
    ['One two.', 'Three,', 'four.']
    """
    text = text.strip()
    if fits(text):
        return [text]
    for pause in PAUSES:
        places = [match.end() for match in pause.finditer(text) if 0 < match.end() < len(text)]
        if places:
            middle = min(places, key=lambda at: abs(at - len(text) / 2))
            return [*split(text[:middle], fits, readable), *split(text[middle:], fits, readable)]
    if readable is not None and readable(text):
        return [text]
    raise InputError(
        f"a word of {len(text)} characters, {text[:20]!r}…, is longer than the model can read",
        hint="is it a text, or data? Take it out, or cut it",
    )
