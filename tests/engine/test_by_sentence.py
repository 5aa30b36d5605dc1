"""Texts sentence by sentence: as if each had been given alone, joined with the white space there was."""

from typing import Any

import pytest

from levt.edits.numbering import labels
from levt.edits.trace import Trace
from levt.engine.model import Model
from tiny_models import TOKENIZERS, tiny

SENTENCES = ["A dog runs over the snow.", "Two cats sleep!", "Is this the 10th try?"]
DRAFTS = ["Ein Hund läuft.", "Zwei Katzen!", "Ist das so?"]
DECODE = TOKENIZERS.target.decode


@pytest.fixture(scope="module")
def model() -> Model:
    return tiny(seed=4)


def alone(model: Model, **more: Any) -> list[str]:
    return [result.text for result in model.translate(SENTENCES, **more)]


@pytest.mark.parametrize("space", [" ", "  ", "\t", " \u00a0 "])
@pytest.mark.parametrize("kind", ["levt", "autoregressive", "recurrent", "masked", "denoising", "insertion"])
def test_as_if_each_were_given_alone(kind: str, space: str) -> None:
    model = tiny(kind, seed=4)
    parts = alone(model)
    result = model.translate(space.join(SENTENCES), by_sentence=True)
    assert result.text == space.join(part.strip(" ") for part in parts) or "" in parts
    assert result.text == DECODE(result.tokens) == result.trace.text
    assert result.trace.result == result.tokens
    assert Trace.from_json(result.to_json()["trace"]) == result.trace
    assert model.translate(SENTENCES[0], by_sentence=True) == model.translate(SENTENCES[0])


def test_what_is_counted(model: Model) -> None:
    each = model.translate(SENTENCES)
    result = model.translate(" ".join(SENTENCES), by_sentence=True)
    assert result.iterations == max(one.iterations for one in each)
    assert result.passes == sum(one.passes for one in each)
    spaced = model.translate("\t".join(SENTENCES), by_sentence=True)
    assert spaced.iterations == result.iterations
    assert sum(label.isdecimal() for label in labels(spaced.trace)) <= spaced.iterations


def test_whole_is_another_thing_and_the_default(model: Model) -> None:
    text = " ".join(SENTENCES)
    assert model.translate(text).text == model.translate(text, by_sentence=False).text
    assert model.translate(text).text != model.translate(text, by_sentence=True).text


def test_drafts_go_with_their_sentences(model: Model) -> None:
    each = model.refine(SENTENCES, draft=DRAFTS)
    result = model.refine(" ".join(SENTENCES), draft="  ".join(DRAFTS), by_sentence=True)
    assert result.text == "  ".join(one.text for one in each)
    assert DECODE(result.trace.draft).split() == " ".join(DRAFTS).split()
    odd = "Ein Hund läuft, zwei Katzen!"
    text = " ".join(SENTENCES)
    assert model.refine(text, draft=odd, by_sentence=True) == model.refine(text, draft=odd)


def test_what_is_steered_stays_whole(model: Model) -> None:
    text = " ".join(SENTENCES)
    for steering in (
        {"terms": ["Schnee"]},
        {"drop": ["Hund. Zwei"]},
        {"drop": ["Schnee"], "terms": ["Hund"]},
    ):
        assert model.translate(text, by_sentence=True, **steering) == model.translate(text, **steering)


def test_several_outputs_are_of_the_whole_text() -> None:
    model = tiny("autoregressive", seed=4)
    text = " ".join(SENTENCES)
    many = model.translate(text, n_best=3, by_sentence=True)
    assert len(many.alternatives) == 2
    assert many == model.translate(text, n_best=3)


def test_streams_and_many_texts(model: Model) -> None:
    texts = [" ".join(SENTENCES), "", SENTENCES[1], " ".join(SENTENCES[1:])]
    expected = [model.translate(text, by_sentence=True).text for text in texts]
    assert [r.text for r in model.translate(texts, by_sentence=True)] == expected
    assert [r.text for r in model.translate_stream(texts, by_sentence=True)] == expected


def test_a_word_to_leave_out_is_left_out_of_each(model: Model) -> None:
    drop = ["Hund", "Katzen"]
    parts = model.refine(SENTENCES, draft=DRAFTS, drop=[drop] * len(SENTENCES), max_iterations=1)
    texts = " ".join(SENTENCES), " ".join(DRAFTS)
    result = model.refine(texts[0], draft=texts[1], by_sentence=True, drop=drop, max_iterations=1)
    assert result.text.split() == [word for part in parts for word in part.text.split()]
    assert result.trace.text == result.text
    assert not any(word in result.text for word in drop)
