"""The last look at a result, in text: what must appear does, and what must not does not. Knows no policy.

Locked and glued tokens survive any policy, but text is not only tokens: a byte beside a character spelt in
bytes breaks it, and a word that must go may come back in other pieces. So the decoded text is read, and as
long as something is wrong, tokens that nobody locked are removed. What must appear wins.
"""

from collections.abc import Collection, Sequence
from itertools import groupby

from levt.refine.loop import Outcome
from levt.refine.places import whole
from levt.text.parts import byte_value, characters_of
from levt.text.tokenizer import Tokenizer


def guard(
    outcome: Outcome, tokenizer: Tokenizer, *, required: Sequence[str] = (), forbidden: Sequence[str] = ()
) -> None:
    """Remove tokens until the decoded result holds all that is required and nothing forbidden."""
    while required or forbidden:
        text = tokenizer.decode(outcome.tokens)
        locked = outcome.locks()
        at: Collection[int] = breaking(locked, tokenizer.pieces(outcome.tokens))
        if not at and any(part not in text for part in required):
            at = beside(locked)
        if not at and (places := [place for part in forbidden for place in whole(text, part)]):
            spans = characters_of(tokenizer, outcome.tokens)
            at = [
                i
                for i, (start, end) in enumerate(spans)
                if not locked[i] and any(start < b and a < end for a, b in places)
            ]
        if not at:
            return
        outcome.remove(at)


def breaking(locked: Sequence[bool], pieces: Sequence[str]) -> list[int]:
    """Bytes that stand in one run with locked bytes, where the run is not UTF-8.

    >>> breaking([False, True, True, False], ["<0xFF>", "<0xC3>", "<0xA9>", "▁a"])
    [0]
    """
    found: list[int] = []
    values = [byte_value(piece) for piece in pieces]
    for are_bytes, run in groupby(range(len(pieces)), key=lambda i: values[i] is not None):
        at = list(run)
        if are_bytes and any(locked[i] for i in at) and not _is_text([values[i] or 0 for i in at]):
            found += [i for i in at if not locked[i]]
    return found


def beside(locked: Sequence[bool]) -> list[int]:
    """Tokens beside locked ones.

    >>> beside([False, False, True, False])
    [1, 3]
    """
    near = {j for i, lock in enumerate(locked) if lock for j in (i - 1, i + 1)}
    return [i for i, lock in enumerate(locked) if i in near and not lock]


def _is_text(values: Sequence[int]) -> bool:
    try:
        bytes(values).decode()
    except UnicodeDecodeError:
        return False
    return True
