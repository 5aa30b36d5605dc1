"""How MaskT is taught: masks of every number, losses equal to those of each example by itself."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_lessons import SMALL, assert_same_gradients, network, ragged, rows_of, sentences, store_of, tensors

from levt.data.pack import Packed as Budget
from levt.errors import ConfigError
from levt.imitation.masked_lessons import MaskedLessons, MaskedTeaching, random_masks
from levt.policy.layout import Padded
from levt.policy.masked import MaskedConfig

SOURCE, TARGET = sentences(9, seed=1, most=12), sentences(9, seed=2)
CONFIG = MaskedConfig(**SMALL)


@pytest.fixture
def lessons(tmp_path: Path) -> Any:
    def make(model: Any, tokens: int = 160, config: MaskedTeaching | None = None) -> MaskedLessons:
        store = store_of(tmp_path, source=SOURCE, target=TARGET)
        budget = Budget.fitting(store, target=tokens)
        return MaskedLessons(store, budget, model, config or MaskedTeaching(), smoothing=0.1)

    return make


def test_the_number_of_masks_is_uniform() -> None:
    sizes = [0, 1, 2, 4, 5]
    rows = ragged([list(range(5, 5 + size)) for size in sizes]).bounded()
    draw, seen = np.random.default_rng(0), {size: np.zeros(size + 1) for size in sizes}
    at = {size: np.zeros(size + 2) for size in sizes}
    for _ in range(3000):
        masked = random_masks(rows, draw)
        for i, size in enumerate(sizes):
            of_row = masked[rows.row == i]
            seen[size][of_row.sum()] += 1
            at[size] += of_row
    for size in sizes:
        assert at[size][0] == at[size][-1] == 0  # never a boundary
        assert seen[size][0] == (3000 if size == 0 else 0)
        if size:
            np.testing.assert_allclose(seen[size][1:] / 3000, 1 / size, atol=0.04)
            np.testing.assert_allclose(at[size][1:-1] / 3000, (size + 1) / (2 * size), atol=0.04)


def test_a_lesson_row_by_row(lessons: Any) -> None:
    teaching = lessons(network(CONFIG))
    rows = np.array([4, 0, 8, 2, 1])
    lesson, counted = teaching.make(rows, np.random.default_rng(3))
    found = rows_of(lesson["canvas"], lesson["target_lengths"], len(rows))
    answers = iter(lesson["hole_tokens"].tolist())
    holes = 0
    for canvas, row in zip(found, rows, strict=True):
        target = [1, *TARGET[row], 2]
        filled = [next(answers) if token == 4 else token for token in canvas]
        assert filled == target
        holes += canvas.count(4)
    assert set(answers) == {-1}
    assert counted.tolist() == [holes, len(rows)]
    assert lesson["length"][:5].tolist() == [len(TARGET[row]) for row in rows]
    assert set(lesson["length"][5:].tolist()) <= {-1}


def obvious(model: Any, lesson: Any, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Both losses of a lesson, example by example."""
    token = length = torch.zeros(())
    for canvas, row in zip(
        rows_of(lesson["canvas"], lesson["target_lengths"], len(rows)), rows.tolist(), strict=True
    ):
        memory = model.encode(torch.tensor([[1, *SOURCE[row], 2]]))
        y, target = torch.tensor([canvas]), [1, *TARGET[row], 2]
        log_p = model.token_logits(model.hidden(memory, y, Padded.of(y)))[0].log_softmax(-1)
        for i, t in enumerate(target):
            if canvas[i] == 4:
                token = token - 0.9 * log_p[i, t] - 0.1 * log_p[i].mean()
        length = length - model.length_policy(memory)[0].log_softmax(-1)[len(TARGET[row])]
    return token, length


@pytest.mark.parametrize(
    "config", [CONFIG, MaskedConfig(**SMALL, relative_length=True)], ids=["absolute", "relative"]
)
def test_equals_the_obvious(config: MaskedConfig, lessons: Any) -> None:
    model = network(config)
    teaching = lessons(model, config=MaskedTeaching(length_weight=0.3))
    rows = np.array([4, 0, 8, 2, 1])
    lesson, counted = teaching.make(rows, np.random.default_rng(0))
    loss, sums = teaching.objective(model)(tensors(lesson), torch.from_numpy(counted).float())
    token, length = obvious(model, lesson, rows)
    torch.testing.assert_close(sums, torch.stack([token, length]).detach(), rtol=1e-4, atol=1e-4)
    wanted = token / int(counted[0]) + 0.3 * length / len(rows)
    torch.testing.assert_close(loss, wanted, rtol=1e-4, atol=1e-4)
    assert_same_gradients(model, loss, wanted)


def test_masks_always_fit(lessons: Any) -> None:
    teaching = lessons(network(CONFIG), tokens=64)
    for seed in range(200):
        lesson, counted = teaching.make(np.array([0, 3, 5, 7]), np.random.default_rng(seed))
        assert np.count_nonzero(lesson["canvas"] == 4) == counted[0] <= teaching.shape.holes


def test_no_examples_teach_nothing(lessons: Any) -> None:
    model = network(CONFIG)
    teaching = lessons(model)
    lesson, counted = teaching.make(np.array([], np.int64), np.random.default_rng(0))
    loss, _ = teaching.objective(model)(tensors(lesson), torch.from_numpy(counted).float())
    loss.backward()
    assert counted.tolist() == [0, 0]
    assert all(p.grad is None or not p.grad.any() for p in model.parameters())


def test_weights_are_checked() -> None:
    with pytest.raises(ConfigError, match="length_weight must be at least 0, got -1"):
        MaskedTeaching(length_weight=-1.0)
