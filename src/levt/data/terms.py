"""Terms as files have them: some in a line, or a list. Knows not what becomes of them."""

import re
from collections.abc import Sequence
from typing import Any

from levt.errors import InputError


def terms_of(given: Any) -> tuple[str, ...]:
    """The terms of a line, between tabs or semicolons, or as a list.

    >>> terms_of("ein Hund; Schnee\\t")
    ('ein Hund', 'Schnee')
    """
    if isinstance(given, str):
        return tuple(term.strip() for term in re.split(r"[\t;]", given) if term.strip())
    if not isinstance(given, Sequence) or not all(isinstance(term, str) for term in given):
        raise InputError(
            f"the terms must be a text or a list of texts, got {given!r}",
            hint='"ein Hund; Schnee", or ["ein Hund", "Schnee"]',
        )
    return tuple(given)
