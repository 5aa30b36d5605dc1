"""Counters: words of many scripts, repetition beyond the reference, brevity, copies, terms."""

import pytest
from evaluation_corpus import DRAFTS, HYPOTHESES, REFERENCES, SOURCES
from hypothesis import given
from hypothesis import strategies as st

from levt.errors import InputError
from levt.evaluation.surface import repetitions, surface, term_use, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop!", ["Don", "'", "t", "stop", "!"]),
        ("cafe\u0301 हिन्दी", ["cafe\u0301", "हिन्दी"]),
        ("می\u200cروم", ["می\u200cروم"]),
        ("東京タワー。", ["東", "京", "タ", "ワ", "ー", "。"]),
        (" \t\u00a0 ", []),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text())
def test_words_keep_every_visible_character(text: str) -> None:
    assert words(" ".join(words(text))) == words(text)
    assert set("".join(words(text))) <= set(text)


def test_repetitions() -> None:
    assert repetitions("am am Morgen") == repetitions("Am am Morgen") == 1
    assert repetitions("sehr, sehr gut") == 0
    assert repetitions("das das das") == 2
    assert repetitions("") == repetitions("eins") == 0


def test_only_repetition_beyond_the_reference_counts() -> None:
    assert surface(["gut gut so"], ["gut gut so"]).repeated == 0
    assert surface(["gut gut gut so"], ["gut gut so"]).repeated == 1 / 4
    # What one reference repeats excuses no other sentence.
    assert surface(["eins zwei", "drei drei"], ["eins eins", "drei vier"]).repeated == 1 / 4


def test_the_drafts_have_the_faults_that_were_put_into_them() -> None:
    drafts = surface(DRAFTS, REFERENCES, SOURCES)
    assert drafts.repeated == 2 / sum(len(words(text)) for text in DRAFTS)
    long = [word for text in DRAFTS for word in words(text) if len(word) >= 4]
    assert drafts.copied == 2 / len(long)  # Shop, Bridge
    assert surface(HYPOTHESES, REFERENCES, SOURCES).copied == 0
    assert surface(HYPOTHESES, REFERENCES).copied is None


def test_length_and_emptiness() -> None:
    found = surface(["", "", "eins", "eins zwei drei"], ["", "eins zwei", "eins zwei", "eins zwei drei"])
    assert found.empty == 1 / 4
    assert found.short == 2 / 4
    assert found.length == 4 / 7
    nothing = surface([""], [""], [""])
    assert (nothing.length, nothing.empty, nothing.short, nothing.repeated, nothing.copied) == (0, 0, 0, 0, 0)
    same = surface(REFERENCES, REFERENCES)
    assert (same.length, same.short, same.empty, same.repeated) == (1, 0, 0, 0)


def test_scores_are_percent() -> None:
    scores = {score.name: score.value for score in surface(["gut gut"], ["gut so"], ["good so"]).scores()}
    assert scores == {"length %": 100, "short %": 0, "empty %": 0, "repeated %": 50, "copied %": 0}


def test_terms_are_whole_words_as_written() -> None:
    assert term_use(["Der rote Ball."], [["Ball"]]) == 1
    assert term_use(["Der rote Ball."], [["ball"]]) == 0
    assert term_use(["Der Ballon."], [["Ball"]]) == 0
    assert term_use(["Ball Ball"], [["Ball", "Ball"]]) == 1
    assert term_use(["Ball"], [["Ball", "Ball"]]) == 1 / 2
    assert term_use(["rote, Ball"], [["rote Ball"]]) == 0
    assert term_use(["eins", "zwei"], [[], ["zwei", " "]]) == 1
    assert term_use(["eins"], [[]]) == 1


def test_unequal_corpora_are_refused() -> None:
    with pytest.raises(InputError, match="as many references as hypotheses, got 2 and 1"):
        surface(["eins"], ["eins", "zwei"])
    with pytest.raises(InputError, match="as many terms"):
        term_use(["eins"], [])
    with pytest.raises(InputError, match="nothing to count"):
        surface([], [])


def test_words_that_the_reference_has_too_are_not_copied() -> None:
    found = surface(["Berlin stays Berlin here"], ["Berlin bleibt Berlin"], ["Berlin stays"])
    assert found.copied == 1 / 4


def test_a_term_counts_no_more_often_than_it_is_wanted() -> None:
    assert term_use(["Ball Ball Ball"], [["Ball", "Tor"]]) == 0.5
    assert term_use(["Ball Ball Ball"], [["Ball", "Ball"]]) == 1.0
