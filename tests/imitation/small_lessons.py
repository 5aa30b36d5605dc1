"""Rows, stores, lessons and networks for the tests of this folder; lessons are taken apart row by row."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from levt.data.store import Store
from levt.data.write import StoreWriter
from levt.imitation.lesson import Arrays, LessonShape, make_lesson
from levt.imitation.ragged import Ragged
from levt.imitation.roll_in import RollIn
from levt.policy.build import build
from levt.policy.config import LevTConfig, ModelConfig

VOCABULARY = 23
SMALL: dict[str, Any] = {
    "source_vocabulary": VOCABULARY, "target_vocabulary": VOCABULARY, "width": 16, "hidden": 24, "heads": 2,
    "encoder_layers": 2, "decoder_layers": 3, "max_length": 64, "dropout": 0.0,
}  # fmt: skip

Rows = list[list[int]]


def levt_config(**fields: Any) -> LevTConfig:
    return LevTConfig(**{**SMALL, "max_count": 4, **fields})


def network(config: ModelConfig, seed: int = 0) -> Any:
    """A network whose weights are all away from their start."""
    torch.manual_seed(seed)
    model: nn.Module = build(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return model


def sentences(count: int, *, seed: int = 0, least: int = 0, most: int = 9, first: int = 5) -> Rows:
    """Random rows without boundaries; few different tokens, so that they repeat."""
    rng = random.Random(seed)
    return [[rng.randrange(first, VOCABULARY) for _ in range(rng.randint(least, most))] for _ in range(count)]


def noisy(rows: Rows, *, seed: int = 0) -> Rows:
    """The rows with some tokens gone, some new ones and some in another place."""
    rng = random.Random(seed)
    found = []
    for row in rows:
        kept = [t for t in row if rng.random() > 0.3]
        for _ in range(rng.randint(0, 3)):
            kept.insert(rng.randint(0, len(kept)), rng.randrange(5, VOCABULARY))
        found.append(kept)
    return found


def ragged(rows: Sequence[Sequence[int]]) -> Ragged:
    flat = [t for row in rows for t in row]
    return Ragged(np.array(flat, np.int64), np.array([len(row) for row in rows], np.int64))


def bounded(rows: Rows) -> Rows:
    return [[1, *row, 2] for row in rows]


def store_of(folder: Path, **fields: Rows) -> Store:
    """A store of rows: source, draft (maybe), target."""
    writer = StoreWriter(folder, {name: (VOCABULARY, f"tokenizer-{name}") for name in fields})
    writer.add(fields)
    writer.close()
    return Store.open(folder)


def shape_for(
    source: Rows, target: Rows, draft: Rows | None = None, *, roll_in: RollIn, joint: bool, room: int = 0
) -> LessonShape:
    """A shape into which these rows go, with more or less room to spare."""
    sizes = {
        name: 0 if rows is None else sum(len(row) + 2 for row in rows) + room
        for name, rows in (("source", source), ("target", target), ("draft", draft))
    }
    every = [*source, *target, *(draft or [])]
    return LessonShape.of(
        rows=len(target) + room, **sizes, longest=max(map(len, every)) + 2, roll_in=roll_in, joint=joint
    )


def lesson_of(
    source: Rows,
    target: Rows,
    draft: Rows | None = None,
    *,
    roll_in: RollIn,
    shape: LessonShape,
    seed: int = 0,
) -> Arrays:
    return make_lesson(
        ragged(source).bounded(),
        ragged(target).bounded(),
        None if draft is None else ragged(draft).bounded(),
        roll_in=roll_in, shape=shape, vocabulary=VOCABULARY, draw=np.random.default_rng(seed),
    )  # fmt: skip


def rows_of(flat: np.ndarray, lengths: np.ndarray, count: int) -> Rows:
    """The first rows of a fixed array."""
    ends = np.cumsum(lengths)
    return [flat[end - length : end].tolist() for end, length in zip(ends[:count], lengths, strict=False)]


def assert_same_gradients(model: nn.Module, loss: Tensor, wanted: Tensor) -> None:
    """Both losses pull at every weight alike."""
    found = []
    for one in (loss, wanted):
        model.zero_grad()
        one.backward()
        found.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    torch.testing.assert_close(*found, rtol=1e-3, atol=1e-5)


def tensors(lesson: Arrays) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array) for name, array in lesson.items()}
