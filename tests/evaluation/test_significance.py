"""Intervals agree with sacrebleu's, p-values with every possible swap."""

from itertools import product

import numpy as np
import pytest
import sacrebleu
from evaluation_corpus import DRAFTS, HYPOTHESES, REFERENCES
from hypothesis import given, settings
from hypothesis import strategies as st

from levt.evaluation.metrics import bleu, metric
from levt.evaluation.significance import interval, p_value

COUNTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8)


def rate(sums: np.ndarray) -> float:
    return float(100 * sums[0] / sums[1])


@settings(max_examples=25)
@given(COUNTS)
def test_p_value_is_the_share_of_all_swaps(pairs: list[tuple[int, int]]) -> None:
    system, baseline = (np.array([[pair[i], 10.0] for pair in pairs]) for i in (0, 1))

    def difference(swap: tuple[int, ...]) -> float:
        coin = np.array(swap)[:, None]
        return abs(
            rate((coin * system + (1 - coin) * baseline).sum(0))
            - rate((coin * baseline + (1 - coin) * system).sum(0))
        )

    least = difference((1,) * len(pairs))
    exact = np.mean([difference(swap) >= least - 1e-9 for swap in product((0, 1), repeat=len(pairs))])
    # Four standard deviations of 2000 tosses.
    assert p_value(system, baseline, rate, 2000) == pytest.approx(exact, abs=0.045)


def test_equal_systems_and_single_sentences_are_never_significant() -> None:
    found = metric("bleu")
    changed = [*HYPOTHESES[:4], "Etwas anderes steht hier."]
    scores = found.compare({"a": HYPOTHESES, "b": HYPOTHESES, "c": changed}, REFERENCES, samples=100)
    assert [scores[name].p_value for name in "abc"] == [None, 1.0, 1.0]
    assert found.compare({"a": ["x"], "b": ["y z"]}, ["x"], samples=40)["b"].p_value == 1.0


def test_a_clear_difference_is_significant() -> None:
    good, bad = REFERENCES * 10, DRAFTS * 10
    for name in ("bleu", "chrf", "ter", "rouge-2"):
        scores = metric(name).compare({"bad": bad, "good": good}, REFERENCES * 10, samples=200)
        assert scores["good"].p_value == pytest.approx(1 / 201)
        assert scores["bad"].p_value is None


def test_intervals_hold_the_score_and_agree_with_sacrebleu() -> None:
    texts, references = (HYPOTHESES + DRAFTS) * 4, REFERENCES * 8
    found = bleu(texts, references, samples=1000)
    theirs = sacrebleu.BLEU()
    score = theirs.corpus_score(texts, [references], n_bootstrap=1000)
    assert found.value == score.score
    low, high = found.interval
    assert low < found.value < high
    assert (high - low) / 2 == pytest.approx(score._ci, rel=0.1)
    assert (high + low) / 2 == pytest.approx(score._mean, abs=1)
    assert found.signature == str(theirs.get_signature())
    assert found == bleu(texts, references, samples=1000)


def test_intervals_stay_within_what_is_possible() -> None:
    for name in ("bleu", "chrf", "rouge-l", "ter"):
        low, high = metric(name).measure(HYPOTHESES[:3], REFERENCES[:3], samples=200).interval
        assert -1e-9 <= low <= high <= 100 + 1e-9


def test_interval_of_a_mean_is_that_of_the_normal_distribution() -> None:
    values = np.random.default_rng(1).normal(50, 10, size=400)
    low, high = interval(np.stack([values / 100, np.ones(400)], 1), rate, 2000)
    half = 1.96 * values.std() / 20
    assert low == pytest.approx(values.mean() - half, abs=0.15)
    assert high == pytest.approx(values.mean() + half, abs=0.15)
