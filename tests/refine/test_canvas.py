"""Canvases of a chosen length: the best lengths allowed, and a story that tells what was rewritten."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from levt.errors import ConfigError
from levt.refine.canvas import ParallelOptions, best_lengths, canvas, inner, rewrite, told
from levt.refine.insert_decode import InsertOptions
from levt.refine.mask_predict import MaskPredictOptions


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(5, 8), st.integers(5, 8)), max_size=8))
def test_rewriting_gives_what_was_written(pairs: list[tuple[int, int]]) -> None:
    before, after = (tuple(pair[side] for pair in pairs) for side in (0, 1))
    script = rewrite(before, after)
    assert script.apply(before) == after
    assert script.drop == tuple(a != b for a, b in pairs)
    assert rewrite((), after).apply(()) == after


def test_a_told_story_ends_where_it_ended() -> None:
    states = [(5, 6, 7), (5, 8, 7), (5, 8, 7)]
    outcome = told(states, [-0.5, -1.0, -1.5], "unchanged")
    assert (outcome.tokens, outcome.iterations, outcome.passes) == ((5, 8, 7), 3, 3)
    assert outcome.score == pytest.approx(-1.0)
    now: tuple[int, ...] = ()
    for round_, state in zip(outcome.rounds, states, strict=True):
        now = round_.script.apply(now)
        assert now == state


@settings(max_examples=100)
@given(st.lists(st.floats(-9, 0), min_size=3, max_size=9), st.integers(2, 14), st.integers(1, 6))
def test_lengths_are_the_best_that_are_allowed(values: list[float], limit: int, count: int) -> None:
    allowed = [i for i in range(1, len(values)) if i <= max(limit - 2, 1)]
    # Equal probabilities may come in any order: distinct ones only.
    values = [round(v, 3) + 1e-4 * i for i, v in enumerate(values)]
    ranked = sorted(allowed, key=lambda i: -values[i])[:count]
    lengths, logp = best_lengths(torch.tensor([values, values]), [limit, limit], count)
    wanted = ranked + [ranked[0]] * (min(count, len(values)) - len(ranked))
    assert lengths.tolist() == [wanted, wanted]
    assert logp[0].tolist() == pytest.approx([values[i] for i in wanted], abs=1e-5)


def test_a_broken_policy_still_has_a_length() -> None:
    lengths, _ = best_lengths(torch.full((2, 6), float("nan")), [4, 9], 3)
    assert ((lengths >= 1) & (lengths <= torch.tensor([[2], [5]]))).all()


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5))
@settings(max_examples=50)
def test_canvases(sizes: list[int]) -> None:
    lengths = torch.tensor(sizes)
    y = canvas(lengths)
    n = max(sizes) + 2
    assert y.tolist() == [[1, *[4] * size, 2, *[0] * (n - size - 2)] for size in sizes]
    assert torch.equal(inner(lengths, n), y.eq(4))


def test_options_name_every_problem() -> None:
    with pytest.raises(ConfigError, match="4 problems") as caught:
        MaskPredictOptions(max_iterations=0, max_ratio=0.0, min_room=2, length_beam=0)
    for word in ("max_iterations", "max_ratio", "min_room", "length_beam"):
        assert word in str(caught.value)
    with pytest.raises(ConfigError, match="empty_gap_penalty must be between -10 and 10, got 11"):
        InsertOptions(empty_gap_penalty=11.0)
    assert ParallelOptions(max_ratio=1.5, min_room=10).limit(20, 25) == 25
    assert ParallelOptions(max_ratio=1.5, min_room=10).limit(4, 25) == 10
    assert ParallelOptions(max_ratio=1.5, min_room=10).limit(10, 25) == 15
