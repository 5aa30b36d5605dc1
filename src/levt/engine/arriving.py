"""States on their way into a frame: whole blocks, so that a hundred rows cost what one costs. Knows no network."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from levt.refine.options import Options
from levt.text.specials import BOS, EOS, PAD

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Arriving:
    """States with their dials, and the row for which each is meant."""

    ints: Array
    """Tokens, row, most placeholders in a gap, longest state: ``[r n+3]``."""
    floats: Array
    """γ and min_edit: ``[r 2]``."""
    marks: Array | None
    """Locks and glue, ``[2 r n]``; None where there are none."""

    @property
    def y(self) -> Array:
        """The tokens."""
        y: Array = self.ints[:, :-3]
        return y

    @classmethod
    def of(
        cls,
        states: Sequence[Sequence[int]],
        locked: Sequence[Sequence[bool]],
        glued: Sequence[Sequence[bool]],
        options: Sequence[Options],
        limits: Sequence[int],
        rows: Sequence[int],
        width: int,
    ) -> "Arriving":
        """States without boundaries, for these rows of a frame of this width; rows beyond them are made empty."""
        ints = np.zeros((len(rows), width + 3), dtype=np.int64)
        block(states, width, out=ints[:, :width])
        ints[:, width] = rows
        ints[: len(states), width + 1] = [o.max_count for o in options]
        ints[: len(states), width + 2] = limits
        floats = np.zeros((len(rows), 2), dtype=np.float32)
        floats[: len(states), 0] = [o.empty_gap_penalty for o in options]
        floats[: len(states), 1] = [o.min_edit for o in options]
        marks = None
        if any(map(any, locked)) or any(map(any, glued)):
            marks = np.zeros((2, len(rows), width), dtype=np.bool_)
            for mark, given in zip(marks, (locked, glued), strict=True):
                for i, row in enumerate(given):
                    mark[i, 1 : len(row) + 1] = row
        return cls(ints, floats, marks)


def block(rows: Sequence[Sequence[int]], width: int, *, out: Array | None = None) -> Array:
    """Rows of tokens between their boundaries, padded.

    >>> block([(7, 8), ()], 5).tolist()
    [[1, 7, 8, 2, 0], [1, 2, 0, 0, 0]]
    """
    y: Array = np.full((len(rows), width), PAD, dtype=np.int64) if out is None else out
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    column = np.arange(width)
    inside = (column > 0) & (column <= lengths[:, None])
    flat = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(lengths.sum()))
    y[: len(rows)][inside] = flat
    y[: len(rows), 0] = BOS
    y[np.arange(len(rows)), lengths + 1] = EOS
    return y


def sent(array: Array, device: torch.device) -> Tensor:
    """An array on a device, without waiting for what the device is doing."""
    tensor = torch.from_numpy(array)
    return tensor if device.type == "cpu" else tensor.pin_memory().to(device, non_blocking=True)
