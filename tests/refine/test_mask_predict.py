"""Mask-predict against the obvious loop over one sentence, its schedule, its length beam."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rival_policies import Mock, Sources, best_token, sources

from levt.refine.mask_predict import MaskPredictOptions, mask_predict, masks, worst


@settings(max_examples=100)
@given(st.integers(1, 40), st.integers(1, 12))
def test_the_schedule(size: int, total: int) -> None:
    found = [int(masks(torch.tensor([size]), t, total)) for t in range(total)]
    assert found == [size * (total - t) // total for t in range(total)]
    assert found[0] == size
    assert found == sorted(found, reverse=True)


@settings(max_examples=100)
@given(st.lists(st.integers(-5, 0), min_size=1, max_size=9), st.integers(0, 9))
def test_the_worst_are_the_least_probable(values: list[int], count: int) -> None:
    logp = torch.tensor([[0.0, *map(float, values), 0.0]])
    where = torch.tensor([[False, *[True] * len(values), False]])
    found = worst(logp, where, torch.tensor([count]))[0].tolist()
    ranked = sorted(range(len(values)), key=lambda i: (values[i], i))[:count]
    assert [i for i, chosen in enumerate(found) if chosen] == sorted(i + 1 for i in ranked)


def one_length(mock: Mock, name: int, size: int, total: int) -> tuple[list[tuple[int, ...]], list[float]]:
    """Mask-predict of one sentence of one length, written down as in the paper."""
    tokens, logp, states = [4] * size, [0.0] * size, []
    for t in range(total):
        n = size * (total - t) // total
        if n == 0:
            break
        masked = sorted(range(size), key=lambda i: (logp[i], i))[:n] if t else range(size)
        canvas = (1, *(4 if i in masked else token for i, token in enumerate(tokens)), 2)
        predicted = mock.token_of(name, canvas)
        for i in masked:
            tokens[i], logp[i] = best_token(predicted[i + 1])
        states.append(tuple(tokens))
    return states, logp


def obvious(
    mock: Mock, name: int, limit: int, options: MaskPredictOptions
) -> tuple[list[tuple[int, ...]], float, int]:
    of_lengths = mock.length_of(name)
    lengths = sorted(range(1, min(limit - 2, mock.longest) + 1), key=lambda i: -of_lengths[i])
    tried = [one_length(mock, name, size, options.max_iterations) for size in lengths[: options.length_beam]]
    means = [sum(logp) / len(logp) for _, logp in tried]
    best = means.index(max(means))
    return tried[best][0], means[best], max(len(states) for states, _ in tried)


@pytest.mark.parametrize("total", [1, 2, 4, 10])
@pytest.mark.parametrize("beam", [1, 2, 5, 40])
def test_equals_the_obvious(total: int, beam: int) -> None:
    mock, memory, limits = Mock(), sources(7, seed=total), [3, 9, 14, 20, 7, 5, 4]
    options = MaskPredictOptions(max_iterations=total, length_beam=beam)
    for name, limit, outcome in zip(
        memory.names, limits, mask_predict(mock, memory, limits, options), strict=True
    ):
        states, mean, passes = obvious(mock, name, limit, options)
        assert outcome.tokens == states[-1]
        assert outcome.score == pytest.approx(mean, abs=1e-5)
        assert (outcome.iterations, outcome.passes, outcome.stopped) == (len(states), passes, "ended")
        now: tuple[int, ...] = ()
        for round_, state in zip(outcome.rounds, states, strict=True):
            now = round_.script.apply(now)
            assert now == state


def test_batch_mates_change_nothing() -> None:
    mock, memory, limits = Mock(), sources(6, seed=3), [12, 5, 9, 14, 7, 11]
    options = MaskPredictOptions(length_beam=3)
    together = mask_predict(mock, memory, limits, options)
    for i, outcome in enumerate(together):
        [alone] = mask_predict(mock, memory.alone(i), limits[i : i + 1], options)
        assert (alone.tokens, alone.iterations) == (outcome.tokens, outcome.iterations)


def test_the_length_beam_takes_the_likelier_text() -> None:
    class Sure(Mock):
        """The likeliest length is 4, but only a text of 6 is certain of itself."""

        def length_of(self, name: int) -> list[float]:
            return [-9.0, -9.0, -9.0, -9.0, -0.1, -9.0, -2.0, *[-9.0] * 6]

        def token_of(self, name: int, row: tuple[int, ...], stage: str = "") -> list[list[float]]:
            sure = -0.1 if len(row) == 8 else -2.0
            return [[*[float("-inf")] * 5, sure, *[-5.0] * 5] for _ in row]

    memory = Sources([0], [[1, 5, 2]])
    narrow, wide = (
        mask_predict(Sure(), memory, [14], MaskPredictOptions(length_beam=beam))[0] for beam in (1, 2)
    )
    assert (narrow.tokens, wide.tokens) == ((5,) * 4, (5,) * 6)
    assert wide.score == pytest.approx(-0.1)


def test_passes_end_with_the_masks() -> None:
    mock = Mock()
    [outcome] = mask_predict(mock, sources(1), [3], MaskPredictOptions(max_iterations=10, length_beam=1))
    assert (len(outcome.tokens), mock.passes, outcome.iterations) == (1, 1, 1)
