"""Greedy decisions against their definitions on plain numbers, and at their edges."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st

from levt.edits.state import State
from levt.refine.decide import decide_counts, decide_drop, decide_fill
from levt.text.specials import SPECIALS

MIN_EDITS = st.sampled_from([0.0, 0.3, 0.9, 1.0])


def softmax(scores: list[float]) -> list[float]:
    total = sum(map(math.exp, scores))
    return [math.exp(score) / total for score in scores]


@given(st.data(), st.lists(st.integers(0, 4), min_size=1, max_size=4), MIN_EDITS)
def test_a_token_goes_where_that_is_likely_enough(
    data: st.DataObject, lengths: list[int], min_edit: float
) -> None:
    def marks() -> list[list[bool]]:
        return [data.draw(st.lists(st.booleans(), min_size=n, max_size=n)) for n in lengths]

    locked, forced = marks(), marks()
    state = State.of([[7] * n for n in lengths], locked=locked)
    must = State.of([[7] * n for n in lengths], locked=forced).locked & ~state.locked
    size = state.y.numel() * 2
    # Whole numbers tie, and a tie keeps.
    drawn = data.draw(st.lists(st.integers(-4, 4), min_size=size, max_size=size))
    logits = torch.tensor(drawn, dtype=torch.float).view(*state.y.shape, 2)
    each = torch.full((len(lengths),), min_edit)
    drop, logp = decide_drop(logits, state, each, must)
    for i, row in enumerate(logits.tolist()):
        for j, scores in enumerate(row):
            likely = softmax(scores)
            free = 0 < j <= lengths[i] and not locked[i][j - 1]
            gone = free and (forced[i][j - 1] or likely[1] > (1 + min_edit) / 2)
            assert drop[i, j] == gone
            assert math.isclose(math.exp(logp[i, j]), likely[gone], rel_tol=1e-4)


@given(
    st.data(),
    st.lists(st.integers(0, 3), min_size=1, max_size=4),
    MIN_EDITS,
    st.sampled_from([0.0, 0.3, 1.0, 2.5]),
    st.integers(1, 6),
)
def test_the_likeliest_count_opens(
    data: st.DataObject, lengths: list[int], min_edit: float, penalty: float, most: int
) -> None:
    k = 5
    glued = [data.draw(st.lists(st.booleans(), min_size=n, max_size=n)) for n in lengths]
    state = State.of([[7] * n for n in lengths], glued=glued)
    b, g = state.gaps.shape
    # All different, also after the penalty.
    scores = [[[0.7 * s for s in data.draw(st.permutations(range(k)))] for _ in range(g)] for _ in range(b)]
    each = [torch.full((b,), value) for value in (penalty, min_edit, most)]
    counts, logp = decide_counts(torch.tensor(scores), state, *each)
    for i in range(b):
        for j in range(g):
            penalised = [scores[i][j][0] - penalty, *scores[i][j][1:]]
            best = max(range(k), key=penalised.__getitem__)
            bold = min_edit == 0 or 1 - softmax(penalised)[0] > (1 + min_edit) / 2
            there = j <= lengths[i] and (j == lengths[i] or not glued[i][j])
            wanted = min(best, most) if bold and there else 0
            assert counts[i, j] == wanted
            assert math.isclose(math.exp(logp[i, j]), softmax(scores[i][j])[wanted], rel_tol=1e-4)


@given(st.data(), st.integers(1, 4))
def test_the_likeliest_token_that_may_be_written_is(data: st.DataObject, places: int) -> None:
    v = 10
    scores = [[-0.1 * s for s in data.draw(st.permutations(range(v)))] for _ in range(places)]
    banned = [data.draw(st.lists(st.booleans(), min_size=v, max_size=v)) for _ in range(places)]
    usable = [[t for t in range(len(SPECIALS), v) if not row[t]] for row in banned]
    tokens, logp = decide_fill(torch.tensor(scores), torch.tensor(banned))
    for i in range(places):
        # Where nothing may be written, anything that is no symbol must do, with its own probability.
        if usable[i]:
            assert tokens[i] == max(usable[i], key=scores[i].__getitem__)
        assert len(SPECIALS) <= tokens[i] < v
        assert math.isclose(logp[i], scores[i][int(tokens[i])], abs_tol=1e-6)


def test_the_probability_of_keeping_what_is_locked_is_never_zero() -> None:
    state = State.of([[5, 6]], locked=[[True, False]])
    logits = torch.tensor([[[0.0, 0.0], [0.0, 300.0], [300.0, 0.0], [0.0, 0.0]]])
    drop, log_probability = decide_drop(logits, state, torch.zeros(1))
    assert not drop.any()
    assert log_probability[0, 1] == -300
    assert log_probability[0, 2] == 0
