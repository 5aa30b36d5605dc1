"""How fast models answer: time of one text and throughput of batches, in turns, so that all meet the same load."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from levt.engine.batching import Budget
from levt.engine.model import Model

SENTENCES = (
    "The ferry leaves at nine.",
    "Please close the window before you go to sleep.",
    "Two children are building a tower of wooden blocks on the kitchen floor.",
    "If the parcel does not arrive by Friday, we will send another one free of charge.",
    "She had read the letter so often that she knew every comma of it by heart.",
    "A man in a green jacket waits for the bus.",
    "The committee decided, after a long and sometimes heated debate, to postpone the vote until the new figures "
    "have been checked by somebody who was not involved in the project.",
    "Where is the nearest pharmacy?",
    "Last winter the lake froze so quickly that the boats could not be taken out of the water in time.",
    "Press the red button twice and hold it for three seconds.",
    "Nobody expected the smallest of the four dogs to win the race.",
    "Our bakery is open from six in the morning until the last loaf of bread is sold.",
    "The old bridge was closed in spring because its railing had begun to rust.",
    "He plays the violin, she plays the drums, and their neighbours have moved away.",
    "Most of the apples in this region are picked by hand, sorted by size and sold within a week.",
    "It is raining again.",
)
"""Texts of the length that people translate, for those who bring none."""


@dataclass(frozen=True, kw_only=True)
class Latency:
    """How long the calls of one model with one size of batch took."""

    name: str
    batch: int
    """Texts of a call."""
    first_ms: float
    """Time of the first call, which is not counted below."""
    times_ms: tuple[float, ...]
    """Time of every call that counts."""
    iterations: float
    """Mean iterations of a text."""
    load: float
    """Mean number of processes that wanted a core meanwhile, ours included."""

    def percentile(self, share: float) -> float:
        """The time that this share of the calls did not exceed, in ms (nearest rank).

        >>> latency = Latency(name="", batch=1, first_ms=9.0, times_ms=(4.0, 1.0, 2.0, 3.0), iterations=1.0, load=0.0)
        >>> latency.percentile(0.5), latency.percentile(0.99)
        (2.0, 4.0)
        """
        ranked = sorted(self.times_ms)
        return ranked[max(-(-int(share * 1e6) * len(ranked) // 10**6) - 1, 0)]

    @property
    def per_second(self) -> float:
        """Texts a second, by the median."""
        return self.batch / self.percentile(0.5) * 1e3


def measure(
    models: Mapping[str, Model],
    texts: Sequence[str],
    *,
    batch: int = 1,
    seconds: float = 5.0,
    least: int = 5,
    settings: Mapping[str, Any] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Latency]:
    """Let models translate texts in turns, each for about so many seconds and at least so many calls.

    Calls take the texts in order, ``batch`` at a time, round and round; every model gets the same ones.
    """
    sized = {name: Model(model.engine, Budget(rows=batch, tokens=1 << 30)) for name, model in models.items()}
    taken: dict[str, list[float]] = {name: [] for name in models}
    iterations: dict[str, list[int]] = {name: [] for name in models}
    loads: list[float] = []
    while True:
        number = len(loads)
        chosen = [texts[(number * batch + i) % len(texts)] for i in range(batch)]
        for name, model in sized.items():
            began = clock()
            results = model.translate(chosen, **(settings or {}))
            taken[name].append((clock() - began) * 1e3)
            iterations[name] += [result.iterations for result in results]
        loads.append(os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan"))
        spent = sum(sum(times) for times in taken.values()) / 1e3
        # The first call is the warm-up: it does not count.
        if len(loads) > least and spent >= seconds * len(models):
            break
    return [
        Latency(
            name=name,
            batch=batch,
            first_ms=times[0],
            times_ms=tuple(times[1:]),
            iterations=sum(iterations[name]) / len(iterations[name]),
            load=sum(loads) / len(loads),
        )
        for name, times in taken.items()
    ]
