"""Phrase pairs of aligned sentences, and their scores. Knows no decoder.

A pair of spans is a phrase pair when no link leads from inside to outside and at least one lies inside (Och and
Ney, 2004); unaligned words beside the target span may join it. Since no link leads outside, the lexical weight of
a span is a product over its words, whatever phrase they are in: differences of running sums give them all.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from levt.recipes.black_boxes.phrase.alignment import Aligner, symmetrise
from levt.recipes.black_boxes.phrase.corpus import Side
from levt.recipes.black_boxes.phrase.hashing import PRIME, Ints, Keys, random_of, span_keys

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

JOINING = 2
"""Unaligned words that may join a target span on either side, at most."""
DISCOUNT = 0.5
"""Taken from every count, so that what was seen once is not certain."""


@dataclass(frozen=True, kw_only=True)
class Spans:
    """Occurrences of phrase pairs: first word (in the flat corpus) and length on both sides."""

    # There are about a hundred for each sentence: small types halve what training needs.
    source: NDArray[np.int32]
    source_length: NDArray[np.int8]
    target: NDArray[np.int32]
    target_length: NDArray[np.int8]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Distinct phrase pairs, one after the other for each source phrase, the best first."""

    keys: Keys
    """One for each source phrase."""
    starts: Ints
    """Where the options of each source phrase begin; one more than there are."""
    scores: Floats
    """[pairs, 4]: log φ(t|s), φ(s|t), lex(t|s), lex(s|t)."""
    target: Ints
    """Where in the flat target corpus the target phrase stands."""
    target_length: Ints
    """Its words."""


def extract(links: Bools, source_starts: Ints, target_starts: Ints, real: Bools, most: int) -> Spans:
    """All phrase pairs of a block; links are [b, target, source], ``real`` marks target words, not padding."""
    n, size = links.shape[1:]
    aligned = links.any(2)
    # For every source word its first and last target word, and the other way round.
    first_y = np.where(links.any(1), links.argmax(1), n)
    last_y = np.where(links.any(1), n - 1 - links[:, ::-1].argmax(1), -1)
    first_x = np.where(aligned, links.argmax(2), size)
    last_x = np.where(aligned, size - 1 - links[:, :, ::-1].argmax(2), -1)
    lowest, highest = [first_x], [last_x]
    for length in range(1, most):
        lowest.append(np.minimum(lowest[-1][:, : max(n - length, 0)], first_x[:, length:]))
        highest.append(np.maximum(highest[-1][:, : max(n - length, 0)], last_x[:, length:]))
    low, high = (np.stack([_wide(a, n) for a in arrays], 2) for arrays in (lowest, highest))
    before, after = _free_runs(real & ~aligned)
    found: list[tuple[Ints, ...]] = []
    for length in range(1, min(most, size) + 1):
        if length == 1:
            y0, y1 = first_y, last_y
        else:
            y0 = np.minimum(y0[:, :-1], first_y[:, length - 1 :])
            y1 = np.maximum(y1[:, :-1], last_y[:, length - 1 :])
        row, x = np.nonzero((y0 <= y1) & (y1 - y0 < most))
        begin, end = y0[row, x], y1[row, x]
        inside = (low[row, begin, end - begin] >= x) & (high[row, begin, end - begin] < x + length)
        row, x, begin, end = row[inside], x[inside], begin[inside], end[inside]
        for left in range(JOINING + 1):
            for right in range(JOINING + 1):
                count = end - begin + 1 + left + right
                fits = (left <= before[row, begin]) & (right <= after[row, end]) & (count <= most)
                r = row[fits]
                found.append(
                    (
                        source_starts[r] + x[fits],
                        np.full(len(r), length),
                        target_starts[r] + begin[fits] - left,
                        count[fits],
                    )
                )
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    return Spans(
        source=columns[0].astype(np.int32),
        source_length=columns[1].astype(np.int8),
        target=columns[2].astype(np.int32),
        target_length=columns[3].astype(np.int8),
    )


def _wide(array: Ints, width: int) -> Ints:
    """The array with its last columns filled by what no span may have."""
    return np.pad(array, ((0, 0), (0, width - array.shape[1])), constant_values=-1)


def _free_runs(free: Bools) -> tuple[Ints, Ints]:
    """How many free words stand directly before, and after, each word."""
    before, after = np.zeros(free.shape, np.int64), np.zeros(free.shape, np.int64)
    for j in range(1, free.shape[1]):
        before[:, j] = np.where(free[:, j - 1], before[:, j - 1] + 1, 0)
        after[:, -1 - j] = np.where(free[:, -j], after[:, -j] + 1, 0)
    return before, after


