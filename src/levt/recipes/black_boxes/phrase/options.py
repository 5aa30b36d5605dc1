"""Translation options of a batch of sentences: every phrase that covers a span of one. Knows no search."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from levt.recipes.black_boxes.phrase.corpus import UNKNOWN
from levt.recipes.black_boxes.phrase.hashing import Index, Ints, Keys, span_keys
from levt.recipes.black_boxes.phrase.language_model import LanguageModel

Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class PhraseTable:
    """Source phrases and what they may become."""

    keys: Keys
    """One for each source phrase."""
    starts: Ints
    """Where its options begin; one more than there are."""
    scores: Floats
    """[options, 4]: log φ(t|s), φ(s|t), lex(t|s), lex(s|t)."""
    words: Ints
    """[options, longest]: target words, -1 after the last."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", Index(self.keys))

    index: Index = None  # type: ignore[assignment]
    """From keys to rows; made here."""

    @property
    def longest(self) -> int:
        """Words of the longest phrase."""
        return int(self.words.shape[1])


@dataclass(frozen=True, kw_only=True)
class Weights:
    """How much each feature counts."""

    direct: float = 0.25
    """φ(t|s)."""
    inverse: float = 0.20
    """φ(s|t)."""
    lexical: float = 0.08
    """lex(t|s)."""
    inverse_lexical: float = 0.20
    """lex(s|t)."""
    language: float = 0.45
    """The language model."""
    distortion: float = 0.25
    """Each word that is jumped over."""
    word: float = 0.60
    """Each word that is written: more makes longer texts."""
    phrase: float = 0.12
    """Each phrase that is used: more makes shorter phrases."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """All options of a batch, sorted by sentence, first word and length."""

    sentence: Ints
    start: Ints
    length: Ints
    words: Ints
    """[options, longest]: target words, -1 after the last."""
    count: Ints
    """How many words."""
    score: Floats
    """Everything that does not depend on what stands before."""
    guess: Floats
    """What the language model says of the first words without knowing what stands before."""
    ends: Ints
    """[sentences, words, lengths + 1]: where the options of up to each length end; the first: where they begin."""


def find_options(
    sentences: Ints, lengths: Ints, table: PhraseTable, model: LanguageModel, weights: Weights, copies: Ints
) -> Options:
    """The options of padded sentences; ``copies`` holds the numbers of words that pass as they are."""
    parts = [_unknown_words(sentences, lengths, table, copies)]
    width = sentences.shape[1]
    # One row after the other; spans that cross into the next row are sorted out by the lengths.
    for n, keys in enumerate(span_keys(sentences.ravel(), table.longest), 1):
        rows = table.index.find(keys)
        place = np.flatnonzero(rows >= 0)
        place = place[place % width + n <= lengths[place // width]]
        begin = table.starts[rows[place]]
        number = table.starts[rows[place] + 1] - begin
        option = ragged(begin, number)
        place = np.repeat(place, number)
        features = table.scores[option] @ np.array(
            [weights.direct, weights.inverse, weights.lexical, weights.inverse_lexical], np.float32
        )
        parts.append((place // width, place % width, np.full(len(place), n), table.words[option], features))
    sentence, start, length, words, score = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((length, start, sentence))
    sentence, start, length, words, score = (a[order] for a in (sentence, start, length, words, score))
    count = (words >= 0).sum(1)
    guess, rest = alone(model, words, weights.language)
    key = (sentence * width + start) * (table.longest + 1) + length
    grid = np.arange(len(sentences) * width * (table.longest + 1))
    ends = np.searchsorted(key, grid, side="right").reshape(len(sentences), width, table.longest + 1)
    return Options(
        sentence=sentence,
        start=start,
        length=length,
        words=words,
        count=count,
        score=(score + rest + weights.word * count - weights.phrase).astype(np.float32),
        guess=guess,
        ends=ends,
    )


def _unknown_words(
    sentences: Ints, lengths: Ints, table: PhraseTable, copies: Ints
) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Words without an option of their own are options of themselves."""
    row, column = np.nonzero(np.arange(sentences.shape[1]) < lengths[:, None])
    alone = table.index.find(span_keys(sentences[row, column], 1)[0]) < 0
    alone |= sentences[row, column] == UNKNOWN
    row, column = row[alone], column[alone]
    words = np.full((len(row), table.longest), -1)
    words[:, 0] = copies[row, column]
    return row, column, np.ones(len(row), np.int64), words, np.full(len(row), -10, np.float32)


def alone(model: LanguageModel, words: Ints, weight: float) -> tuple[Floats, Floats]:
    """Weighted log p of phrases by themselves: of the first words, whose context is not known, and of the rest."""
    context = model.order - 1
    padded = np.pad(words, ((0, 0), (context, 0)), constant_values=-1)
    first, rest = np.zeros(len(words), np.float32), np.zeros(len(words), np.float32)
    for k in range(words.shape[1]):
        there = np.flatnonzero(words[:, k] >= 0)
        logs = weight * model.log_p(padded[there, k : k + model.order])
        (first if k < context else rest)[there] += logs
    return first, rest


def ragged(begin: Ints, number: Ints) -> Ints:
    """The ranges begin … begin + number, one after the other.

    >>> ragged(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(number)
    return np.repeat(begin - (ends - number), number) + np.arange(int(ends[-1]) if len(ends) else 0)
