"""Columns: rows of tokens one after the other in one array, with their lengths. Knows no text and no store."""

from collections.abc import Sequence

import numpy as np

Column = tuple[np.ndarray, np.ndarray]
"""The tokens of some rows one after the other, and how many each has."""


def flat(rows: Sequence[Sequence[int]]) -> Column:
    """Rows one after the other.

    >>> flat([[7, 8], [], [9]])
    (array([7, 8, 9], dtype=uint32), array([2, 0, 1]))
    """
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    return np.fromiter((i for row in rows for i in row), np.uint32, int(lengths.sum())), lengths
