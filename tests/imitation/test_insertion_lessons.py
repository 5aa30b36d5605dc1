"""How the Insertion Transformer is taught: its loss against brute force over every gap of every example."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lessons import SMALL, assert_same_gradients, network, ragged, rows_of, sentences, store_of, tensors

from levt.data.pack import Packed as Budget
from levt.errors import ConfigError
from levt.imitation.insertion_lessons import InsertionLessons, InsertionTeaching, gap_lesson
from levt.policy.insertion import InsertionConfig
from levt.policy.layout import Padded

SOURCE, TARGET = sentences(9, seed=1, most=12), sentences(9, seed=2)
CONFIG = InsertionConfig(**SMALL)
WAYS = {"balanced": 1.0, "sharp": 0.01, "flat": 3.0, "uniform": 1.0}


def teaching_of(way: str) -> InsertionTeaching:
    return InsertionTeaching(order="uniform" if way == "uniform" else "balanced", temperature=WAYS[way])


def weights_of(size: int, config: InsertionTeaching) -> list[float]:
    """Of a span of that size, as the paper has it."""
    if config.order == "uniform" or not size:
        return [1 / max(size, 1)] * size
    distances = [abs((size - 1) / 2 - i) for i in range(size)]
    raw = [math.exp(-(d - min(distances)) / config.temperature) for d in distances]
    return [value / sum(raw) for value in raw]


def spans(target: list[int], kept: list[bool]) -> list[list[int]]:
    """What each gap lacks, from left to right."""
    found: list[list[int]] = []
    for token, keep in zip(target, kept, strict=True):
        if keep:
            found.append([])
        else:
            found[-1].append(token)
    return found[:-1]


@settings(max_examples=60)
@given(st.lists(st.lists(st.booleans(), max_size=7), min_size=1, max_size=4), st.sampled_from(list(WAYS)))
def test_what_gaps_lack(choices: list[list[bool]], way: str) -> None:
    config = teaching_of(way)
    rows = [list(range(10 * r + 5, 10 * r + 5 + len(row))) for r, row in enumerate(choices)]
    kept = [[True, *row, True] for row in choices]
    state, gaps, gap, tokens, weights = gap_lesson(ragged(rows).bounded(), np.concatenate(kept), config)
    wanted: list[tuple[int, int, float]] = []
    number = 0
    for row, keep in zip(rows, kept, strict=True):
        for span in spans([1, *row, 2], keep):
            wanted += [(number, t, w) for t, w in zip(span, weights_of(len(span), config), strict=True)]
            wanted += [] if span else [(number, 2, 1.0)]
            number += 1
    assert len(gaps) == number
    found = sorted(zip(gap.tolist(), tokens.tolist(), weights.tolist(), strict=True))
    assert [entry[:2] for entry in found] == [entry[:2] for entry in sorted(wanted)]
    assert [entry[2] for entry in found] == pytest.approx([entry[2] for entry in sorted(wanted)])
    assert state.flat.tolist() == [
        t for row, keep in zip(rows, kept, strict=True) for t, k in zip([1, *row, 2], keep, strict=True) if k
    ]


def test_the_order_of_insertion() -> None:
    one = ragged([[5, 6, 7, 8, 9]]).bounded()
    kept = np.array([True, *[False] * 5, True])
    sharp = gap_lesson(one, kept, InsertionTeaching(temperature=0.01))[4]
    np.testing.assert_allclose(sharp, [0, 0, 1, 0, 0], atol=1e-9)
    flat = gap_lesson(one, kept, InsertionTeaching(temperature=1e6))[4]
    np.testing.assert_allclose(flat, [0.2] * 5, atol=1e-5)
    np.testing.assert_allclose(gap_lesson(one, kept, InsertionTeaching(order="uniform"))[4], [0.2] * 5)


@pytest.fixture
def lessons(tmp_path: Path) -> Any:
    def make(model: Any, config: InsertionTeaching, tokens: int = 160) -> InsertionLessons:
        store = store_of(tmp_path, source=SOURCE, target=TARGET)
        return InsertionLessons(store, Budget.fitting(store, target=tokens), model, config, smoothing=0.1)

    return make


def brute_force(
    model: Any, lesson: Any, rows: np.ndarray, config: InsertionTeaching
) -> tuple[torch.Tensor, int]:
    """The loss of a lesson, gap by gap; which target tokens are kept is read off the lesson's own answers."""
    total, gaps = torch.zeros(()), 0
    answers: dict[int, list[int]] = {}
    weighed = lesson["weights"].view(np.float32) > 0
    for gap, token in zip(lesson["gap"][weighed].tolist(), lesson["tokens"][weighed].tolist(), strict=True):
        answers.setdefault(gap, []).append(token)
    for state, row in zip(
        rows_of(lesson["kept"], lesson["kept_lengths"], len(rows)), rows.tolist(), strict=True
    ):
        memory = model.encode(torch.tensor([[1, *SOURCE[row], 2]]))
        y = torch.tensor([state])
        h = model.hidden(memory, y, Padded.of(y))[0]
        rebuilt = state[:1]
        for i in range(len(state) - 1):
            logp = model.token_logits(model.join(torch.cat([h[i], h[i + 1]]))).log_softmax(-1)
            span = [] if answers[gaps] == [2] else answers[gaps]
            rebuilt += [*span, state[i + 1]]
            for token, weight in zip(
                span or [2], weights_of(len(span), config) if span else [1.0], strict=True
            ):
                total = total - weight * (0.9 * logp[token] + 0.1 * logp.mean())
            gaps += 1
        assert rebuilt == [1, *TARGET[row], 2]  # the spans are those of the target
    return total, gaps


@pytest.mark.parametrize("way", ["balanced", "flat", "uniform"])
def test_equals_brute_force(way: str, lessons: Any) -> None:
    config, model = teaching_of(way), network(CONFIG)
    teaching, rows = lessons(model, config), np.array([4, 0, 8, 2, 1])
    lesson, counted = teaching.make(rows, np.random.default_rng(1))
    loss, sums = teaching.objective(model)(tensors(lesson), torch.from_numpy(counted).float())
    wanted, gaps = brute_force(model, lesson, rows, config)
    assert counted.tolist() == [gaps]
    torch.testing.assert_close(sums[0], wanted.detach(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(loss, wanted / gaps, rtol=1e-4, atol=1e-4)
    assert_same_gradients(model, loss, wanted / gaps)


def test_two_halves_have_the_gradient_of_the_whole(lessons: Any) -> None:
    model = network(CONFIG)
    teaching = lessons(model, InsertionTeaching())
    objective, found = teaching.objective(model), []
    whole, counted = teaching.make(np.arange(9), np.random.default_rng(0))
    nothing, _ = teaching.make(np.array([], np.int64), np.random.default_rng(0))
    for parts in ([whole], [whole, nothing]):
        model.zero_grad()
        for part in parts:
            objective(tensors(part), torch.from_numpy(counted).float())[0].backward()
        found.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    torch.testing.assert_close(*found)


def test_states_always_fit(lessons: Any) -> None:
    teaching = lessons(network(CONFIG), InsertionTeaching(), tokens=64)
    for seed in range(200):
        _, counted = teaching.make(np.array([0, 3, 5, 7]), np.random.default_rng(seed))
        assert counted[0] >= 4


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="temperature must be above 0, got 0"):
        InsertionTeaching(temperature=0.0)
