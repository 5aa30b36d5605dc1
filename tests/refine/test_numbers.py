"""Long numbers of a source are put right in the finished text, and nothing else is."""

import re
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from levt.edits.oracle_reference import lcs_table
from levt.refine.loop import Outcome
from levt.refine.numbers import ALIKE, misspelt, numbers_of, respell
from levt.refine.request import Request
from levt.refine.scales import WORDS
from levt.text.tokenizer import Tokenizer

TOKENIZER = Tokenizer.train(["a dog runs 10 times", "the dogs are 3, 4 or 5"] * 6, 320)


def outcome(text: str, **more: object) -> Outcome:
    request = Request(source=(5,), **more)  # type: ignore[arg-type]
    found = Outcome(request, tokens=request.draft)
    found.become(tuple(TOKENIZER.encode(text)))
    return found


@pytest.mark.parametrize(
    ("text", "numbers", "wanted"),
    [
        ("a 6449.", ("64549",), "a 64549."),
        ("123456789", ("1234567890",), "1234567890"),
        ("a(94266)-7", ("9426164",), "a(9426164)-7"),
        ("11112 and 22223", ("111122", "222233"), "111122 and 222233"),
        ("22223 and 11112", ("111122", "222233"), "222233 and 111122"),
        ("12345 and 1235", ("12345", "12345"), "12345 and 12345"),
        ("123456", ("12345",), "12345"),
        ("in 1999", ("1979",), "in 1979"),
        # Its digits are grouped as the text does it, if it does.
        ("138.00 dogs", ("138,000",), "138.000 dogs"),
        ("1200 dogs", ("120,000",), "120000 dogs"),
        ("200,4 dogs", ("290.4",), "290,4 dogs"),
        ("12.03.0021", ("12.03.2021",), "12.03.2021"),
        ("at 11.00", ("11.30",), "at 11.30"),
        ("192.168.10.1", ("192.168.1.10",), "192.168.1.10"),
        ("5000 dogs", ("5,000",), "5000 dogs"),
        ("5 000 dogs", ("5,000",), "5 000 dogs"),
        # The most alike belong together, whatever comes first.
        (
            "7695100 and 254001000",
            ("7695905817600", "254016000000"),
            "7695100 and 254016000000",
        ),
        # Grouped otherwise, in words, short, or of its own: the model's.
        ("1.234.567 dogs", ("1234567",), "1.234.567 dogs"),
        ("0151 2345678", ("01512345678",), "0151 2345678"),
        ("5551234567", ("555", "1234567"), "5551234567"),
        ("A12345678 and 1970", ("12", "345678", "1979"), "A12345678 and 1979"),
        ("100 thousand", ("100000",), "100 thousand"),
        ("10", ("100",), "10"),
        ("at 22.30", ("10.30",), "at 22.30"),
        ("it is 2004", ("290.4",), "it is 2004"),
        ("1.234,5", ("1,234.56",), "1.234,5"),
        ("77777", ("12345",), "77777"),
        ("300 metres", ("1,000",), "300 metres"),
        ("at 9.15 p.m.", ("21.15",), "at 9.15 p.m."),
        ("at 1.30 p.m.", ("13.30",), "at 1.30 p.m."),
        ("at 20.20", ("08.20",), "at 20.20"),
        ("at 8.20", ("0820",), "at 8.20"),
        ("on 12.05.2021", ("20210512",), "on 12.05.2021"),
        ("on 12.31.2021", ("31.12.2021",), "on 12.31.2021"),
        ("1,25 billion", ("1250",), "1,25 billion"),
        ("20.000 euros", ("20000.00",), "20.000 euros"),
        # Scaled by a word, it is another number, unless that of the source is scaled alike.
        ("118,8 Tausend", ("118,800",), "118,8 Tausend"),
        ("118,8k", ("118,800",), "118,8k"),
        ("118,8 Mio. Euro", ("118,800 thousand",), "118,8 Mio. Euro"),
        ("118,8 Milliarden", ("118,800 million",), "118,8 Milliarden"),
        ("11,88 %", ("0.1188",), "11,88 %"),
        ("11,88 Prozent", ("0.1188",), "11,88 Prozent"),
        ("64.49 Millionen", ("64,549 million",), "64.549 Millionen"),
        ("64.49-Millionen-Vertrag", ("64,549-million",), "64.549-Millionen-Vertrag"),
        ("1249,4 Mrd.", ("1249.45bn",), "1249,45 Mrd."),
        ("12,4 %", ("1245 %",), "12,4 %"),
        ("12445 m", ("12345",), "12345 m"),
        # Telephone numbers may begin otherwise; what comes after that is put right.
        ("+49 221 123456", ("0221", "123456"), "+49 221 123456"),
        ("+49301234567", ("0301234567",), "+49301234567"),
        ("+49 151 23456789", ("015123456789",), "+49 151 23456789"),
        ("030 12345678", ("+493012345678",), "030 12345678"),
        ("004930123456", ("+4930123456",), "004930123456"),
        ("0401234567", ("0301234567",), "0401234567"),
        ("02281234567", ("02211234567",), "02281234567"),
        ("030123467", ("0301234567",), "0301234567"),
        ("030133567", ("0301234567",), "0301234567"),
        ("+4930123467", ("+49301234567",), "+49301234567"),
        ("+5000 dogs", ("+5100",), "+5100 dogs"),
        # In other digits it is the same number; one that is misspelt is written in those of ours.
        ("a １２３４５ ١٢٣٤٥", ("12345", "12345"), "a １２３４５ ١٢٣٤٥"),
        ("a １２３４", ("12345",), "a 12345"),
    ],
)
def test_only_what_is_misspelt_is_put_right(text: str, numbers: tuple[str, ...], wanted: str) -> None:
    found = outcome(text)
    assert respell(found, numbers, TOKENIZER) == (text != wanted)
    assert TOKENIZER.decode(found.tokens) == wanted
    assert not respell(found, numbers, TOKENIZER)


