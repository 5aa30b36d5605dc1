"""The stack decoder: the best sequence of phrases that covers a sentence. Knows neither texts nor training.

Hypotheses with equally many covered words compete (Koehn et al., 2003), for all sentences of a batch at the same
time: coverage is a bit for each word, and every step is a few operations on long arrays. A hypothesis is
first judged by a guess of the language model; only the most promising get its real answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from levt.errors import ConfigError, raise_all
from levt.recipes.black_boxes.phrase.corpus import BEGIN, END
from levt.recipes.black_boxes.phrase.hashing import PRIME, Ints, Keys, random_of
from levt.recipes.black_boxes.phrase.language_model import LanguageModel
from levt.recipes.black_boxes.phrase.options import Options, PhraseTable, Weights, find_options, ragged

Floats = NDArray[np.float32]

LONGEST = 52
"""Words of a sentence that can be covered: the exponent of a float finds single bits only so far."""
HOPELESS = np.float32(-1e9)


@dataclass(frozen=True, kw_only=True)
class Search:
    """How hard to search."""

    beam: int = 16
    """Hypotheses kept in each stack."""
    judged: int = 48
    """Hypotheses of each stack that the language model judges exactly."""
    distortion: int = 3
    """How many words a phrase may be written too early."""
    margin: float = 6.0
    """Hypotheses that are this much worse than the best guess of their stack are dropped unjudged."""

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be at least {least}, got {getattr(self, name)}"
            for name, least in (("beam", 1), ("judged", 1), ("distortion", 0), ("margin", 0))
            if getattr(self, name) < least
        ]
        raise_all(ConfigError, "search", problems, hint="leave them out for the defaults")


@dataclass
class Stack:
    """Hypotheses that have covered equally many words."""

    sentence: Ints
    covered: Keys
    last: Ints
    """The end of the source span written last."""
    score: Floats
    future: Floats
    """What the rest can bring at best."""
    context: Ints
    """[hypotheses, order - 1]: the last words."""
    node: Ints
    """Where their history lies."""

    def __getitem__(self, rows: NDArray[np.generic]) -> "Stack":
        return Stack(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def decode(
    sentences: Ints,
    lengths: Ints,
    table: PhraseTable,
    model: LanguageModel,
    weights: Weights,
    search: Search,
    copies: Ints,
) -> list[list[int]]:
    """The best target words of each padded sentence of at most ``LONGEST`` words, none of them empty."""
    options = find_options(sentences, lengths, table, model, weights, copies)
    return _Decoding(options, lengths, model, weights, search).run()


class _Decoding:
    """One batch on its way."""

    def __init__(
        self, options: Options, lengths: Ints, model: LanguageModel, weights: Weights, search: Search
    ) -> None:
        self.options, self.lengths, self.model = options, lengths, model
        self.weights, self.search = weights, search
        self.ahead = future(options, lengths)
        self.pending: list[list[tuple[NDArray[np.generic], ...]]] = [[] for _ in range(lengths.max() + 1)]
        self.parents: list[Ints] = [np.full(len(lengths), -1)]
        self.used: list[Ints] = [np.full(len(lengths), -1)]
        self.nodes = len(lengths)

    def run(self) -> list[list[int]]:
        """From empty coverage to full."""
        count = len(self.lengths)
        rows = np.arange(count)
        context = np.full((count, self.model.order - 1), -1)
        context[:, -1:] = BEGIN
        stack = Stack(
            rows,
            np.zeros(count, np.uint64),
            np.zeros(count, np.int64),
            np.zeros(count, np.float32),
            self.ahead[rows, 0, self.lengths],
            context,
            rows,
        )
        final = np.full(count, -1)
        for number in range(int(self.lengths.max()) + 1):
            if number:
                stack = self.judge(number)
            done = self.lengths[stack.sentence] == number
            if done.any():
                self.finish(stack[done], final)
                stack = stack[~done]
            if len(stack.sentence):
                self.expand(stack, number)
            self.pending[number] = []
        return self.trace(final)

    def expand(self, stack: Stack, number: int) -> None:
        """Every option that may follow each hypothesis, with a guess of its worth."""
        limit = self.search.distortion
        bits, n = stack.covered, self.lengths[stack.sentence]
        first = lowest_bit(~bits & (bits + np.uint64(1)))
        start = first[:, None] + np.arange(limit + 1)
        free = (bits[:, None] >> np.minimum(start, 63).astype(np.uint64)) & np.uint64(1) == 0
        allowed = free & (start < n[:, None]) & (np.abs(start - stack.last[:, None]) <= limit)
        # Where the limit forbids everything, the first free word is always allowed.
        allowed[:, 0] |= ~allowed.any(1)
        row, column = np.nonzero(allowed)
        start = start[row, column]
        sentence, bits, n = stack.sentence[row], bits[row], n[row]
        above = bits >> start.astype(np.uint64)
        gap_end = np.where(above == 0, n, start + lowest_bit(above & (~above + np.uint64(1))))
        below = bits & ((np.uint64(1) << start.astype(np.uint64)) - np.uint64(1))
        gap_start = highest_bit(below) + 1
        room = gap_end - start
        # After a jump, the first free word must stay within reach.
        room = np.where(column > 0, np.minimum(room, first[row] + limit + 1 - start), room)
        room = np.clip(room, 0, self.options.ends.shape[2] - 1)
        begin = self.options.ends[sentence, start, 0]
        size = self.options.ends[sentence, start, room] - begin
        option = ragged(begin, size)
        via = np.repeat(np.arange(len(row)), size)
        row, start, sentence = row[via], start[via], sentence[via]
        end = start + self.options.length[option]
        jump = np.abs(start - stack.last[row]).astype(np.float32)
        rest = stack.future[row] - self.ahead[sentence, gap_start[via], gap_end[via]]
        rest += self.ahead[sentence, gap_start[via], start] + self.ahead[sentence, end, gap_end[via]]
        score = stack.score[row] + self.options.score[option] - np.float32(self.weights.distortion) * jump
        guess = score + self.options.guess[option] + rest
        length = self.options.length[option]
        node, context = stack.node[row], stack.context[row]
        covered = stack.covered[row]
        for step in range(1, self.options.ends.shape[2]):
            those = np.flatnonzero(length == step)
            if len(those):
                columns = (guess, score, rest, sentence, option, node, context, covered)
                self.pending[number + step].append(tuple(column[those] for column in columns))

    def judge(self, number: int) -> Stack:
        """The best hypotheses of a stack, with the real language model; of equal ones the better."""
        columns = (np.concatenate(column) for column in zip(*self.pending[number], strict=True))
        guess, score, rest, sentence, option, node, context, covered = columns
        keep = best(guess, sentence, self.search.judged, len(self.lengths), self.search.margin)
        score, rest, sentence, option = score[keep], rest[keep], sentence[keep], option[keep]
        node, context, covered = node[keep], context[keep], covered[keep]
        words, count = self.options.words[option], self.options.count[option]
        width = self.model.order - 1
        both = np.concatenate([context, words], axis=1)
        for k in range(min(width, words.shape[1])):
            there = np.flatnonzero(k < count)
            logs = self.model.log_p(both[there, k : k + self.model.order])
            score[there] += np.float32(self.weights.language) * logs
        rows = np.arange(len(both))[:, None]
        context = both[rows, count[:, None] + np.arange(width)]
        start, length = self.options.start[option], self.options.length[option]
        span = ((np.uint64(1) << length.astype(np.uint64)) - np.uint64(1)) << start.astype(np.uint64)
        covered, last = covered | span, start + length
        total = score + rest
        with np.errstate(over="ignore"):
            state = random_of(sentence) + random_of(covered) * PRIME
            for column in (*context.T, last):
                state = state * PRIME + random_of(column)
        order = np.argsort(-total, kind="stable")
        _, first = np.unique(state[order], return_index=True)
        unique = order[first]
        keep = unique[best(total[unique], sentence[unique], self.search.beam, len(self.lengths), np.inf)]
        self.parents.append(node[keep])
        self.used.append(option[keep])
        nodes = self.nodes + np.arange(len(keep))
        self.nodes += len(keep)
        return Stack(sentence[keep], covered[keep], last[keep], score[keep], rest[keep], context[keep], nodes)

    def finish(self, stack: Stack, final: Ints) -> None:
        """Choose among hypotheses that have covered everything."""
        ending = np.concatenate([stack.context, np.full((len(stack.sentence), 1), END)], axis=1)
        total = stack.score + np.float32(self.weights.language) * self.model.log_p(ending)
        order = np.argsort(total, kind="stable")
        final[stack.sentence[order]] = stack.node[order]

    def trace(self, final: Ints) -> list[list[int]]:
        """The words of the winners, from their last phrase to their first."""
        parents, used = np.concatenate(self.parents), np.concatenate(self.used)
        texts: list[list[int]] = []
        for node in final.tolist():
            phrases: list[Sequence[int]] = []
            while used[node] >= 0:
                phrases.append(self.options.words[used[node], : self.options.count[used[node]]].tolist())
                node = int(parents[node])
            texts.append([word for phrase in reversed(phrases) for word in phrase])
        return texts


def future(options: Options, lengths: Ints) -> Floats:
    """[sentences, from, to]: the best that a span can bring, context and order aside."""
    count, width = len(lengths), int(lengths.max())
    ahead = np.full((count, width + 1, width + 1), HOPELESS, np.float32)
    place = np.arange(width + 1)
    ahead[:, place, place] = 0
    end = options.start + options.length
    np.maximum.at(ahead, (options.sentence, options.start, end), options.score + options.guess)
    for length in range(2, width + 1):
        begin = np.arange(width + 1 - length)
        for split in range(1, length):
            both = ahead[:, begin, begin + split] + ahead[:, begin + split, begin + length]
            ahead[:, begin, begin + length] = np.maximum(ahead[:, begin, begin + length], both)
    return ahead


def best(scores: Floats, groups: Ints, most: int, count: int, margin: float) -> Ints:
    """Rows of the best of each group, so many at most and none worse than the best by the margin.

    >>> best(np.array([1, 5, 2, 4], np.float32), np.array([0, 0, 0, 1]), 2, 2, np.inf).tolist()
    [1, 2, 3]
    """
    top = np.full(count, HOPELESS * 2, np.float32)
    np.maximum.at(top, groups, scores)
    behind = top[groups] - scores
    rows = np.flatnonzero(behind <= margin)
    # One number sorts by group first: what is behind by more than 10⁶ is equally hopeless.
    order = rows[np.argsort(groups[rows] * 1e7 + np.minimum(behind[rows], 1e6), kind="stable")]
    sizes = np.bincount(groups[order], minlength=count)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[rank < most]


def lowest_bit(single: Keys) -> Ints:
    """The place of the only bit that is set."""
    return np.frexp(single.astype(np.float64))[1].astype(np.int64) - 1


def highest_bit(bits: Keys) -> Ints:
    """The place of the highest bit that is set; -1 where there is none.

    >>> highest_bit(np.array([0, 1, 6, 2**52 - 1], np.uint64)).tolist()
    [-1, 0, 2, 51]
    """
    return np.frexp(bits.astype(np.float64))[1].astype(np.int64) - 1
