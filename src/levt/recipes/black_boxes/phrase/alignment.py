"""Which words translate which: IBM model 1, then a hidden Markov model, by expectation maximisation.

The words of the target are emitted by words of the source, or by none; the model of Vogel et al. (1996) adds
that neighbours are emitted by neighbours. Where a word comes from none, the Markov chain stays where it is:
e_j(i) = (1 - p₀) t(y_j | x_i) + p₀ t(y_j | none), so that nothing is doubled. Knows no phrases.
"""

import numpy as np
from numpy.typing import NDArray

from levt.recipes.black_boxes.phrase.corpus import Side
from levt.recipes.black_boxes.phrase.hashing import PRIME, Ints, Keys, random_of

Floats = NDArray[np.float32]

P0 = np.float32(0.15)
"""Probability that a word of the target comes from no word of the source."""
REACH = 8
"""Jumps that are farther than this have one probability."""
SMOOTHING = np.float32(0.01)
"""Added to every count of the lexicon, against rare words that take everything."""


class Aligner:
    """Learns to align in one direction: source words emit target words."""

    def __init__(self, source: Side, target: Side, vocabulary: int) -> None:
        self.source, self.target = source, target
        self.vocabulary = np.float32(vocabulary)
        cells = int((source.lengths * target.lengths).sum())
        # Counts lie in a table by hash: pairs of words that share a place are rare and share their luck.
        self._mask = np.uint64((1 << min(26, max(12, cells.bit_length()))) - 1)
        self.counts = np.ones(int(self._mask) + 1, np.float32)
        self.totals = np.full(int(source.words.max(initial=0)) + 1, vocabulary, np.float32)
        self.jumps = np.ones(2 * REACH + 1, np.float64)

    def fit(self, blocks: list[Ints], *, independent: int, chained: int) -> None:
        """Learn: so many rounds of model 1, then so many of the Markov model."""
        for iteration in range(independent + chained):
            counts, totals = np.zeros_like(self.counts), np.zeros_like(self.totals)
            jumps = np.zeros_like(self.jumps)
            for rows in blocks:
                x, _, cells, emission, real = self._emission(rows)
                if iteration < independent:
                    mass: Floats = np.maximum(emission.sum(2, keepdims=True), np.float32(1e-30))
                    posterior = np.divide(emission, mass, dtype=np.float32)
                else:
                    posterior = self._posterior(emission, real, jumps)
                posterior *= real[:, :, None]
                np.add.at(counts, cells.ravel(), posterior.ravel())
                np.add.at(totals, x.ravel(), posterior.sum(1).ravel())
            self.counts, self.totals = counts, totals
            if iteration >= independent:
                self.jumps = jumps + 1e-3 * jumps.sum() + 1e-9

    def align(self, rows: Ints) -> NDArray[np.bool_]:
        """Links of a block, [b, target, source]: each target word's most probable origin, or none."""
        _, _, _, emission, real = self._emission(rows)
        posterior = self._posterior(emission, real, np.zeros_like(self.jumps))
        best = posterior.argmax(2)
        links: NDArray[np.bool_] = np.arange(1, posterior.shape[2]) == best[:, :, None]
        return links & real[:, :, None]

    def _emission(self, rows: Ints) -> tuple[Ints, Ints, Keys, Floats, NDArray[np.bool_]]:
        """Sources with "none" in front, targets, cells of the table, t(y_j | x_i), and which j are real."""
        x = np.pad(self.source.padded(rows), ((0, 0), (1, 0)))
        y = self.target.padded(rows)
        real = np.arange(y.shape[1]) < self.target.lengths[rows][:, None]
        with np.errstate(over="ignore"):
            mixed = random_of(x)[:, None, :] * PRIME + random_of(y)[:, :, None]
            cells = (mixed ^ (mixed >> np.uint64(32))) & self._mask
        floor = SMOOTHING * self.vocabulary
        emission = (self.counts[cells] + SMOOTHING) / (self.totals[x][:, None, :] + floor)
        return x, y, cells, emission, real

    def _transitions(self, size: int) -> Floats:
        """a(i | i') for a source of that many words, from the counts of jumps."""
        place = np.arange(size)
        jump = np.clip(place[None, :] - place[:, None], -REACH, REACH) + REACH
        matrix = self.jumps[jump]
        normal: Floats = (matrix / matrix.sum(1, keepdims=True)).astype(np.float32)
        return normal

    def _posterior(self, emission: Floats, real: NDArray[np.bool_], jumps: NDArray[np.float64]) -> Floats:
        """Probability of each link, "none" first, by forward and backward; adds to the counts of jumps."""
        words = (1 - P0) * emission[:, :, 1:]
        both = words + P0 * emission[:, :, :1]
        both = np.where(real[:, :, None], both / both.max(2, keepdims=True).clip(1e-30), np.float32(1))
        n, size = both.shape[1:]
        move = self._transitions(size)
        forward, backward = np.empty_like(both), np.ones_like(both)
        forward[:, 0] = both[:, 0] / both[:, 0].sum(1, keepdims=True)
        for j in range(1, n):
            step = (forward[:, j - 1] @ move) * both[:, j]
            forward[:, j] = step / step.sum(1, keepdims=True).clip(1e-30)
        pairs = np.zeros((size, size), np.float64)
        for j in range(n - 1, 0, -1):
            behind = both[:, j] * backward[:, j]
            behind /= behind.sum(1, keepdims=True).clip(1e-30)
            step = behind @ move.T
            backward[:, j - 1] = step / step.sum(1, keepdims=True).clip(1e-30)
            scale = (forward[:, j - 1] * step).sum(1, keepdims=True).clip(1e-30)
            pairs += (forward[:, j - 1] * real[:, j, None] / scale).T @ behind
        place = np.arange(size)
        jump = np.clip(place[None, :] - place[:, None], -REACH, REACH) + REACH
        np.add.at(jumps, jump.ravel(), (pairs * move).ravel())
        state = forward * backward
        state /= state.sum(2, keepdims=True).clip(1e-30)
        linked = state * (words / (words + P0 * emission[:, :, :1]))
        none = (1 - linked.sum(2, keepdims=True)).clip(0)
        return np.concatenate([none, linked], axis=2)


def symmetrise(forward: NDArray[np.bool_], backward: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Links of both directions, [b, target, source]: grow-diag-final-and, a whole ring at a time.

    Begins with the links that both have; adds links that one has beside those, where a word has none yet;
    at last those of either between two words that have none.
    """
    union = forward | backward
    links = forward & backward
    while True:
        around = np.pad(links, ((0, 0), (1, 1), (1, 1)))
        height, width = links.shape[1:]
        near = np.zeros_like(links)
        for up in range(3):
            for left in range(3):
                near |= around[:, up : up + height, left : left + width]
        free = ~links.any(2, keepdims=True) | ~links.any(1, keepdims=True)
        new = union & near & free & ~links
        if not new.any():
            break
        links |= new
    for one in (forward, backward):
        links |= one & ~links.any(2, keepdims=True) & ~links.any(1, keepdims=True)
    return links
