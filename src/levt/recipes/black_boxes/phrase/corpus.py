"""Sentence pairs as numbers: flat arrays of words and where each sentence begins. Knows no model."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from levt.recipes.black_boxes.phrase.hashing import Ints

UNKNOWN, BEGIN, END = 0, 1, 2
"""Numbers that no word has: of unknown words (and of no word, in alignments), and of the boundaries."""
FIRST = 3
CELLS = 400_000
"""Source words times target words, which are aligned together."""


class Vocabulary:
    """Words and their numbers, from 3; the most frequent come first."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self.numbers = {word: i for i, word in enumerate(self.words, FIRST)}

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> "Vocabulary":
        """All words of these sentences."""
        counts = Counter(word for sentence in sentences for word in sentence)
        return cls(sorted(counts, key=lambda word: (-counts[word], word)))

    def __len__(self) -> int:
        return FIRST + len(self.words)

    def encode(self, sentence: Sequence[str]) -> list[int]:
        """The numbers of words."""
        return [self.numbers.get(word, UNKNOWN) for word in sentence]


@dataclass(frozen=True, kw_only=True)
class Side:
    """One language of a corpus."""

    words: Ints
    """The words of all sentences, one after the other."""
    starts: Ints
    """Where each sentence begins; one more than there are sentences."""

    @classmethod
    def of(cls, sentences: Sequence[Sequence[int]]) -> "Side":
        """From sentences of numbers."""
        lengths = np.array([len(sentence) for sentence in sentences], np.int64)
        flat = np.fromiter((w for sentence in sentences for w in sentence), np.int64, int(lengths.sum()))
        return cls(words=flat, starts=np.concatenate([[0], np.cumsum(lengths)]))

    @property
    def lengths(self) -> Ints:
        """Words of each sentence."""
        return np.diff(self.starts)

    def padded(self, rows: Ints) -> Ints:
        """Some sentences as a matrix, unknown words at the ends of the shorter ones."""
        lengths = self.lengths[rows]
        column = np.arange(lengths.max(initial=0))
        place = np.minimum(self.starts[rows][:, None] + column, len(self.words) - 1)
        return np.where(column < lengths[:, None], self.words[place], UNKNOWN)


def blocks(source: Side, target: Side) -> list[Ints]:
    """Rows of pairs with equally long sources and similar targets, of so many cells at most."""
    order = np.lexsort((target.lengths, source.lengths))
    found: list[Ints] = []
    for group in np.split(order, np.flatnonzero(np.diff(source.lengths[order])) + 1):
        width = int(source.lengths[group[0]]) * int(target.lengths[group].max())
        size = max(1, CELLS // max(width, 1))
        found += [group[i : i + size] for i in range(0, len(group), size)]
    return found
