"""What editing did: gain against the draft."""

import pytest
from evaluation_corpus import DRAFTS, HYPOTHESES, REFERENCES

from levt.errors import InputError
from levt.evaluation.edits import gain


def test_gain() -> None:
    found = gain(HYPOTHESES, DRAFTS, REFERENCES)
    assert (found.unchanged, found.better, found.worse) == (1 / 5, 3 / 5, 1 / 5)
    assert [score.value for score in found.scores()] == [20, 60, 20]
    back = gain(DRAFTS, HYPOTHESES, REFERENCES)
    assert (back.better, back.worse) == (found.worse, found.better)


def test_spaces_are_no_change_and_other_words_as_bad_are_neither_better_nor_worse() -> None:
    found = gain(["ein  Hund ", "ein Esel"], ["ein Hund", "ein Pferd"], ["ein Hund", "ein Hund"])
    assert (found.unchanged, found.better, found.worse) == (0.5, 0, 0)


def test_gain_without_spaces() -> None:
    here, draft, reference = ["犬が走る"], ["犬は走った"], ["犬が走った"]
    assert gain(here, draft, reference).better == 0
    assert gain(here, draft, reference, tokenize="char").worse == 1


def test_empty_texts() -> None:
    assert gain(["", "eins"], ["eins", ""], ["eins", "eins"]).scores()[1].value == 50
    assert gain([""], [""], [""]).unchanged == 1
    with pytest.raises(InputError, match="as many drafts"):
        gain(["eins"], [], ["eins"])
