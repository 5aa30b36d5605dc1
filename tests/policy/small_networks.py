"""Tiny networks and batches for the tests of this folder."""

import random
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from levt.policy.build import build
from levt.policy.config import (
    AutoregressiveConfig,
    LevTConfig,
    ModelConfig,
    PostEditingConfig,
    RecurrentConfig,
)

torch.set_num_threads(1)  # networks this small only lose by sharing the work

VOCABULARY = 23
SIZES: dict[str, Any] = {"source_vocabulary": VOCABULARY, "target_vocabulary": VOCABULARY}
SMALL: dict[str, Any] = {
    **SIZES, "width": 16, "hidden": 24, "heads": 2, "encoder_layers": 2, "decoder_layers": 3, "max_length": 64
}  # fmt: skip


def levt_config(**fields: Any) -> LevTConfig:
    return LevTConfig(**{**SMALL, "max_count": 6, **fields})


def autoregressive_config(**fields: Any) -> AutoregressiveConfig:
    return AutoregressiveConfig(**{**SMALL, **fields})


def post_editing_config(**fields: Any) -> PostEditingConfig:
    return PostEditingConfig(**{**SMALL, **fields})


def recurrent_config(**fields: Any) -> RecurrentConfig:
    return RecurrentConfig(**{**SIZES, "width": 16, "max_length": 64, **fields})


def network(config: ModelConfig, seed: int = 0) -> Any:
    """A network in evaluation mode whose weights, biases and norms included, are all away from their start."""
    torch.manual_seed(seed)
    model: nn.Module = build(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return model.eval()


def sentences(
    count: int, *, seed: int = 0, least: int = 0, most: int = 9, placeholders: bool = False
) -> list[list[int]]:
    """Random rows with boundaries."""
    rng = random.Random(seed)
    first = 4 if placeholders else 5
    return [
        [1, *(rng.randrange(first, VOCABULARY) for _ in range(rng.randint(least, most))), 2]
        for _ in range(count)
    ]


def pad(rows: Sequence[Sequence[int]], width: int | None = None) -> Tensor:
    """Rows as a padded batch."""
    n = max(map(len, rows)) if width is None else width
    return torch.tensor([[*row, *[0] * (n - len(row))] for row in rows])


def unpadded(x: Tensor, rows: Sequence[Sequence[int]]) -> Tensor:
    """What lies on the real places of a padded batch, one after another."""
    return torch.cat([x[i, : len(row)] for i, row in enumerate(rows)])
