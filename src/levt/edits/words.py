"""Pieces to words: how the tokens of a state are written as text. Knows no vocabulary, only how pieces join.

A piece that starts with ``▁`` begins a new word, every other one attaches to what stands before it, and
neighbouring byte pieces make up characters, as ``text.segmentation`` says.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import groupby

from levt.text.parts import shown_together
from levt.text.segmentation import BYTE_VALUES, SPACE, unmark_spaces

BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of the text around them: with one, an edit could be shown elsewhere."""


def starts_word(piece: str) -> bool:
    """Whether a space stands before this piece."""
    return piece.startswith(SPACE)


def is_blank(piece: str) -> bool:
    """Whether there is nothing to see but spaces."""
    return not piece.strip(SPACE)


def fuse(pieces: Sequence[str]) -> str:
    """The pieces after each other, bytes as the characters they make up; broken ones become U+FFFD each.

    >>> fuse(["▁t", "<0xC3>", "<0xA9>"])
    '▁té'
    """
    parts = []
    for are_bytes, run in groupby(pieces, key=BYTE_VALUES.__contains__):
        if are_bytes:
            raw = bytes(BYTE_VALUES[piece] for piece in run)
            try:
                parts.append(raw.decode())
            except UnicodeDecodeError:
                parts.append("\ufffd" * len(raw))
        else:
            parts += run
    return "".join(parts)


def join(pieces: Sequence[str]) -> str:
    """The text of a sequence of pieces.

    >>> join(["▁Ein", "▁Hun", "d", "."])
    'Ein Hund.'
    """
    return unmark_spaces(fuse(pieces))


def words_of(pieces: Sequence[str]) -> list[range]:
    """For each piece the words that it is part of, words being what stands between white space, as in ``str.split``.

    One space before a word is part of it, as in ``▁``. More white space is part of none: a piece of it has an empty
    range, where the next word begins.

    >>> words_of(["▁Ein", "▁Hun", "d", "▁", "▁", "läuft"])
    [range(0, 1), range(1, 2), range(1, 2), range(2, 2), range(2, 3), range(2, 3)]
    """
    groups = shown_together(pieces)
    texts = [fuse(pieces[first:last]).replace(SPACE, " ") for first, last in groups]
    places = [word.span() for word in re.finditer(r"\s?\S+", "".join(texts))]
    starts, ends = [start for start, _ in places], [end for _, end in places]
    words: list[range] = []
    at = 0
    for (first, last), text in zip(groups, texts, strict=True):
        words += [range(bisect_right(ends, at), bisect_left(starts, at + len(text)))] * (last - first)
        at += len(text)
    return words


def visible(text: str) -> str:
    r"""The text with everything escaped that could act on a terminal or hide in a page.

    Control characters, line separators, lone surrogates and direction overrides are written as Python would
    write them; joiners, which many scripts and emoji need, stay.

    >>> print(visible("a\x1b[31mb"))
    a\x1b[31mb
    """
    return "".join(
        character.encode("unicode_escape").decode("ascii") if acts(character) else character
        for character in text
    )


def acts(character: str) -> bool:
    """Whether a character does something else than being seen."""
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in BIDI_CONTROLS