def test_numbers_of_a_source_in_any_digits() -> None:
    assert numbers_of("٢٠٢١: ١٢٣٤٥") == ("2021", "12345")


def test_the_plus_of_a_telephone_number_is_seen() -> None:
    assert numbers_of("+4930123456 or 2+3") == ("+4930123456", "2", "+3")


def slow_misspelt(text: str, numbers: list[str]) -> list[tuple[tuple[int, int], str]]:
    """One pair after the other, always the most alike of all that are left; for numbers of digits between spaces."""
    spans = [run.span() for run in re.finditer(r"\d+", text)]
    left = list(numbers)
    for a, b in list(spans):
        if text[a:b] in left:
            left.remove(text[a:b])
            spans.remove((a, b))
    neighbours = [one + other for one, other in pairwise(numbers)]
    spans = [(a, b) for a, b in spans if text[a:b] not in neighbours]

    def likeness(place: tuple[int, int], number: str) -> float:
        wrong = text[slice(*place)]
        if 3 * min(len(wrong), len(number)) < 2 * max(len(wrong), len(number)):
            return 0
        table = lcs_table([*map(int, wrong)], [*map(int, number)])
        return 2 * table[-1][-1] / (len(wrong) + len(number))

    joined = text.replace(" ", "")
    left = [
        n for n in left
        if len(n) >= 4
        and (joined.count(n) <= numbers.count(n) - left.count(n) or any(n in text[a:b] for a, b in spans))
    ]  # fmt: skip
    found = []
    while pairs := [(likeness(p, n), p, n) for p in spans for n in left]:
        best, place, number = max(pairs)
        if best <= ALIKE:
            break
        spans.remove(place)
        left.remove(number)
        found.append((place, number))
    return sorted(found)


NUMBERS = st.lists(st.text("1234", min_size=1, max_size=9), max_size=8)


@given(NUMBERS, NUMBERS)
def test_the_fast_version_finds_what_the_slow_one_does(numbers: list[str], others: list[str]) -> None:
    text = " ".join(others)
    assert misspelt(text, tuple(numbers)) == slow_misspelt(text, numbers)


SCALES = st.sampled_from([(power, word) for power, words in WORDS.items() for word in words.split()])
DIGITS = st.from_regex(r"[1-9][0-9]{0,2}([.,]?[0-9]{1,3}){1,3}", fullmatch=True)
BETWEEN = st.sampled_from(["", " ", "\u00a0", "-", " "])


@given(DIGITS, DIGITS, SCALES, SCALES, BETWEEN, BETWEEN)
def test_numbers_are_put_right_only_where_words_scale_them_alike(
    number: str, other: str, mine: tuple[int, str], theirs: tuple[int, str], gap: str, space: str
) -> None:
    for power, between in ((mine, gap), (theirs, space)):
        assume(power[1] not in ("m", "k") or not between)
    plain, text = numbers_of(f"1000 {number} dogs"), f"1000 {other} dogs"
    scaled, scaled_text = (
        numbers_of(f"1000 {number}{gap}{mine[1]} dogs"),
        f"1000 {other}{space}{theirs[1]} dogs",
    )
    assert misspelt(scaled_text, plain) == [], "only the text has a word"
    assert misspelt(text, scaled) == [], "only the source has one"
    alike = misspelt(scaled_text, scaled)
    assert alike == (misspelt(text, plain) if mine[0] == theirs[0] else [])


@given(DIGITS, SCALES)
def test_what_the_model_scaled_is_left_alone(number: str, scale: tuple[int, str]) -> None:
    """However the same value is written in words: nothing is added to it."""
    digits = re.sub(r"[.,]", "", number)
    for power in range(1, 7):
        text = f"{digits[0]},{digits[1:]} {scale[1]}" if scale[1] != "m" else f"{digits[0]},{digits[1:]}m"
        found = outcome(text)
        assert not respell(found, numbers_of(f"1000 {digits}{'0' * power}"), TOKENIZER)


def test_numbers_partly_in_words_are_none() -> None:
    assert numbers_of("2021年の人口は1億2000万、3140億、1万2345") == ("2021",)


def test_what_somebody_gave_locked_or_banned_stays() -> None:
    text, numbers = "a 6449", ("64549",)
    draft = tuple(TOKENIZER.encode(text))
    for more in (
        {"draft": draft},
        {"draft": draft, "locked": (True,) * len(draft)},
        {"banned": (tuple(TOKENIZER.encode("64549")),)},
    ):
        found = outcome(text, **more)
        assert not respell(found, numbers, TOKENIZER)
        assert TOKENIZER.decode(found.tokens) == text


def test_digits_that_must_stay_are_not_put_right() -> None:
    """Nobody gave the number 6449, but its first three digits are locked."""
    draft = tuple(TOKENIZER.encode("a 644"))
    assert respell(outcome("a 6449", draft=draft), ("64549",), TOKENIZER)
    found = outcome("a 6449", draft=draft, locked=(False,) + (True,) * (len(draft) - 1))
    assert not respell(found, ("64549",), TOKENIZER)
    assert TOKENIZER.decode(found.tokens) == "a 6449"


def test_given_pieces_are_left_alone() -> None:
    pieces = Tokenizer.from_pieces(["6449", "64549"])
    found = Outcome(Request(source=(5,)))
    found.become((5,))
    assert not respell(found, ("64549",), pieces)
