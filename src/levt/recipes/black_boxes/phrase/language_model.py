"""An n-gram language model with modified Kneser-Ney smoothing, all lookups of an array at once.

p(w | h) = (a(hw) - D(a(hw))) / a(h·) + γ(h) p(w | h'), with a the counts at the highest order and the number of
different left neighbours below (Chen and Goodman, 1999). Knows no phrases.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from levt.recipes.black_boxes.phrase.corpus import BEGIN, END, FIRST, UNKNOWN, Side
from levt.recipes.black_boxes.phrase.hashing import Index, Ints, Keys, powers, random_of, span_keys

Floats = NDArray[np.float32]


class LanguageModel:
    """Log-probabilities of words after other words."""

    def __init__(self, keys: list[Keys], logs: list[Floats], backoffs: list[Floats], unknown: float) -> None:
        """One array for each order: n-grams, their log p, and log γ of each as a history."""
        self.keys, self.logs, self.backoffs, self.unknown = keys, logs, backoffs, unknown
        self._indices = [Index(order) for order in keys]
        self._powers = powers(len(keys))

    @property
    def order(self) -> int:
        """Words of the longest n-gram."""
        return len(self.keys)

    def log_p(self, words: Ints) -> Floats:
        """Log-probability of the last column of [m, order] words; negative words are no context.

        >>> model = LanguageModel.train(Side.of([[3, 4], [3, 4], [3, 5]]), 6, order=2)
        >>> likely, rare, never = model.log_p(np.array([[3, 4], [3, 5], [4, 3]]))
        >>> bool(likely > rare > never)
        True
        """
        single = random_of(np.maximum(words, 0))
        total = np.zeros(len(words), np.float32)
        rows = np.arange(len(words))
        for n in range(self.order, 0, -1):
            part = single[rows, self.order - n :]
            real: NDArray[np.bool_] = np.all(words[rows, self.order - n :] >= 0, axis=1)
            with np.errstate(over="ignore"):
                history = (part[:, :-1] * self._powers[: n - 1]).sum(1, dtype=np.uint64)
                key = history + part[:, -1] * self._powers[n - 1]
            found: Ints = np.where(real, self._indices[n - 1].find(key), -1)
            hit = found >= 0
            total[rows[hit]] += self.logs[n - 1][found[hit]]
            if n == 1:
                total[rows[~hit]] += self.unknown
                break
            behind = self._indices[n - 2].find(history[~hit])
            weight = self.backoffs[n - 2][behind]
            total[rows[~hit]] += np.where((behind >= 0) & real[~hit], weight, np.float32(0))
            rows = rows[~hit]
        return total

    @classmethod
    def train(cls, side: Side, vocabulary: int, *, order: int = 3) -> "LanguageModel":
        """Count and smooth the sentences of one language."""
        words, sentence = _bounded(side)
        spans = span_keys(words, order)
        keys: list[Keys] = []
        counts: list[Ints] = []
        firsts: list[Ints] = []
        for n in range(1, order + 1):
            # Spans must not cross from one sentence into the next.
            inside = np.flatnonzero(sentence[: len(spans[n - 1])] == sentence[n - 1 :])
            found, first, count = np.unique(spans[n - 1][inside], return_index=True, return_counts=True)
            keys.append(found)
            firsts.append(inside[first])
            counts.append(count)
        for n in range(1, order):
            # Below the highest order a count is that of different left neighbours; sentences' beginnings have none.
            lefts, number = np.unique(spans[n - 1][firsts[n] + 1], return_counts=True)
            differing = np.zeros_like(counts[n - 1])
            preceded = np.isin(keys[n - 1], lefts)
            differing[preceded] = number[np.searchsorted(lefts, keys[n - 1][preceded])]
            counts[n - 1] = np.where(words[firsts[n - 1]] == BEGIN, counts[n - 1], differing)
        logs: list[Floats] = []
        backoffs: list[Floats] = []
        # <s> is never predicted.
        counts[0] = np.where(words[firsts[0]] == BEGIN, 0, counts[0])
        discounts = _discounts(counts[0])
        total = max(int(counts[0].sum()), 1)
        left = discounts[np.minimum(counts[0], 3)].sum() / total
        uniform = 1 / max(vocabulary - FIRST + 2, 2)
        p = (counts[0] - discounts[np.minimum(counts[0], 3)]) / total + left * uniform
        logs.append(np.log(p.clip(1e-30)).astype(np.float32))
        for n in range(2, order + 1):
            discounts = _discounts(counts[n - 1])
            discount = discounts[np.minimum(counts[n - 1], 3)]
            history = np.searchsorted(keys[n - 2], spans[n - 2][firsts[n - 1]])
            lower = np.searchsorted(keys[n - 2], spans[n - 2][firsts[n - 1] + 1])
            size = len(keys[n - 2])
            totals = np.bincount(history, weights=counts[n - 1], minlength=size)
            freed = np.bincount(history, weights=discount, minlength=size)
            gamma = np.where(totals > 0, freed / np.maximum(totals, 1e-30), 1.0)
            p = (counts[n - 1] - discount) / totals[history].clip(1e-30) + gamma[history] * p[lower]
            logs.append(np.log(p.clip(1e-30)).astype(np.float32))
            backoffs.append(np.log(gamma.clip(1e-30)).astype(np.float32))
        return cls(keys, logs, backoffs, float(np.log(max(left * uniform, 1e-12))))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything there is to save."""
        named: dict[str, NDArray[np.generic]] = {"unknown": np.array(self.unknown)}
        for n, (keys, logs) in enumerate(zip(self.keys, self.logs, strict=True), 1):
            named |= {f"keys{n}": keys, f"logs{n}": logs}
        return named | {f"backoffs{n}": backoff for n, backoff in enumerate(self.backoffs, 1)}

    @classmethod
    def of(cls, arrays: "Mapping[str, NDArray[np.generic]]") -> "LanguageModel":
        """From what ``arrays`` gave."""
        order = sum(name.startswith("keys") for name in arrays)
        return cls(
            [np.asarray(arrays[f"keys{n}"], np.uint64) for n in range(1, order + 1)],
            [np.asarray(arrays[f"logs{n}"], np.float32) for n in range(1, order + 1)],
            [np.asarray(arrays[f"backoffs{n}"], np.float32) for n in range(1, order)],
            float(arrays["unknown"]),
        )


def _bounded(side: Side) -> tuple[Ints, Ints]:
    """All words with <s> and </s> around every sentence, and the number of each word's sentence."""
    count = len(side.lengths)
    sentence = np.repeat(np.arange(count), side.lengths + 2)
    words = np.full(len(sentence), UNKNOWN, np.int64)
    starts = side.starts[:-1] + 2 * np.arange(count)
    words[starts] = BEGIN
    words[starts + side.lengths + 1] = END
    words[words == UNKNOWN] = side.words
    return words, sentence


def _discounts(counts: Ints) -> NDArray[np.float64]:
    """D(0) = 0, D(1), D(2), D(3 and more), from the counts of counts; 0.5, 1, 1.5 where those are too few."""
    once, twice, thrice, four = (int((counts == c).sum()) for c in (1, 2, 3, 4))
    if min(once, twice, thrice, four) == 0:
        return np.array([0.0, 0.5, 1.0, 1.5])
    y = once / (once + 2 * twice)
    found = np.array([0.0, 1 - 2 * y * twice / once, 2 - 3 * y * thrice / twice, 3 - 4 * y * four / thrice])
    return found.clip(0.0, [0.0, 0.95, 1.95, 2.95])
