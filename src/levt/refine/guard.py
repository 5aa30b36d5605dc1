"""The last look at a result, in text: what must appear does, and what must not does not. Knows no policy.

Locked and glued tokens survive any policy, but text is not only tokens: a byte beside a character spelt in
bytes breaks it, a piece behind a term makes it the beginning of another word, and a word that must go may come
back in other pieces. So the decoded text is read, and as long as something is wrong, tokens that nobody locked
are removed. What must appear wins.

A term must stand there as whole words: no letter, digit or accent may go on where it begins or ends. Scripts
without spaces have no such borders, so there (and beside them) a term may have any neighbour. Where two locked
parts would run together, a space is put between them; a vocabulary of given pieces has none to put there.
"""

from collections.abc import Collection, Sequence
from itertools import groupby

from levt.refine.loop import Outcome
from levt.refine.mend import mend
from levt.refine.numbers import respell
from levt.refine.places import Place, find, is_whole, whole
from levt.refine.steering import Plan
from levt.text.parts import byte_value, characters_of, is_text, led_by
from levt.text.segmentation import BYTES
from levt.text.tokenizer import Tokenizer

LONGER = 4
"""A text in another form is at most so many times as long: a letter may have three accents."""
_SPACE = BYTES[ord(" ")]
"""A space that belongs to no word."""


def guard(outcome: Outcome, plan: Plan, tokenizer: Tokenizer) -> None:
    """Remove tokens until the decoded result holds all that is required and nothing forbidden.

    Bytes that make up no character go too, unless the request is for what the policies do and nothing else. Long
    numbers of the source are put right. A part that follows another gets the white space between them.
    """
    if plan.request.options.reread:
        mend(outcome, tokenizer)
    # Only now are the numbers whole, and it is clear what the text begins with.
    respell(outcome, plan.numbers, tokenizer)
    if plan.lead is not None:
        outcome.become(tuple(led_by(tokenizer, outcome.tokens, plan.lead)))
    while plan.required or plan.words or plan.forbidden:
        text = tokenizer.decode(outcome.tokens)
        locked = outcome.locks()
        at: Collection[int] = breaking(locked, tokenizer.pieces(outcome.tokens))
        if not at:
            if (going_on := _going_on(outcome, plan.words, text, tokenizer)) is None:
                continue
            at = going_on
        if not at and (
            any(part not in text for part in plan.required)
            or any(not whole(text, word) for word in plan.words)
        ):
            at = [i for i in beside(locked) if not _parts(outcome, tokenizer, i)]
        if not at and (places := _forbidden(text, plan.forbidden, tokenizer)):
            spans = characters_of(tokenizer, outcome.tokens)
            at = [
                i
                for i, (start, end) in enumerate(spans)
                if not locked[i]
                and any(start < b and a < end for a, b in places)
                and not _parts(outcome, tokenizer, i)
            ]
        if not at:
            return
        outcome.remove(at)


def _forbidden(text: str, parts: Sequence[str], tokenizer: Tokenizer) -> list[Place]:
    """Where a part stands as whole words, be it in another form: as e and an accent for é."""
    places = [place for part in parts for place in whole(text, part)]
    if places or tokenizer.by_pieces or not any(whole(tokenizer.normalise(text), part) for part in parts):
        return places
    seen = [i for i, character in enumerate(text) if not character.isspace()]
    starts = [i for i in seen if is_whole(text, (i, i))]
    ends = [i + 1 for i in seen if is_whole(text, (i + 1, i + 1))]
    longest = LONGER * max(map(len, parts))
    return [
        (a, b)
        for a in starts
        for b in ends
        if a < b <= a + longest and tokenizer.normalise(text[a:b]) in parts
    ]


def _going_on(
    outcome: Outcome, words: Sequence[str], text: str, tokenizer: Tokenizer
) -> Collection[int] | None:
    """Tokens that go on where a locked word begins or ends; None where a space was put there instead."""
    cut = [place for word in words for place in find(text, word) if not is_whole(text, place)]
    if not cut:
        return ()
    locked, glued = outcome.locks(), outcome.glue()
    spans = characters_of(tokenizer, outcome.tokens)
    space = tokenizer.id_of(_SPACE)
    found: set[int] = set()
    for a, b in cut:
        if not all(lock for (start, end), lock in zip(spans, locked, strict=True) if start < b and a < end):
            continue
        for border in (a, b):
            if is_whole(text, (border, border)):
                continue
            left, right = (
                [i for i, (start, end) in enumerate(spans) if start <= at < end]
                for at in (border - 1, border)
            )
            loose = {i for i in left + right if not locked[i]}
            found |= loose
            # Inside one locked part a word may go on: "dogs" was to be kept, and "dog" is a term elsewhere.
            if not loose and left != right and not glued[right[0]] and space is not None and not found:
                outcome.put(right[0], space)
                return None
    return found


def _parts(outcome: Outcome, tokenizer: Tokenizer, i: int) -> bool:
    """Whether a token is a space that keeps two locked parts apart."""
    locked = outcome.locks()
    inside = 0 < i < len(locked) - 1
    return inside and locked[i - 1] and locked[i + 1] and tokenizer.pieces(outcome.tokens)[i] == _SPACE


def breaking(locked: Sequence[bool], pieces: Sequence[str]) -> list[int]:
    """Bytes that stand in one run with locked bytes, where the run is not UTF-8.

    >>> breaking([False, True, True, False], ["<0xFF>", "<0xC3>", "<0xA9>", "▁a"])
    [0]
    """
    found: list[int] = []
    values = [byte_value(piece) for piece in pieces]
    for are_bytes, run in groupby(range(len(pieces)), key=lambda i: values[i] is not None):
        at = list(run)
        if are_bytes and any(locked[i] for i in at) and not is_text(bytes(values[i] or 0 for i in at)):
            found += [i for i in at if not locked[i]]
    return found


def beside(locked: Sequence[bool]) -> list[int]:
    """Tokens beside locked ones.

    >>> beside([False, False, True, False])
    [1, 3]
    """
    near = {j for i, lock in enumerate(locked) if lock for j in (i - 1, i + 1)}
    return [i for i, lock in enumerate(locked) if i in near and not lock]
