"""Where a text stands inside another, whole words first. Knows no token."""

import unicodedata

Place = tuple[int, int]
"""From the first character to the one after the last."""

_SPACELESS = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
)  # fmt: skip
"""Scripts written without spaces between words: Thai, Lao, Burmese, Khmer, kana and Han."""


def spaceless(character: str) -> bool:
    """Whether a character belongs to a script that puts no spaces between words."""
    return any(first <= ord(character) <= last for first, last in _SPACELESS)


def find(text: str, wanted: str, *, by_pieces: bool = False) -> list[Place]:
    """Every place where ``wanted`` stands as a whole word or words, then every other, each from the left.

    In texts given in pieces only whole pieces count.

    >>> find("Hunde und", "und")
    [(6, 9), (1, 4)]
    """
    found = []
    at = text.find(wanted)
    while at >= 0:
        found.append((at, at + len(wanted)))
        at = text.find(wanted, at + 1)
    if by_pieces:
        padded = f" {text} "
        return [place for place in found if padded[place[0]] == padded[place[1] + 1] == " "]
    return sorted(found, key=lambda place: (not is_whole(text, place), place))


def is_whole(text: str, place: Place) -> bool:
    """Whether no word goes on beyond a place, to the left or to the right.

    >>> is_whole("ein Hund.", (4, 8)), is_whole("ein Hund.", (5, 8))
    (True, False)
    """
    return not any(_inside_word(text, border) for border in place)


def whole(text: str, wanted: str) -> list[Place]:
    """Every place where ``wanted`` stands as a whole word or words."""
    return [place for place in find(text, wanted) if is_whole(text, place)]


def _inside_word(text: str, border: int) -> bool:
    if not 0 < border < len(text):
        return False
    left, right = text[border - 1], text[border]
    return _of_word(left) and _of_word(right) and not spaceless(left) and not spaceless(right)


def _of_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")
