"""Texts cut at any place: the pieces respect the cuts and still give the text back."""

from itertools import pairwise

import hypothesis.strategies as st
from hypothesis import given, settings

from levt.text.normalise import Normalisation
from levt.text.parts import characters_of, encode_cut, encode_inside, led_by
from levt.text.tokenizer import Tokenizer

LINES = ["a dog runs over the snow", "the snow (cold) is 10 cm high", "Hundehütte, naïve ▁ 犬が走る"] * 6
PLAIN = Tokenizer.train(LINES, 330)
FOLDED = Tokenizer.train(
    LINES, 330, normalisation=Normalisation(form="NFKC", lowercase=True, collapse_spaces=True)
)
texts = st.text(
    st.sampled_from("ado gHtcm1(,\u0301▁\ue000é犬走 \t\ufffd\u2028Σß") | st.characters(codec="utf-8"),
    max_size=24,
)


@settings(max_examples=150)
@given(texts, st.lists(st.integers(0, 24), max_size=4))
def test_no_piece_crosses_a_border(raw: str, wished: list[int]) -> None:
    text = PLAIN.normalise(raw)
    borders = [min(border, len(text)) for border in wished]
    tokens, before = encode_cut(PLAIN, text, borders)
    assert PLAIN.decode(tokens) == text
    for border in borders:
        # A space at the very beginning is the one that decoding takes away.
        assert PLAIN.decode(tokens[: before[border]]) in (text[:border], text[:border].removeprefix(" "))
        assert PLAIN.decode([*PLAIN.encode("x"), *tokens[before[border] :]]).endswith(text[border:])


@settings(max_examples=60)
@given(texts, st.lists(st.integers(0, 24), max_size=4))
def test_cutting_does_not_normalise_again(raw: str, wished: list[int]) -> None:
    text = FOLDED.normalise(raw)
    # Borders stand before spaces, never behind them: there a text would lose its last space.
    borders = [b for b in (min(b, len(text)) for b in wished) if not text[:b].endswith(" ")]
    tokens, _ = encode_cut(FOLDED, text, borders)
    assert FOLDED.decode(tokens) == text


def test_only_the_words_that_are_cut_change() -> None:
    text = "the dog runs over the snow"
    whole = PLAIN.encode(text)
    tokens, _ = encode_cut(PLAIN, text, [6])
    assert PLAIN.pieces(tokens)[0] == PLAIN.pieces(whole)[0] == "▁the"
    assert tokens[-4:] == whole[-4:]
    assert encode_cut(PLAIN, text, [3, 7, len(text)])[0] == whole


@settings(max_examples=100)
@given(st.lists(st.integers(5, PLAIN.size - 1), max_size=20))
def test_characters_of_any_tokens(tokens: list[int]) -> None:
    spans = characters_of(PLAIN, tokens)
    assert len(spans) == len(tokens)
    assert all(start <= end for start, end in spans)
    assert all(a[1] <= b[0] or a == b for a, b in pairwise(spans))
    assert not spans or spans[-1][1] >= len(PLAIN.decode(tokens))


def test_given_pieces_are_cut_between_pieces() -> None:
    tokenizer = Tokenizer.from_pieces(["hel@@", "lo", "world"], continuation="@@")
    tokens, before = encode_cut(tokenizer, "hel@@ lo world", [8, 14])
    assert (tokens, before) == ([5, 6, 7], {8: 2, 14: 3})
    assert encode_inside(tokenizer, "lo") == [6]


@settings(max_examples=150)
@given(texts, st.sampled_from([" ", "  ", "\n", "\t", " \n"]))
def test_a_text_follows_another_with_white_space_between(raw: str, space: str) -> None:
    for tokenizer, between in ((PLAIN, space), (FOLDED, " ")):
        text = tokenizer.normalise(raw)
        if text and not text[0].isspace():
            tokens = [*tokenizer.encode("dog"), *led_by(tokenizer, tokenizer.encode(text), space)]
            assert tokenizer.decode(tokens) == f"dog{between}{text}"


def test_an_escape_behind_white_space_stays_whole() -> None:
    tokenizer = Tokenizer.train(["Hundehütte, naïve ▁ 犬が走る", "a ▁ \ue000 1"] * 6, 295)
    assert tokenizer.pieces(tokenizer.encode("\ue000a"))[0] == "▁\ue000"
    tokens = led_by(tokenizer, tokenizer.encode("\ue000a"), "\n")
    assert tokenizer.decode([*tokenizer.encode("a"), *tokens]) == "a\n\ue000a"
