"""What a frame has to tell the host: copied while the device works on, read after the wait. Decides nothing."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from levt.engine.static_edits import Frame
from levt.refine.phases import Round
from levt.refine.record import Arrays
from levt.text.specials import EOS, PAD, PLH

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Edits:
    """Deletions and placeholders of a batch, all ``[b n]``."""

    y: Array
    """The state with its placeholders open."""
    after: Array
    """The state after deletion."""
    drop: Array
    counts: Array
    """Placeholders behind each token of the state after deletion."""
    lengths: Array
    """How long each row wanted to become, ``[b]``."""
    drop_logp: Array
    counts_logp: Array


@dataclass(frozen=True, eq=False)
class Fills:
    """The state after an iteration, and how probable what was filled in is, ``[b n]``."""

    y: Array
    logp: Array


class Mail:
    """Numbers on their way from a frame to the host; to be opened after the device has been waited for."""

    def __init__(self, frame: Frame, *, fills: bool) -> None:
        """Of a fill or of edits."""
        self.fills = fills
        ints, floats = (frame.ints[:1], frame.floats[2:]) if fills else (frame.ints, frame.floats[:2])
        self._ints, self._floats = to_host(ints), to_host(floats)

    def edits(self) -> Edits:
        """Deletions and placeholders, in arrays of their own."""
        assert not self.fills
        y, after, drop, counts, lengths = self._ints.numpy()
        rows = y.shape[0]
        drop_logp, counts_logp = self._floats.numpy().copy()
        return Edits(
            y.astype(np.int32), after.astype(np.int32), drop != 0, counts.astype(np.int32),
            lengths.reshape(-1)[:rows].copy(), drop_logp, counts_logp,
        )  # fmt: skip

    def filled(self) -> Fills:
        """The state after an iteration."""
        assert self.fills
        return Fills(self._ints.numpy()[0].astype(np.int32), self._floats.numpy()[0].copy())


def to_host(tensor: Tensor) -> Tensor:
    """A tensor on its way to the host: its numbers are there after the next wait."""
    if not tensor.is_cuda:
        return tensor.clone()
    # Memory that the device may write to by itself; torch keeps it for the next letter.
    there = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    return there.copy_(tensor, non_blocking=True)


@dataclass(frozen=True, eq=False)
class FrameRecord:
    """One iteration of the rows of a frame."""

    before: Array
    edits: Edits
    fills: Fills | None
    locked: Array | None
    glued: Array | None
    """Marks of the state before; None where there are none."""

    def round(self, row: int) -> Round:
        """The iteration of one row."""
        return self._arrays.round(row)

    def sums(self, row: int) -> tuple[float, int]:
        """Sum and number of the model's own decisions in a row."""
        return self._arrays.sums(row)

    @cached_property
    def _arrays(self) -> Arrays:
        edits, fills = self.edits, self.fills
        own = self.before > EOS
        if self.locked is not None:
            own &= ~self.locked
        gaps = edits.after[:, 1:] != PAD
        if self.glued is not None:
            gaps &= ~together(self.glued, (self.before != PAD) & ~edits.drop)[:, 1:]
        return Arrays(
            before=self.before,
            drop=edits.drop,
            drop_logp=edits.drop_logp,
            drop_own=own,
            counts=edits.counts[:, :-1],
            counts_logp=edits.counts_logp[:, :-1],
            counts_own=gaps,
            holes=edits.y == PLH,
            y=edits.y if fills is None else fills.y,
            fill_logp=np.zeros_like(edits.drop_logp) if fills is None else fills.logp,
        )


def together(marks: Array, keep: Array) -> Array:
    """The marks of what is kept, moved to the left; nothing behind them.

    >>> together(np.array([[False, True, True]]), np.array([[True, False, True]])).tolist()
    [[False, True, False]]
    """
    order = np.argsort(~keep, axis=1, kind="stable")
    moved: Array = np.take_along_axis(marks & keep, order, axis=1)
    return moved


def carried(marks: Array, keep: Array, counts: Array) -> Array:
    """Marks of a state where its tokens are after an iteration; what was inserted has none.

    >>> marks, keep = np.array([[False, True, True, False]]), np.array([[True, False, True, True]])
    >>> carried(marks, keep, np.array([[1, 0, 0, 0]])).tolist()
    [[False, False, True, False]]
    """
    moved, n = together(marks, keep), marks.shape[1]
    to = np.arange(n) + np.cumsum(counts, axis=1) - counts
    rows, columns = np.nonzero(np.arange(n) < keep.sum(1, keepdims=True))
    placed = np.zeros_like(marks)
    placed[rows, to[rows, columns]] = moved[rows, columns]
    return placed
