"""Sequences of words as 64-bit numbers, and an index from such numbers to rows. Knows no words.

A sequence w₀ … w_{n-1} becomes Σ R(w_k) P^k modulo 2⁶⁴, with R a random-looking number for each word: so the
numbers of all sequences of all lengths come from a few vectorised sums. Two of a hundred million sequences
get the same number with a probability of about 1 in 3,000.
"""

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Ints = NDArray[np.int64]

PRIME = np.uint64(0x9E3779B97F4A7C15)


def random_of(words: NDArray[np.integer]) -> Keys:
    """R: a fixed random-looking number for each word (splitmix64)."""
    with np.errstate(over="ignore"):
        z = (words.astype(np.uint64) + np.uint64(1)) * np.uint64(0xD1B54A32D192ED03)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def powers(most: int) -> Keys:
    """P⁰ … P^(most-1)."""
    found = np.ones(most, np.uint64)
    with np.errstate(over="ignore"):
        found[1:] = np.cumprod(np.full(max(most - 1, 0), PRIME), dtype=np.uint64)
    return found


def span_keys(words: NDArray[np.integer], most: int) -> list[Keys]:
    """For every length 1 … most, the keys of the spans that begin at each place where one fits.

    >>> ones, twos = span_keys(np.array([4, 7, 4, 7]), 2)
    >>> bool(twos[0] == twos[2] != twos[1]), len(twos)
    (True, 3)
    """
    single = random_of(words)
    keys = [single]
    with np.errstate(over="ignore"):
        for length, power in enumerate(powers(most)[1:], 1):
            fits = max(len(words) - length, 0)
            keys.append(keys[-1][:fits] + single[length:] * power)
    return keys


class Index:
    """From distinct keys to their rows: open addressing, all lookups of an array at once."""

    def __init__(self, keys: Keys) -> None:
        self.keys = keys
        self._mask = np.uint64((1 << max(4, (2 * len(keys)).bit_length())) - 1)
        self._rows = np.full(int(self._mask) + 1, -1, np.int32)
        pending = np.arange(len(keys), dtype=np.int32)
        place = keys & self._mask
        while len(pending):
            free = self._rows[place] < 0
            self._rows[place[free]] = pending[free]
            # Of several keys that wanted the same place, the last one has got it.
            lost = self._rows[place] != pending
            pending, place = pending[lost], (place[lost] + np.uint64(1)) & self._mask

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, keys: Keys) -> Ints:
        """The row of each key, or -1.

        >>> index = Index(np.array([5, 21, 9], np.uint64))
        >>> index.find(np.array([21, 6, 5], np.uint64)).tolist()
        [1, -1, 0]
        """
        found = np.full(len(keys), -1, np.int64)
        if not len(self.keys):
            return found
        pending = np.arange(len(keys))
        place = keys & self._mask
        wanted = keys
        while len(pending):
            rows = self._rows[place]
            # An empty place gives row -1: the last key is compared for nothing, and the row says no.
            hit = (self.keys[rows] == wanted) & (rows >= 0)
            found[pending[hit]] = rows[hit]
            on = (rows >= 0) & ~hit
            pending, wanted = pending[on], wanted[on]
            place = (place[on] + np.uint64(1)) & self._mask
        return found
