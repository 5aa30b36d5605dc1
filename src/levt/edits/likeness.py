"""How much two sequences have in common, as a number between 0 and 1. Knows no network and no batch.

With 𝓓 the paper's distance, insertions and deletions alone, it is 1 − 𝓓(y, y*) / (|y| + |y*|).
"""

from collections.abc import Hashable, Sequence


def common(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """The length of a longest common subsequence; a bit for each item of the first says that it is not used yet.

    >>> common("64549", "6449"), common("1234", "4321")
    (4, 1)
    """
    places: dict[Hashable, int] = {}
    for i, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << i
    unused = whole = (1 << len(one)) - 1
    for item in other:
        same = unused & places.get(item, 0)
        unused = (unused + same) | (unused - same)
    return len(one) - (unused & whole).bit_count()


def likeness(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """The share of items that two sequences have in common, in order; of two empty ones all.

    >>> likeness("64549", "6449"), likeness("1", "2"), likeness("", "")
    (0.888..., 0.0, 1.0)
    """
    items = len(one) + len(other)
    return 2 * common(one, other) / items if items else 1.0
