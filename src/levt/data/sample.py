"""Some of many: a uniform sample of a stream, or places spread over a set. Knows no file."""

from collections.abc import Iterable

import numpy as np


def sample(
    examples: Iterable[tuple[str, ...]], *, most: int, characters: int, seed: int = 0
) -> list[tuple[str, ...]]:
    """At most ``most`` examples, of at most ``characters`` in all, each of the stream equally likely.

    Reservoir sampling: the i-th example replaces a random one with probability size/i. Where the reservoir
    grows too heavy, its size is lowered and random ones leave, which keeps it uniform.

    >>> sample([("a",), ("b",)], most=5, characters=100)
    [('a',), ('b',)]
    """
    rng = np.random.default_rng(seed)
    held: list[tuple[str, ...]] = []
    weight = 0
    for seen, example in enumerate(examples, start=1):
        if len(held) < most:
            held.append(example)
        else:
            place = int(rng.integers(seen))
            if place >= most:
                continue
            weight -= sum(map(len, held[place]))
            held[place] = example
        weight += sum(map(len, example))
        while weight > characters and len(held) > 1:
            last = held.pop()
            place = int(rng.integers(len(held) + 1))
            if place < len(held):
                last, held[place] = held[place], last
            weight -= sum(map(len, last))
            most = len(held)
    return held


def spread(count: int, most: int) -> list[int]:
    """At most ``most`` places of ``count``, over all of them: a set put together from several has its parts in it.

    >>> spread(7, 3), spread(2, 3)
    ([0, 2, 4], [0, 1])
    """
    taken = min(count, most)
    return [place * count // taken for place in range(taken)]
