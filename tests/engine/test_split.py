"""Long texts are cut where a reader would pause, and nothing is lost."""

import re

import hypothesis.strategies as st
import pytest
from hypothesis import given

from levt.engine.batching import Budget, batches
from levt.engine.split import split
from levt.errors import InputError


@given(st.text(st.sampled_from("ab .,;!\n。、"), max_size=80), st.integers(5, 30))
def test_nothing_but_white_space_is_lost(text: str, room: int) -> None:
    if any(len(word) > room for word in re.split(r"\s|(?<=[。、])", text)):
        return
    parts = split(text, lambda part: len(part) <= room)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(len(part) <= room for part in parts)


def test_cuts_at_the_best_pause() -> None:
    def fits(part: str) -> bool:
        return len(part) <= 22

    assert split("He came, he saw. She left; it rained.", fits) == [
        "He came, he saw.",
        "She left; it rained.",
    ]
    assert split("He said “no.” Then he left.", fits) == ["He said “no.”", "Then he left."]
    assert split("犬が走る。猫が寝ている。とてもとても静かな夜です。", lambda p: len(p) <= 14) == [
        "犬が走る。猫が寝ている。", "とてもとても静かな夜です。",
    ]  # fmt: skip
    with pytest.raises(InputError, match="a word of 30 characters"):
        split("x" * 30, fits)
    with pytest.raises(InputError, match="a word of 30 characters"):
        split("He came. " + "x" * 30, fits, lambda part: len(part) <= 29)
    assert split("He came. " + "x" * 29, fits, lambda part: len(part) <= 29) == ["He came.", "x" * 29]


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 5), st.integers(1, 90))
def test_every_text_is_in_one_batch(lengths: list[int], rows: int, tokens: int) -> None:
    found = batches(lengths, Budget(rows=rows, tokens=tokens))
    assert sorted(i for batch in found for i in batch) == list(range(len(lengths)))
    for batch in found:
        assert len(batch) <= rows
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= tokens
