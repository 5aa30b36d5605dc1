"""Long numbers of a source stand in its translation as they are. Knows no policy.

A number is written digit by digit, all at once, and a model easily leaves one of many out; who reads only the result
cannot tell. So where a long number of the source is missing, and the finished text has one like it that is neither in
the source nor in the draft, the right one takes its place, by one more edit that nobody decided. How its digits are
grouped is the model's (1.234.567 or 1,234,567), and so are short numbers, times, those that are put into words, whole
or in part (118,800 and 118.8 thousand), and the beginnings of telephone numbers.
"""

import re
from collections import Counter
from itertools import pairwise

from levt.refine.loop import Outcome
from levt.refine.places import Place
from levt.refine.scales import BEHIND, scale_behind
from levt.text.parts import characters_of, encode_inside
from levt.text.tokenizer import Tokenizer

LONG = 4
"""Digits of a number that is put right, at least: a year has as many. Shorter ones are seldom lost."""
ALIKE = 0.58
"""The right number and a misspelt one have more than this share of their digits in common: 1000 and 300 have not."""
_NUMBER = re.compile(r"\+?\d+(?:[.,]\d+)*")
_TELEPHONE = re.compile(r"0\d+|\+\d{7,}")
_PARTLY_IN_WORDS = re.compile(r"[\d.,]*[十百千万萬億亿兆][十百千万萬億亿兆\d.,]*")
_DATE = re.compile(r"\d{1,4}\.\d{1,2}\.\d{1,4}")
_TIME = re.compile(r"(?:[01]?\d|2[0-3])\.[0-5]\d")
_SEPARATOR = re.compile(r"[.,]")
_GROUPING = re.compile(r"(?<=\d)[^\w](?=\d)")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")


def numbers_of(source: str) -> tuple[str, ...]:
    """All numbers of a source, with the words that scale them, if one is long; 3140億 is none of them, but 314 billion.

    >>> numbers_of("In 2021 we sold 64,549."), numbers_of("We sold 649."), numbers_of("2021年に3140億、12 thousand")
    (('2021', '64,549'), (), ('2021', '12 thousand'))
    """
    text = _PARTLY_IN_WORDS.sub(" ", _plain(source))
    found = tuple(
        text[run.start() : behind.end() if scale_behind(text, run.end()) and behind else run.end()]
        for run in _NUMBER.finditer(text)
        for behind in [BEHIND.match(text, run.end())]
    )
    return found if any(len(_digits(number)) >= LONG for number in found) else ()


def misspelt(text: str, numbers: tuple[str, ...], draft: str = "") -> list[tuple[Place, str]]:
    """The places of a text where a number of its source is misspelt, and that number; in order.

    One is meant by another only if words scale both alike: 118,8 Tausend is not 118,800, but 118,8 Tausend and 118.9
    thousand may be the same.

    >>> misspelt("2021 waren es 6449.", ("64549", "2021")), misspelt("64.549 in 100 Orten", ("64,549", "10"))
    ([((14, 18), '64549')], [])
    """
    text, draft = _plain(text), _plain(draft)
    known, given = {_digits(n): n for n in numbers}, {_digits(n) for n in _NUMBER.findall(draft)}
    # Two of the source that the text writes as one, 555-1234567 as 5551234567.
    given |= {_digits(one) + _digits(other) for one, other in pairwise(numbers)}
    left, seen = Counter(map(_digits, numbers)), Counter[str]()
    joined, strange = _GROUPING.sub("", text), []
    for run in _NUMBER.finditer(text):
        digits = _digits(run[0])
        if left[digits]:
            left[digits] -= 1
            seen[digits] += 1
        elif digits not in given:
            strange.append((run, digits))

    def missing(digits: str) -> bool:
        apart = joined.count(digits) > seen[digits]
        return len(digits) >= LONG and (not apart or any(digits in run[0] for run, _ in strange))

    pairs = [
        (likeness, (run.end() - len(run[0].lstrip("+")), run.end()), digits)
        for digits in left
        if left[digits] and missing(digits)
        for run, wrong in strange
        if (likeness := _likeness(wrong, digits)) > ALIKE
        and scale_behind(text, run.end()) == _scale(known[digits])
        and _clear(_bare(known[digits]), run[0])
    ]
    found: dict[Place, str] = {}
    for _, place, digits in sorted(pairs, reverse=True):
        right = _spelt(_bare(known[digits]).lstrip("+"), text[slice(*place)])
        if left[digits] and place not in found and right:
            left[digits] -= 1
            found[place] = right
    return sorted(found.items())


