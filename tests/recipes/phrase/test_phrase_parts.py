"""The parts of the phrase-based system against obvious versions of themselves."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from levt.recipes.black_boxes.phrase.alignment import Aligner, symmetrise
from levt.recipes.black_boxes.phrase.corpus import BEGIN, END, FIRST, Side, blocks
from levt.recipes.black_boxes.phrase.decoder import Search, decode
from levt.recipes.black_boxes.phrase.extraction import JOINING, extract
from levt.recipes.black_boxes.phrase.hashing import Index, span_keys
from levt.recipes.black_boxes.phrase.language_model import LanguageModel
from levt.recipes.black_boxes.phrase.options import PhraseTable, Weights
from levt.recipes.black_boxes.phrase.words import join_words, split_words

TABLE = Weights().direct + Weights().inverse + Weights().lexical + Weights().inverse_lexical
"""Weight of a log-probability that is the same in all four columns of the table."""


@given(st.text(st.characters(exclude_characters="￭", exclude_categories=["Cs"]), max_size=40))
def test_words_give_the_text_back_but_for_spaces(text: str) -> None:
    words = split_words(text)
    assert join_words(words) == " ".join(text.split())
    assert not any(character.isspace() for word in words for character in word)
    # Words that were joined and are split again are the same: one sentence, one sequence of words.
    assert split_words(join_words(words)) == words


@given(st.sets(st.integers(0, 2**64 - 1), max_size=50), st.lists(st.integers(0, 2**64 - 1), max_size=20))
def test_index_finds_what_is_there_and_nothing_else(keys: set[int], others: list[int]) -> None:
    listed = list(keys)
    # Neighbouring keys want the same places.
    asked = [*listed, *others, *((key + 1) % 2**64 for key in listed)]
    found = Index(np.array(listed, np.uint64)).find(np.array(asked, np.uint64))
    assert found.tolist() == [listed.index(key) if key in keys else -1 for key in asked]


sentences = st.lists(st.lists(st.integers(FIRST, 8), min_size=1, max_size=6), min_size=1, max_size=12)


@settings(max_examples=40)
@given(sentences, st.integers(2, 4))
@example([[FIRST]], 4)
def test_probabilities_after_any_history_sum_to_one(texts: list[list[int]], order: int) -> None:
    model = LanguageModel.train(Side.of(texts), 9, order=order)
    # Everything that can come: the words of the vocabulary 3 … 8, one unknown, and the end.
    words = [*range(FIRST, 9), END, 99]
    bounded = [[-1] * (order - 2) + [BEGIN, *text] for text in texts]
    for text in bounded[:3]:
        for i in range(len(text) - order + 2):
            history = text[i : i + order - 1]
            logs = model.log_p(np.array([[*history, word] for word in words]))
            assert np.exp(logs.astype(np.float64)).sum() == pytest.approx(1, abs=1e-4)


def test_language_model_against_the_formula() -> None:
    # Two orders, by hand: a b, a b, a c. Counts of counts are too few, so D = 0.5, 1, 1.5.
    a, b, c = 3, 4, 5
    model = LanguageModel.train(Side.of([[a, b], [a, b], [a, c]]), 6, order=2)
    # Left neighbours: a after <s>; b, c after a; </s> after b and c: 5 in all.
    uniform = 1 / 5
    left = (0.5 * 3 + 1.0) / 5
    lower = {a: 0.5 / 5 + left * uniform, b: 0.5 / 5 + left * uniform, c: 0.5 / 5 + left * uniform}
    gamma = (1.0 + 0.5) / 3
    expected = {b: (2 - 1.0) / 3 + gamma * lower[b], c: (1 - 0.5) / 3 + gamma * lower[c], a: gamma * lower[a]}
    found = model.log_p(np.array([[a, word] for word in expected]))
    assert np.exp(found) == pytest.approx(list(expected.values()), rel=1e-5)


links = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=5)
)


def naive_pairs(matrix: list[list[bool]], most: int) -> set[tuple[int, int, int, int]]:
    """Every pair of spans with a link inside and none from inside to outside; few free words at the ends."""
    n, size = len(matrix), len(matrix[0])
    points = [(y, x) for y in range(n) for x in range(size) if matrix[y][x]]
    found = set()
    for x0, x1 in itertools.combinations(range(size + 1), 2):
        for y0, y1 in itertools.combinations(range(n + 1), 2):
            inside = [(y, x) for y, x in points if x0 <= x < x1 and y0 <= y < y1]
            crossing = any((x0 <= x < x1) != (y0 <= y < y1) for y, x in points)
            if not inside or crossing or x1 - x0 > most or y1 - y0 > most:
                continue
            ys = [y for y, _ in inside]
            if min(ys) - y0 <= JOINING and y1 - 1 - max(ys) <= JOINING:
                found.add((x0, x1 - x0, y0, y1 - y0))
    return found


@given(links, st.integers(1, 4), st.integers(0, 2))
def test_extraction_against_the_definition(matrix: list[list[bool]], most: int, padding: int) -> None:
    n = len(matrix)
    array = np.zeros((2, n + padding, len(matrix[0])), np.bool_)
    array[1, :n] = matrix
    real = np.arange(n + padding) < np.array([[0], [n]])
    spans = extract(array, np.array([0, 100]), np.array([0, 200]), real, most)
    found = zip(
        (spans.source - 100).tolist(),
        spans.source_length.tolist(),
        (spans.target - 200).tolist(),
        spans.target_length.tolist(),
        strict=True,
    )
    listed = list(found)
    assert len(listed) == len(set(listed))
    assert set(listed) == naive_pairs(matrix, most)


def test_symmetrised_links_lie_between_both() -> None:
    random = np.random.default_rng(0)
    one, two = random.random((2, 30, 6, 7)) < 0.25
    links = symmetrise(one, two)
    assert not (links & ~(one | two)).any()
    assert not (one & two & ~links).any()
    # No word is left alone that a link could join to another word that is alone.
    alone = ~links.any(2, keepdims=True) & ~links.any(1, keepdims=True)
    assert not ((one | two) & alone).any()


def test_alignment_of_a_cipher() -> None:
    random = np.random.default_rng(1)
    texts = [random.integers(FIRST, 23, random.integers(2, 9)).tolist() for _ in range(200)]
    source = Side.of(texts)
    target = Side.of([[word + 20 for word in reversed(text)] for text in texts])
    aligner = Aligner(source, target, 43)
    aligner.fit(blocks(source, target), independent=3, chained=2)
    right = total = 0
    for row, text in enumerate(texts[:40]):
        found = aligner.align(np.array([row]))[0]
        right += int(np.trace(found[:, ::-1]))
        total += len(text)
    assert right / total > 0.95


def naive_best(
    sentence: list[int],
    options: dict[tuple[int, ...], list[tuple[tuple[int, ...], float]]],
    model: LanguageModel,
) -> float:
    """The best score over every segmentation, every order and every choice, without any limit."""
    weights = Weights()
    n = len(sentence)
    scores = []
    for cuts in itertools.product([False, True], repeat=n - 1):
        ends = [i + 1 for i, cut in enumerate(cuts) if cut] + [n]
        spans = list(zip([0, *ends[:-1]], ends, strict=True))
        if any(tuple(sentence[i:j]) not in options for i, j in spans):
            continue
        for order in itertools.permutations(spans):
            last = jumps = 0
            for i, j in order:
                jumps += abs(i - last)
                last = j
            for chosen in itertools.product(*(options[tuple(sentence[i:j])] for i, j in order)):
                words = [w for text, _ in chosen for w in text]
                score = sum(TABLE * log for _, log in chosen) - weights.distortion * jumps
                score += weights.word * len(words) - weights.phrase * len(chosen)
                scores.append(score + weights.language * sentence_log(model, words))
    return max(scores)


def sentence_log(model: LanguageModel, words: list[int]) -> float:
    history = [-1, BEGIN, *words, END]
    rows = [history[i : i + model.order] for i in range(len(history) - model.order + 1)]
    return float(model.log_p(np.array(rows)).sum())


def score_of(words: list[int], sentence: list[int], options: dict, model: LanguageModel) -> float:  # type: ignore[type-arg]
    """The best score of a given output."""
    weights = Weights()
    n, best = len(sentence), -math.inf

    def cover(done: frozenset[int], last: int, written: tuple[int, ...], score: float) -> None:
        nonlocal best
        if tuple(words[: len(written)]) != written:
            return
        if len(done) == n:
            if list(written) == words:
                best = max(best, score + weights.language * sentence_log(model, words))
            return
        for i in range(n):
            for j in range(i + 1, n + 1):
                span = range(i, j)
                if done.isdisjoint(span):
                    for text, log in options.get(tuple(sentence[i:j]), []):
                        more = TABLE * log - weights.distortion * abs(i - last)
                        more += weights.word * len(text) - weights.phrase
                        cover(done | set(span), j, written + text, score + more)

    cover(frozenset(), 0, (), 0.0)
    return best


@pytest.mark.parametrize("seed", range(6))
def test_decoder_finds_what_exhaustive_search_finds(seed: int) -> None:
    random = np.random.default_rng(seed)
    texts = [random.integers(FIRST, 12, 6).tolist() for _ in range(20)]
    model = LanguageModel.train(Side.of(texts), 12, order=3)
    sources = [random.permutation(np.arange(FIRST, FIRST + n)).tolist() for n in (2, 3, 4)]
    phrases = {
        tuple(s[i:j]) for s in sources for i in range(len(s)) for j in range(i + 1, min(i + 2, len(s)) + 1)
    }
    options = {
        phrase: [
            (tuple(random.integers(FIRST, 12, random.integers(1, 4)).tolist()), float(-random.exponential()))
            for _ in range(2)
        ]
        for phrase in sorted(phrases)
    }
    keys = {int(span_keys(np.array(phrase), len(phrase))[-1][0]): phrase for phrase in options}
    order = sorted(keys)
    listed = [option for key in order for option in options[keys[key]]]
    table = PhraseTable(
        keys=np.array(order, np.uint64),
        starts=np.arange(0, 2 * len(order) + 1, 2),
        scores=np.array([[log] * 4 for _, log in listed], np.float32),
        words=np.array([[*text, *[-1] * (3 - len(text))] for text, _ in listed]),
    )
    side = Side.of(sources)
    wide = Search(beam=4000, judged=4000, distortion=9, margin=1e6)
    weights = Weights()
    padded = side.padded(np.arange(3))
    found = decode(padded, side.lengths, table, model, weights, wide, padded)
    for sentence, words in zip(sources, found, strict=True):
        expected = naive_best(sentence, options, model)
        assert score_of(words, sentence, options, model) == pytest.approx(expected, abs=1e-3)


def test_distortion_limit_holds_and_everything_is_covered() -> None:
    # Without a language model to speak of, every word is itself: covered once each, never too early.
    random = np.random.default_rng(3)
    sources = [random.permutation(np.arange(FIRST, FIRST + n)).tolist() for n in (1, 8, 20, 52)]
    model = LanguageModel.train(Side.of([random.permutation(np.arange(FIRST, 60)).tolist()]), 60, order=2)
    words = np.arange(FIRST, 60)
    order = np.argsort(span_keys(words, 1)[0])
    table = PhraseTable(
        keys=span_keys(words, 1)[0][order],
        starts=np.arange(len(words) + 1),
        scores=np.zeros((len(words), 4), np.float32),
        words=words[order][:, None],
    )
    side = Side.of(sources)
    padded = side.padded(np.arange(len(sources)))
    for limit in (0, 2, 5):
        search = Search(distortion=limit)
        found = decode(padded, side.lengths, table, model, Weights(distortion=0.0), search, padded)
        for sentence, text in zip(sources, found, strict=True):
            assert sorted(text) == sorted(sentence)
            places = [sentence.index(word) for word in text]
            for k, place in enumerate(places):
                first_free = min(set(range(len(sentence))) - set(places[:k]))
                assert place - first_free <= limit
