"""Long numbers of a source stand in its translation as they are. Knows no policy.

A number is written digit by digit, all at once, and a model easily leaves one of many out; who reads only the result
cannot tell. So where a long number of the source is missing, and the finished text has one like it that is neither in
the source nor in the draft, the right one takes its place, by one more edit that nobody decided. Short numbers, and
those that are grouped otherwise (1.234.567) or put into words, are the model's.
"""

import re
from collections import Counter

from levt.edits.oracle_reference import align_reference
from levt.refine.loop import Outcome
from levt.refine.places import Place
from levt.text.parts import characters_of, encode_inside
from levt.text.tokenizer import Tokenizer

LONG = 5
"""Digits of a number that may be lost; the bundled model loses none of shorter ones."""
ALIKE = 0.5
"""Share of digits that the right number and a misspelt one have in common, at least."""
_NUMBER = re.compile(r"\d+")
_GROUPING = re.compile(r"(?<=\d)[^\w](?=\d)")


def numbers_of(source: str) -> tuple[str, ...]:
    """All numbers of a source, if one of them is long.

    >>> numbers_of("In 2021 we sold 64549."), numbers_of("In 2021 we sold 6.")
    (('2021', '64549'), ())
    """
    found = tuple(_NUMBER.findall(_plain(source)))
    return found if any(len(number) >= LONG for number in found) else ()


def misspelt(text: str, numbers: tuple[str, ...], draft: str = "") -> list[tuple[Place, str]]:
    """The places of a text where a number of its source is misspelt, and that number; in order.

    >>> misspelt("2021 waren es 6449.", ("64549", "2021")), misspelt("64.549 in 100 Orten", ("64549", "10"))
    ([((14, 18), '64549')], [])
    """
    left, given = Counter(numbers), set(_NUMBER.findall(_plain(draft)))
    text, strange = _plain(text), []
    for run in _NUMBER.finditer(text):
        if left[run[0]]:
            left[run[0]] -= 1
        elif run[0] not in given:
            strange.append(run)
    joined = _GROUPING.sub("", text)

    def missing(number: str) -> bool:
        apart = joined.count(number) > numbers.count(number) - left[number]
        return len(number) >= LONG and (not apart or any(number in run[0] for run in strange))

    pairs = [(_likeness(run[0], n), run.span(), n) for n in left if left[n] and missing(n) for run in strange]
    found: dict[Place, str] = {}
    for likeness, place, number in sorted(pairs, reverse=True):
        if likeness >= ALIKE and left[number] and place not in found:
            left[number] -= 1
            found[place] = number
    return sorted(found.items())


def _plain(text: str) -> str:
    """The text with the digits of all scripts as 0 to 9, each in its place.

    >>> _plain("A １２ ٣")
    'A 12 3'
    """
    return _NUMBER.sub(lambda run: "".join(str(int(digit)) for digit in run[0]), text)


def _likeness(one: str, other: str) -> float:
    """The share of digits that two numbers have in common, in order; none where one is much longer.

    >>> _likeness("64549", "6449"), _likeness("100000", "100")
    (0.888..., 0.0)
    """
    if 3 * min(len(one), len(other)) < 2 * max(len(one), len(other)):
        return 0.0
    common = sum(at >= 0 for at in align_reference([*map(int, one)], [*map(int, other)]))
    return 2 * common / (len(one) + len(other))


def respell(outcome: Outcome, numbers: tuple[str, ...], tokenizer: Tokenizer) -> bool:
    """Put the numbers of the source where they are misspelt, and say whether any were; locked tokens stay."""
    if not numbers or tokenizer.by_pieces:
        return False
    text, tokens, request = tokenizer.decode(outcome.tokens), outcome.tokens, outcome.request
    banned = {tokenizer.decode(sequence) for sequence in request.banned}
    wrong = misspelt(text, numbers, tokenizer.decode(request.draft))
    spans, locked = characters_of(tokenizer, tokens) if wrong else [], outcome.locks()
    for (a, b), number in reversed(wrong):
        at = [i for i, (start, end) in enumerate(spans) if start < b and a < end]
        if number in banned or any(locked[i] for i in at):
            continue
        part = text[spans[at[0]][0] : a] + number + text[b : spans[at[-1]][1]]
        new = encode_inside(tokenizer, part) if at[0] else tokenizer.encode(part)
        tokens = (*tokens[: at[0]], *new, *tokens[at[-1] + 1 :])
    changed = tokens != outcome.tokens
    outcome.become(tokens)
    return changed
