"""How far a score can be trusted: bootstrap intervals and paired randomization. Knows no metric.

Works on what sacrebleu calls statistics: a row of numbers per sentence, which are added up before the score is
computed. sacrebleu has both methods too, but its intervals are made symmetric (BLEU beyond 100, TER below 0),
and its tests count only trials that differ *more* than the systems do, so that equal systems, or systems that
differ in one sentence, come out as significantly different.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

SEED = 12345
CHUNK = 100
"""Resamples drawn at once: memory is this many numbers per sentence."""

Statistics = NDArray[np.float64]
"""One row per sentence."""
FromSums = Callable[[NDArray[np.float64]], float]
"""The score that the sums of the statistics give."""


def interval(statistics: Statistics, score: FromSums, samples: int) -> tuple[float, float]:
    """95 % of the corpora that could be drawn from these sentences score between these two."""
    rng, n = np.random.default_rng(SEED), len(statistics)
    drawn = (rng.multinomial(n, np.full(n, 1 / n), size=size) for size in _sizes(samples))
    scores = [score(sums) for times in drawn for sums in times @ statistics]
    low, high = np.percentile(scores, [2.5, 97.5])
    return float(low), float(high)


def p_value(system: Statistics, baseline: Statistics, score: FromSums, trials: int) -> float:
    """How often systems differ at least as much when, sentence by sentence, a coin decides which wrote which."""
    rng = np.random.default_rng(SEED)
    total = system.sum(0) + baseline.sum(0)

    def difference(sums: NDArray[np.float64]) -> float:
        return abs(score(sums) - score(total - sums))

    # What is equal but for rounding must count as equal.
    least = difference(system.sum(0)) - 1e-9
    drawn = (rng.integers(2, size=(size, len(system))) for size in _sizes(trials))
    extreme = sum(
        difference(sums) >= least for coin in drawn for sums in coin @ system + (1 - coin) @ baseline
    )
    return (extreme + 1) / (trials + 1)


def shared_level(level: float, count: int) -> float:
    """The p-value that each of several comparisons must have, for all of them together to be at a level (Šidák).

    >>> round(shared_level(0.05, 10), 5), shared_level(0.05, 1), shared_level(1.0, 10)
    (0.00512, 0.05, 1.0)
    """
    return level if count <= 1 else 1 - (1 - level) ** (1 / count)


def _sizes(total: int) -> Iterator[int]:
    """The total in parts of ``CHUNK``."""
    for start in range(0, total, CHUNK):
        yield min(CHUNK, total - start)
