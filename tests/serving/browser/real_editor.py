"""The editor of `levt serve`: with the bundled model, or where none is bundled with a tiny one that knows nothing.

``LEVT_BROWSER_MODEL`` names another one, as a folder of an English–German model that is to be looked at.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from live import spawned

from levt.policy.hub import bundled
from tiny_models import save_tiny

DEFAULT = "levt-en-de"
GIVEN = os.environ.get("LEVT_BROWSER_MODEL")
KNOWS_GERMAN = bool(GIVEN) or DEFAULT in bundled()
"""Whether the model has learnt to translate English into German."""


@dataclass(frozen=True)
class Source:
    """A source and a draft of it, and another source close to it."""

    text: str
    draft: str
    other: str


DOGS = Source(
    "Two dogs run over the snow.", "Zwei Hunde laufen über den Schnee.", "Two black dogs run over the snow."
)


@contextmanager
def real_server(scratch: Path) -> Iterator[str]:
    """`levt serve` as a user starts it: without a model's name where one is bundled; gives its address."""
    model = GIVEN or (None if KNOWS_GERMAN else str(save_tiny(scratch / "tiny", seed=3)))
    with spawned(model) as address:
        yield address


def in_order(some: list[str], words: list[str]) -> bool:
    """Whether some words stand among others, in this order.

    >>> in_order(["a", "c"], ["a", "b", "c"]), in_order(["c", "a"], ["a", "b", "c"])
    (True, False)
    """
    rest = iter(words)
    return all(word in rest for word in some)


def common(old: list[str], new: list[str]) -> int:
    """How many words two texts have in common, in order.

    >>> common(["Ein", "Hund", "läuft"], ["Ein", "alter", "Hund", "rennt"])
    2
    """
    best = [[0] * (len(new) + 1)]
    for word in old:
        row = [0]
        for j, (above, right) in enumerate(pairwise(best[-1])):
            row.append(above + 1 if word == new[j] else max(row[-1], right))
        best.append(row)
    return best[-1][-1]
