"""Rows of different length, one after another, as numpy arrays: how a lesson is put together on the host."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int64

from levt.text.specials import BOS, EOS, PAD


@dataclass(frozen=True)
class Ragged:
    """Flat values and the length of each row."""

    flat: Int64[np.ndarray, "t"]
    lengths: Int64[np.ndarray, "b"]

    @property
    def begins(self) -> Int64[np.ndarray, "b"]:
        """Where each row begins."""
        begins: np.ndarray = np.cumsum(self.lengths) - self.lengths
        return begins

    @property
    def row(self) -> Int64[np.ndarray, "t"]:
        """The row of each value."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def places(self) -> Int64[np.ndarray, "t"]:
        """The place of each value in its row, from 0."""
        places: np.ndarray = np.arange(len(self.flat)) - self.begins[self.row]
        return places

    @property
    def inner(self) -> Bool[np.ndarray, "t"]:
        """True on the values between the boundaries, in rows that have them.

        >>> Ragged(np.array([1, 7, 2, 1, 2]), np.array([3, 2])).inner.tolist()
        [False, True, False, False, False]
        """
        ends = np.cumsum(self.lengths)
        inner = np.ones(len(self.flat), bool)
        inner[ends - self.lengths] = inner[ends - 1] = False
        return inner

    def bounded(self) -> "Ragged":
        """The rows between ``<s>`` and ``</s>``.

        >>> Ragged(np.array([7, 8]), np.array([2, 0])).bounded().flat.tolist()
        [1, 7, 8, 2, 1, 2]
        """
        lengths = self.lengths + 2
        flat = np.empty(len(self.flat) + 2 * len(lengths), np.int64)
        flat[np.arange(len(self.flat)) + 2 * self.row + 1] = self.flat
        ends = np.cumsum(lengths)
        flat[ends - lengths], flat[ends - 1] = BOS, EOS
        return Ragged(flat, lengths)

    def keep(self, mask: Bool[np.ndarray, "t"]) -> "Ragged":
        """The values where ``mask`` is True; rows may become empty."""
        return Ragged(self.flat[mask], np.bincount(self.row[mask], minlength=len(self.lengths)))

    def rows_or(self, other: "Ragged", take_other: Bool[np.ndarray, "b"]) -> "Ragged":
        """Row by row, that of ``other`` where ``take_other`` is True, else one's own."""
        if not take_other.any():
            return self
        lengths = np.where(take_other, other.lengths, self.lengths)
        flat = np.empty(int(lengths.sum()), np.int64)
        from_other = np.repeat(take_other, lengths)
        flat[from_other] = other.flat[np.repeat(take_other, other.lengths)]
        flat[~from_other] = self.flat[np.repeat(~take_other, self.lengths)]
        return Ragged(flat, lengths)

    def padded(self) -> Int64[np.ndarray, "b n"]:
        """The rows side by side, ``<pad>`` on the right."""
        out = np.full((len(self.lengths), int(self.lengths.max(initial=0))), PAD, np.int64)
        out[self.row, self.places] = self.flat
        return out


def interleave(a: Ragged, b: Ragged) -> tuple[Ragged, Int64[np.ndarray, "t"], Int64[np.ndarray, "u"]]:
    """Rows a₀ b₀ a₁ b₁ …, and where the values of ``a`` and of ``b`` have gone.

    >>> both, _, of_b = interleave(Ragged(np.array([5]), np.array([1])), Ragged(np.array([6, 7]), np.array([2])))
    >>> both.flat.tolist(), of_b.tolist()
    ([5, 6, 7], [1, 2])
    """
    of_a = np.arange(len(a.flat)) + b.begins[a.row]
    of_b = np.arange(len(b.flat)) + (a.begins + a.lengths)[b.row]
    flat = np.empty(len(a.flat) + len(b.flat), np.int64)
    flat[of_a], flat[of_b] = a.flat, b.flat
    return Ragged(flat, np.stack([a.lengths, b.lengths], 1).ravel()), of_a, of_b
