"""The dial: never worse than doing nothing on the dev set, and not fooled by luck."""

import pytest

from levt.errors import ConfigError
from levt.recipes.post_editing_dial import LEAVE_ALONE, Calibration, checked, chosen
from levt.recipes.post_editing_judge import judged
from levt.recipes.post_editing_triples import Triples

NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
REFERENCES = [f"{a} old {b} runs over the green hill" for a in NUMBERS for b in NUMBERS]
DRAFTS = [text.replace("old", "gold") if i % 2 else text for i, text in enumerate(REFERENCES)]
"""Half of them are right."""


def editor(right: int, wrong: int) -> list[str]:
    """Repairs so many of the wrong drafts, and spoils so many of the right ones."""
    texts = list(DRAFTS)
    texts[1 : 2 * right : 2] = REFERENCES[1 : 2 * right : 2]
    for i in range(0, 2 * wrong, 2):
        texts[i] = texts[i].replace("green", "grey")
    return texts


def calibrated(known: dict[float, list[str]], level: float = 0.05) -> Calibration:
    texts = {(value, 0.0): edited for value, edited in known.items()}
    return chosen(texts, DRAFTS, REFERENCES, level=level, samples=200)


def test_the_best_of_those_that_help() -> None:
    known = {0.0: editor(30, 28), 0.5: editor(24, 4), 0.8: editor(12, 0), 0.9: editor(12, 0)}
    found = calibrated(known)
    assert found.min_edit == 0.5
    assert [one.allowed for one in found.tried] == [False, True, True, True]
    assert found.tried[1].ter.value < found.ter.value
    # Two values that do the same: the more reluctant.
    less = calibrated({value: known[value] for value in (0.8, 0.9)})
    assert less.min_edit == 0.9


def test_what_makes_worse_or_is_luck_is_not_taken() -> None:
    known = {0.0: editor(2, 20), 0.5: editor(0, 3), 0.9: editor(1, 0), 0.95: editor(0, 0)}
    found = calibrated(known)
    assert found.min_edit == LEAVE_ALONE
    assert not any(one.allowed for one in found.tried)
    # Whoever trusts the dev set takes the one sentence that is better.
    bold = calibrated(known, level=1.0)
    assert bold.min_edit == 0.9


def test_many_tries_are_no_luck() -> None:
    """What one value alone would be allowed for, it is not beside seventeen others."""
    lucky = editor(6, 0)
    assert calibrated({0.9: lucky}).min_edit == 0.9
    beside = {(i / 20, float(penalty)): DRAFTS for i in range(9) for penalty in (0, 1)}
    many = chosen({**beside, (0.9, 0.0): lucky}, DRAFTS, REFERENCES, level=0.05, samples=200)
    assert many.min_edit == LEAVE_ALONE
    p_value = many.tried[-1].ter.p_value
    assert p_value is not None
    assert p_value <= 0.05
    # Whoever really helps still may, and there are trials enough to see it.
    sure = chosen({**beside, (0.9, 0.0): editor(24, 0)}, DRAFTS, REFERENCES, level=0.05, samples=20)
    assert sure.min_edit == 0.9


def test_the_penalty_is_chosen_with_the_dial() -> None:
    """A model that deletes a wrong word at once, but writes the right one only with a γ of 1 or more."""
    shy = [text.replace(" gold", "").replace(" green", "") for text in DRAFTS]
    texts = {
        (value, penalty): editor(20, 0) if penalty >= 1 and value >= 0.5 else shy
        for penalty in (0.0, 1.0, 2.0)
        for value in (0.0, 0.5, 0.9)
    }
    found = chosen(texts, DRAFTS, REFERENCES, level=0.05, samples=200)
    assert (found.min_edit, found.empty_gap_penalty) == (0.9, 1.0)
    assert {(one.min_edit, one.empty_gap_penalty) for one in found.tried if one.allowed} == {
        (0.5, 1.0), (0.9, 1.0), (0.5, 2.0), (0.9, 2.0),
    }  # fmt: skip
    alone = chosen({(0.9, 0.0): shy}, DRAFTS, REFERENCES, level=0.05, samples=200)
    assert (alone.min_edit, alone.empty_gap_penalty) == (LEAVE_ALONE, 0.0)


def test_values_and_level_are_checked() -> None:
    with pytest.raises(ConfigError, match=r"(?s)level must be.*values must be from 0 to below 1, got 1.0"):
        checked([1.0], 0.0)


def test_the_columns_of_the_table() -> None:
    triples = Triples(["x"] * len(DRAFTS), DRAFTS, REFERENCES)
    nothing, some = judged({"some": editor(16, 8)}, triples, samples=100)
    assert nothing.name == "do nothing"
    assert [score.name for score in nothing.scores] == ["BLEU", "TER"]
    shares = {score.name: score.value for score in some.scores}
    count = len(DRAFTS) / 100
    assert shares["changed %"] == pytest.approx(24 / count)
    assert shares["better %"] == pytest.approx(16 / count)
    assert shares["worse %"] == pytest.approx(8 / count)
    # 32 of 64 sentences of 8 words lack one; then 16 + 8 do.
    assert nothing.scores[1].value == pytest.approx(100 / 16)
    assert shares["TER"] == pytest.approx(100 * 24 / (8 * 64))
    assert some.scores[1].interval is not None
    assert some.scores[1].p_value is not None
    assert "tok:none" in some.scores[0].signature
    assert "case:mixed" in some.scores[1].signature
    assert all(s.interval is None for s in judged({}, triples, samples=None)[0].scores)
