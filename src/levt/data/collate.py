"""From example numbers to arrays of token ids, with boundaries. NumPy only; decides nothing."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from levt.data.pack import Packed
from levt.data.pad import Shape
from levt.data.store import Store
from levt.text.specials import BOS, EOS, PAD


@dataclass(frozen=True)
class PaddedBatch:
    """Rows ``<s> tokens </s> <pad> …``; a row without an example is all ``<pad>`` and has the index -1."""

    source: Int64[np.ndarray, "b s"]
    target: Int64[np.ndarray, "b t"]
    draft: Int64[np.ndarray, "b d"] | None
    index: Int64[np.ndarray, "b"]
    """Which example of the store each row is."""


@dataclass(frozen=True)
class Flat:
    """Rows ``<s> tokens </s>`` one after the other, then ``<pad>``."""

    tokens: Int64[np.ndarray, "n"]
    offsets: Int64[np.ndarray, "o"]
    """Where each row begins, and the end of the last: rows + 1 numbers; rows without an example are empty."""

    @property
    def rows(self) -> Int64[np.ndarray, "n"]:
        """The row of every token; padding has the number after the last."""
        lengths = np.diff(self.offsets, append=len(self.tokens))
        return np.repeat(np.arange(len(lengths)), lengths)


@dataclass(frozen=True)
class PackedBatch:
    """Flat rows in the one shape of a ``Packed``; a row without an example has the index -1."""

    source: Flat
    target: Flat
    draft: Flat | None
    index: Int64[np.ndarray, "b"]
    """Which example of the store each row is."""


def collate_padded(store: Store, rows: Int64[np.ndarray, "r"], shape: Shape) -> PaddedBatch:
    """The examples ``rows`` in a padded batch of ``shape``."""
    return PaddedBatch(
        source=_padded(store, "source", rows, shape.rows, shape.source),
        target=_padded(store, "target", rows, shape.rows, shape.target),
        draft=_padded(store, "draft", rows, shape.rows, shape.draft) if store.has_draft else None,
        index=_index(rows, shape.rows),
    )


def collate_packed(store: Store, rows: Int64[np.ndarray, "r"], shape: Packed) -> PackedBatch:
    """The examples ``rows`` in a packed batch of ``shape``."""
    return PackedBatch(
        source=_flat(store, "source", rows, shape.rows, shape.source),
        target=_flat(store, "target", rows, shape.rows, shape.target),
        draft=_flat(store, "draft", rows, shape.rows, shape.draft) if store.has_draft else None,
        index=_index(rows, shape.rows),
    )


def _padded(store: Store, field: str, rows: np.ndarray, height: int, width: int) -> np.ndarray:
    tokens, lengths = store.gather(field, rows)
    out = np.full((height, width), PAD, np.int64)
    out[: len(rows), 0] = BOS
    out[np.arange(len(rows)), lengths + 1] = EOS
    column = np.arange(1, width + 1)
    real = np.zeros((height, width), bool)
    real[: len(rows), 1:] = column[:-1] <= lengths[:, None]
    out[real] = tokens
    return out


def _flat(store: Store, field: str, rows: np.ndarray, height: int, width: int) -> Flat:
    tokens, lengths = store.gather(field, rows)
    ends = np.cumsum(lengths + 2)
    offsets = np.full(height + 1, ends[-1] if len(ends) else 0, np.int64)
    offsets[0], offsets[1 : len(ends) + 1] = 0, ends
    out = np.full(width, PAD, np.int64)
    total = int(offsets[-1])
    inner = np.ones(total, bool)
    inner[offsets[: len(rows)]] = inner[ends - 1] = False
    out[:total][inner] = tokens
    out[offsets[: len(rows)]], out[ends - 1] = BOS, EOS
    return Flat(out, offsets)


def _index(rows: np.ndarray, height: int) -> np.ndarray:
    index = np.full(height, -1, np.int64)
    index[: len(rows)] = rows
    return index