class Lexicon:
    """Log-weights of single words given what they are linked to, in both directions, over the flat corpus."""

    def __init__(self, source: Side, target: Side) -> None:
        self.source, self.target = source, target
        self._links: list[tuple[Ints, Ints]] = []

    def add(self, links: Bools, rows: Ints) -> None:
        """Count the links of a block."""
        row, y, x = np.nonzero(links)
        self._links.append((self.source.starts[rows][row] + x, self.target.starts[rows][row] + y))

    def sums(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Running sums of log w over source words, given the target, and over target words, given the source."""
        x, y = (np.concatenate(column) for column in zip(*self._links, strict=True))
        ones = self._weights(self.source.words, x, self.target.words, y)
        others = self._weights(self.target.words, y, self.source.words, x)
        return ones, others

    @staticmethod
    def _weights(words: Ints, place: Ints, given: Ints, origin: Ints) -> NDArray[np.float64]:
        """Running sums of log (mean over links of count(word, given) / count(given))."""
        with np.errstate(over="ignore"):
            key = random_of(words[place]) * PRIME + random_of(given[origin])
        _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
        totals = np.bincount(given[origin], minlength=int(given.max()) + 1)
        weight = counts[inverse] / totals[given[origin]]
        links = np.bincount(place, minlength=len(words))
        mean = np.bincount(place, weights=weight, minlength=len(words)) / np.maximum(links, 1)
        alone = np.bincount(words[links == 0], minlength=int(words.max()) + 1)
        none = alone[words] / max(int(alone.sum()), 1)
        return np.concatenate([[0.0], np.cumsum(np.log(np.where(links > 0, mean, none).clip(1e-7)))])


def phrase_pairs(
    forward: Aligner, backward: Aligner, blocks: list[Ints], *, most: int, options: int
) -> Pairs:
    """Align both ways, extract, count and score; keep so many options for each source phrase."""
    source, target = forward.source, forward.target
    lexicon = Lexicon(source, target)
    spans: list[Spans] = []
    for rows in blocks:
        links = forward.align(rows)
        # The other direction has its sources, our targets, of different lengths: align them row by length.
        links = symmetrise(links, _backward(backward, rows, links.shape))
        lexicon.add(links, rows)
        real = np.arange(links.shape[1]) < target.lengths[rows][:, None]
        spans.append(extract(links, source.starts[rows], target.starts[rows], real, most))
    all_spans = Spans(
        **{
            name: np.concatenate([getattr(span, name) for span in spans])
            for name in ("source", "source_length", "target", "target_length")
        }
    )
    return score(all_spans, source, target, lexicon, most=most, options=options)


def _backward(aligner: Aligner, rows: Ints, shape: tuple[int, ...]) -> Bools:
    """Links of the other direction in the same form, [b, target, source]."""
    links = np.zeros(shape, np.bool_)
    lengths = aligner.source.lengths[rows]
    for length in np.unique(lengths):
        those = np.flatnonzero(lengths == length)
        links[those, :length] = aligner.align(rows[those]).transpose(0, 2, 1)
    return links


def score(spans: Spans, source: Side, target: Side, lexicon: Lexicon, *, most: int, options: int) -> Pairs:
    """Distinct pairs with their scores; the best options of each source phrase."""
    keys_x, keys_y = span_keys(source.words, most), span_keys(target.words, most)
    x = np.empty(len(spans.source), np.uint64)
    y = np.empty_like(x)
    for length in range(1, most + 1):
        those = spans.source_length == length
        x[those] = keys_x[length - 1][spans.source[those]]
        those = spans.target_length == length
        y[those] = keys_y[length - 1][spans.target[those]]
    with np.errstate(over="ignore"):
        both = x * PRIME + y
    _, first, counts = np.unique(both, return_index=True, return_counts=True)
    del both, keys_x, keys_y
    x, y = x[first], y[first]
    phrases_x, of_x = np.unique(x, return_inverse=True)
    _, of_y = np.unique(y, return_inverse=True)
    ones, others = lexicon.sums()
    begin, start = spans.source[first].astype(np.int64), spans.target[first].astype(np.int64)
    end, stop = begin + spans.source_length[first], start + spans.target_length[first]
    scores = np.stack(
        [
            np.log((counts - DISCOUNT) / np.bincount(of_x, weights=counts)[of_x]),
            np.log((counts - DISCOUNT) / np.bincount(of_y, weights=counts)[of_y]),
            others[stop] - others[start],
            ones[end] - ones[begin],
        ],
        axis=1,
    ).astype(np.float32)
    order = np.lexsort((-scores.sum(1), of_x))
    sizes = np.bincount(of_x, minlength=len(phrases_x))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    order = order[rank < options]
    return Pairs(
        keys=phrases_x,
        starts=np.concatenate([[0], np.cumsum(np.minimum(sizes, options))]),
        scores=scores[order],
        target=start[order],
        target_length=(stop - start)[order],
    )