def _clear(number: str, wrong: str) -> bool:
    """Whether one number is meant by another; of telephone numbers, only if they begin alike.

    The beginnings of these are written in many ways: +49 30 1234567, 0049301234567, 0301234567. Where no digit is lost,
    another one in the first half may be another area code.

    >>> _clear("0301234567", "030123467"), _clear("0301234567", "+49301234567"), _clear("0221", "221")
    (True, False, False)
    """
    if not any(map(_TELEPHONE.fullmatch, (number, wrong))):
        return True
    one, other = _digits(number), _digits(wrong)
    first = (len(one) + 1) // 2 if len(one) == len(other) else 3
    return one[:first] == other[:first]


def _spelt(number: str, wrong: str) -> str:
    """A number as the text would write it, which a misspelt one shows; empty where that is not clear.

    Of one with thousands and one with decimals nothing is clear (20000.00 and 20.000, 1250 million and 1,25 billion),
    of times with the same minutes neither (13.30 and 1.30 p.m.), nor of dates with the same numbers in another order.

    >>> _spelt("138,000", "138.00"), _spelt("120,000", "1200"), _spelt("290.4", "200,4"), _spelt("290.4", "2004")
    ('138.000', '120000', '290,4', '')
    """
    here, there = (set(_SEPARATOR.findall(one)) for one in (number, wrong))
    if len(here) > 1 or len(there) > 1:
        return ""
    if here and not there:
        return _digits(number) if _THOUSANDS.fullmatch(number) else ""
    thousands, theirs = (_THOUSANDS.fullmatch(one) is not None for one in (number, wrong))
    if there and not thousands and theirs == bool(here):
        return ""
    times, dates = (all(map(kind.fullmatch, (number, wrong))) for kind in (_TIME, _DATE))
    if (times and number[-2:] == wrong[-2:]) or (dates and _groups(number) == _groups(wrong)):
        return ""
    return _SEPARATOR.sub("".join(there), number)


def _bare(number: str) -> str:
    """A number without the word that scales it."""
    found = _NUMBER.match(number)
    return found[0] if found else number


def _scale(number: str) -> int:
    return scale_behind(number, len(_bare(number)))


def _digits(number: str) -> str:
    return _SEPARATOR.sub("", _bare(number)).removeprefix("+")


def _groups(number: str) -> list[int]:
    return sorted(map(int, _SEPARATOR.split(number)))


def _plain(text: str) -> str:
    """The text with the digits of all scripts as 0 to 9, each in its place.

    >>> _plain("A １２ ٣")
    'A 12 3'
    """
    return re.sub(r"\d", lambda digit: str(int(digit[0])), text)


def _likeness(one: str, other: str) -> float:
    """The share of digits that two numbers have in common, in order; none where one is much longer.

    >>> _likeness("64549", "6449"), _likeness("100000", "100")
    (0.888..., 0.0)
    """
    if 3 * min(len(one), len(other)) < 2 * max(len(one), len(other)):
        return 0.0
    return 2 * _common(one, other) / (len(one) + len(other))


def _common(one: str, other: str) -> int:
    """The length of a longest common subsequence; a bit for each digit of the first says that it is not used yet.

    >>> _common("64549", "6449"), _common("1234", "4321")
    (4, 1)
    """
    places: dict[str, int] = {}
    for i, digit in enumerate(one):
        places[digit] = places.get(digit, 0) | 1 << i
    unused = whole = (1 << len(one)) - 1
    for digit in other:
        same = unused & places.get(digit, 0)
        unused = (unused + same) | (unused - same)
    return len(one) - (unused & whole).bit_count()


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
