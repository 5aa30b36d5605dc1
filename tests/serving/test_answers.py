"""Spans of long texts, and small things of the wire."""

from itertools import pairwise
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from levt.serving import answers
from levt.serving.problems import STATUS, Problem, of_error
from levt.text.parts import characters_of
from levt.text.tokenizer import Tokenizer
from tiny_models import TOKENIZERS

PIECES = Tokenizer.from_pieces(["hel@@", "lo", "dog", "s"], continuation="@@")


@settings(max_examples=150)
@given(
    st.lists(st.integers(5, TOKENIZERS.target.size - 1) | st.integers(262, 320), max_size=60),
    st.integers(1, 9),
)
def test_spans_some_words_at_a_time_are_those_of_all(tokens: list[int], some: int) -> None:
    whole = characters_of(TOKENIZERS.target, tokens)
    before, answers.SOME = answers.SOME, some
    try:
        assert answers.spans_of(tuple(tokens), TOKENIZERS.target) == whole
    finally:
        answers.SOME = before


@settings(max_examples=60)
@given(st.lists(st.integers(5, PIECES.size - 1), max_size=40), st.integers(1, 9))
def test_spans_of_pieces(tokens: list[int], some: int) -> None:
    before, answers.SOME = answers.SOME, some
    try:
        assert answers.spans_of(tuple(tokens), PIECES) == characters_of(PIECES, tokens)
    finally:
        answers.SOME = before


@settings(max_examples=60)
@given(st.lists(st.integers(5, TOKENIZERS.target.size - 1), max_size=30))
def test_spans_are_in_order_and_inside_the_text(tokens: list[int]) -> None:
    """Of any tokens at all, as a model may write them: bytes that are no character too."""
    spans = answers.spans_of(tuple(tokens), TOKENIZERS.target)
    assert len(spans) == len(tokens)
    assert [0, *(end for _, end in spans)][-1] == len(TOKENIZERS.target.decode(tokens))
    for (a, b), (c, d) in pairwise(spans):
        assert a <= b <= d
        assert (a, b) == (c, d) or b == c


@settings(max_examples=30)
@given(st.text(max_size=40))
def test_spans_cover_the_text(text: str) -> None:
    tokenizer = TOKENIZERS.target
    tokens = tuple(tokenizer.encode(text))
    spans = answers.spans_of(tokens, tokenizer)
    decoded = tokenizer.decode(tokens)
    assert "".join(decoded[a:b] for a, b in sorted(set(spans))) == decoded


def test_every_problem_can_be_written() -> None:
    for kind, status in STATUS.items():
        problem = Problem(kind, "lone \ud800 surrogate", hint="\udfff")
        assert problem.status == status
        str(problem.body()).encode()
    assert of_error(ValueError("secret")).message == "something went wrong here"


def test_the_documentation_names_every_error() -> None:
    page = Path(__file__).parents[2] / "docs" / "http-api.md"
    if not page.exists():
        pytest.skip("no documentation here")
    text = page.read_text(encoding="utf-8")
    for kind, status in STATUS.items():
        [line] = [line for line in text.splitlines() if line.startswith("|") and f"`{kind}`" in line]
        assert str(status) in line.split("|")[1], kind
