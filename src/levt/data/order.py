"""The order in which an epoch visits the examples: a pure function of seed and epoch. Knows no length."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from levt.errors import ConfigError, raise_all


@dataclass(frozen=True, kw_only=True)
class Order:
    """How examples are shuffled: blocks of neighbours are permuted, and examples within a window of blocks."""

    seed: int = 0
    """Every seed and epoch has its own order."""
    window: int = 1 << 17
    """Examples that are shuffled together; bounds the memory."""
    block: int | None = None
    """Neighbours that stay in one window, so that reading stays local; None: 1, in large stores 128."""

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be at least {least}, got {value}"
            for name, value, least in (
                ("seed", self.seed, 0),
                ("window", self.window, 1),
                ("block", self.block, 1),
            )
            if value is not None and value < least
        ]
        raise_all(ConfigError, "order", problems, hint="leave them out for the defaults")

    def windows(self, count: int, epoch: int) -> Iterator[Int64[np.ndarray, "w"]]:
        """Every example 0 … count-1 exactly once, window by window.

        >>> windows = list(Order(window=4).windows(6, epoch=0))
        >>> [len(window) for window in windows], sorted(i for window in windows for i in window.tolist())
        ([4, 2], [0, 1, 2, 3, 4, 5])
        """
        block = self.block or (1 if count <= 1 << 20 else 128)
        blocks = np.random.default_rng([self.seed, epoch]).permutation(-(-count // block))
        step = max(1, self.window // block)
        for begin in range(0, len(blocks), step):
            rows = (blocks[begin : begin + step, None] * block + np.arange(block)).ravel()
            yield np.random.default_rng([self.seed, epoch, begin]).permutation(rows[rows < count])
