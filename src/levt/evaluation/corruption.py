"""Drafts for repair: references with errors of known kind and number. Knows no model."""

import random
from collections.abc import Sequence

KINDS = ("missing", "twice", "wrong", "moved")
"""What may happen to a word, each as often as the others."""


def corrupted(text: str, rate: float, pool: Sequence[str], rng: random.Random) -> str:
    """A text in which about that share of the words is missing, there twice, wrong or in another place.

    A wrong word comes from the ``pool``; a moved one stands up to three places further right.

    >>> corrupted("one two three four five six", 0.4, ["seven"], random.Random(1))
    'three four two four six'
    """
    found: list[str] = []
    moved: list[tuple[int, str]] = []
    for word in text.split():
        kind = rng.choice(KINDS) if rng.random() < rate else ""
        if kind == "moved":
            moved.append((len(found) + rng.randint(1, 3), word))
        elif kind == "wrong":
            found.append(rng.choice(pool))
        elif kind != "missing":
            found += [word] * (2 if kind == "twice" else 1)
    for place, word in moved:
        found.insert(min(place, len(found)), word)
    return " ".join(found)
