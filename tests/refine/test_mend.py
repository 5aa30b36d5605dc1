"""Bytes that make up no character leave a finished text, and nothing else does."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from levt.engine.result import Result
from levt.refine.loop import Outcome
from levt.refine.mend import mend
from levt.refine.request import Request
from levt.text.parts import broken_bytes
from levt.text.segmentation import BYTES
from levt.text.tokenizer import Tokenizer
from tiny_models import tiny

TOKENIZER = Tokenizer.train(["a dog runs over the snow", "the dogs are high"] * 6, 300)
FIRST = TOKENIZER.id_of(BYTES[0]) or 0
LEADS = [0x41, 0x7F, 0x80, 0xA9, 0xBF, 0xC3, 0xC0, 0xE2, 0x82, 0xAC, 0xED, 0xF0, 0x9F, 0x99, 0x82, 0xF4, 0xFF]
TOKENS = st.lists(
    st.sampled_from(LEADS).map(lambda b: FIRST + b) | st.integers(FIRST + 256, TOKENIZER.size - 1),
    max_size=14,
)


def without(tokens: list[int], at: list[int]) -> list[int]:
    return [token for i, token in enumerate(tokens) if i not in at]


def longest_readable(tokens: list[int]) -> int:
    """The most tokens that can stay, in their order, such that no character is broken; by trying all."""
    best = 0
    for keep in range(1 << len(tokens)):
        some = [token for i, token in enumerate(tokens) if keep >> i & 1]
        if len(some) > best and "\ufffd" not in TOKENIZER.decode(some):
            best = len(some)
    return best


@given(tokens=TOKENS)
def test_what_is_left_can_be_read_and_what_could_be_read_is_left(tokens: list[int]) -> None:
    at = broken_bytes(TOKENIZER, tokens)
    left = without(tokens, at)
    assert "\ufffd" not in TOKENIZER.decode(left)
    assert broken_bytes(TOKENIZER, left) == []
    assert all(FIRST <= tokens[i] < FIRST + 256 for i in at)
    assert bool(at) == ("\ufffd" in TOKENIZER.decode(tokens))


@given(text=st.text(alphabet=st.characters(codec="utf-8") | st.sampled_from("é€🙂\ufffd▁ a"), max_size=20))
def test_a_whole_text_has_no_broken_bytes(text: str) -> None:
    assert broken_bytes(TOKENIZER, TOKENIZER.encode(text)) == []


@given(text=st.text(alphabet="aé€🙂 ", max_size=6), cut=st.integers(0, 30), byte=st.sampled_from(LEADS))
def test_a_byte_too_many_costs_only_itself(text: str, cut: int, byte: int) -> None:
    whole = TOKENIZER.encode(text)
    cuts = [i for i in range(len(whole) + 1) if "\ufffd" not in TOKENIZER.decode(whole[:i])]
    at = cuts[cut % len(cuts)]
    tokens = [*whole[:at], FIRST + 0xFF, *whole[at:]]
    assert broken_bytes(TOKENIZER, tokens) == [at]
    # Any other byte may make a character with what follows, but takes no more than it has to.
    other = [*whole[:at], FIRST + byte, *whole[at:]]
    if len(other) <= 9:
        assert len(without(other, broken_bytes(TOKENIZER, other))) == longest_readable(other)


def test_an_outcome_is_mended_by_one_more_edit_and_locks_stay() -> None:
    lone, dog = FIRST + 0xC3, TOKENIZER.id_of("▁dog") or 0
    outcome = Outcome(Request(source=(5,), draft=(lone, dog, lone), locked=(False, False, True)))
    outcome.tokens = outcome.request.draft
    mend(outcome, TOKENIZER)
    assert outcome.tokens == (dog, lone)
    assert [round_.script.drop for round_ in outcome.rounds] == [(True, False, False)]
    mend(outcome, TOKENIZER)
    assert len(outcome.rounds) == 1


def test_a_character_that_stands_for_none_is_taken_out_unless_somebody_gave_one() -> None:
    unknown, dog = tuple(TOKENIZER.encode("\ufffd")), TOKENIZER.id_of("▁dog") or 0
    for source, draft, left in (
        ((5,), (), (unknown[0], dog)), ((5,), unknown, (*unknown, dog)), (unknown, (), (*unknown, dog)),
    ):  # fmt: skip
        outcome = Outcome(Request(source=source, draft=draft))
        outcome.become((*unknown, dog))
        assert mend(outcome, TOKENIZER) == (left[1:] == (dog,))
        assert outcome.tokens == left


def test_pieces_between_spaces_are_no_bytes() -> None:
    tokenizer = Tokenizer.from_pieces(["<0xC3>", "a"])
    assert broken_bytes(tokenizer, [5, 6]) == []


@pytest.mark.parametrize("kind", ["levt", "autoregressive", "recurrent", "masked", "denoising", "insertion"])
def test_no_result_of_any_kind_holds_a_broken_character(kind: str) -> None:
    broken = 0
    for seed in range(4):
        model = tiny(kind, seed=seed)
        more = {"n_best": 3} if kind in ("autoregressive", "recurrent") else {}
        for result in model.translate(["a dog runs", "Two cats sleep", "Schnee über Schnee."], **more):
            texts = [result.text, *(other.text for other in result.alternatives)]
            assert not any("\ufffd" in text for text in texts)
            assert result.text == model.engine.tokenizers.target.decode(result.tokens) == result.trace.text
            assert result.trace.result == result.tokens
            broken += any("\ufffd" in _texts(result, i) for i in range(len(result.trace.iterations)))
    assert broken or kind in ("autoregressive", "recurrent"), "nothing was mended: the test tests nothing"


def _texts(result: Result, i: int) -> str:
    return result.story.tokenizer.decode(result.trace.replay()[i + 1])


def test_steered_texts_are_mended_and_single_steps_are_not() -> None:
    mended = stepped = 0
    for seed in range(8):
        model = tiny(seed=seed)
        steered = model.refine("a dog runs", draft="Ein Hund é läuft", keep=["é"])
        assert "\ufffd" not in steered.text
        assert "é" in steered.text
        step = model.edit_step("a dog runs", "Ein Hund")
        assert len(step.trace.iterations) == 1
        stepped += "\ufffd" in step.text
        mended += "\ufffd" not in model.refine("a dog runs", draft="Ein Hund", max_iterations=1).text
    assert mended == 8
    assert stepped > 0
