"""Pieces to text: the same text as the tokenizer gives, and nothing that acts on a screen."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from levt.edits.words import join, visible, words_of
from levt.text.tokenizer import Tokenizer

LINES = ["a small dog runs over the bridge", "the dog naps below the old bridge, in May 2019"] * 5


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(LINES, 330)


@given(text=st.text(max_size=20) | st.text("a dog▁\ue000 01é<>🙂", max_size=20))
def test_join_is_what_the_tokenizer_decodes(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert join(tokenizer.pieces(ids)) == tokenizer.decode(ids) == tokenizer.normalise(text)


@given(text=st.text("a do\u00a0\u202f\u3000é🙂,", max_size=16))
def test_words_are_what_stands_between_white_space(tokenizer: Tokenizer, text: str) -> None:
    pieces = tokenizer.pieces(tokenizer.encode(text))
    found, wanted = words_of(pieces), tokenizer.normalise(text).split()
    assert len(found) == len(pieces)
    assert max((part.stop for part in found), default=0) == len(wanted)
    for number, word in enumerate(wanted):
        own = [piece for piece, part in zip(pieces, found, strict=True) if number in part]
        assert join(own).strip() == word
    rest = [piece for piece, part in zip(pieces, found, strict=True) if not part]
    assert not join(rest).strip()


@given(ids=st.lists(st.integers(5, 300), max_size=12))
def test_join_of_any_tokens_even_broken_bytes(tokenizer: Tokenizer, ids: list[int]) -> None:
    ids = [i for i in ids if i < tokenizer.size]
    assert join(tokenizer.pieces(ids)) == tokenizer.decode(ids)


@given(st.text())
def test_visible_text_is_one_line_that_can_be_printed(text: str) -> None:
    shown = visible(text)
    assert shown.splitlines() in ([], [shown])
    shown.encode()
    assert "\x1b" not in shown
    if text.isprintable():
        assert shown == text


def test_hostile_characters_are_escaped_and_joiners_stay() -> None:
    assert visible("\x1b]0;x\x07") == "\\x1b]0;x\\x07"
    assert visible("a\u202eb\u2028\ud800\u0085") == "a\\u202eb\\u2028\\ud800\\x85"
    family = "👩\u200d👧"
    assert visible(family) == family
