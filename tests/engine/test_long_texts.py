"""Texts that are longer than the model can read, and go in parts."""

import pytest

import levt
from levt.edits.script import between
from levt.engine.parting import source_parts
from levt.engine.result import Alternative, Result
from levt.engine.story import Story
from levt.errors import InputError
from levt.refine.phases import Round
from tiny_models import LINES, TOKENIZERS, tiny


@pytest.fixture(scope="module")
def model() -> levt.Model:
    return tiny(seed=1)


def test_a_long_source_goes_in_parts(model: levt.Model) -> None:
    text = " ".join(LINES)
    assert len(TOKENIZERS.source.encode(text)) > 64
    result = model.translate(text)
    assert result.trace.result == result.tokens
    assert result.text == TOKENIZERS.target.decode(result.tokens)
    parts = [part for part, _ in source_parts(text, TOKENIZERS.source, 64, whole=False)]
    assert len(parts) > 2
    assert result.text == " ".join(model.translate(part).text for part in parts)
    assert tiny("autoregressive").translate(text).trace.result
    for refused in ({"terms": ["x"]}, {"drop": ["x"]}):
        with pytest.raises(
            InputError, match=r"the source has \d+ tokens with its boundaries, the model can read 64"
        ):
            model.translate(text, **refused)
    assert model.refine(text, draft=" ").text == result.text, "a blank draft is none"
    with pytest.raises(InputError, match="the source has"):
        model.refine(text, draft="x")
    with pytest.raises(InputError, match="the draft has"):
        model.refine("x", draft=text)
    with pytest.raises(InputError, match="a word of 999 characters"):
        model.translate("ä" * 999)


def test_a_long_text_may_hold_a_word_that_fills_more_than_half_of_the_model() -> None:
    model, word = tiny(max_length=24), "xqzjvkwyxqzjvkwyxq"
    assert 12 < len(TOKENIZERS.source.encode(word)) + 2 <= 24
    for text in (word, f"{LINES[0]} {LINES[1]} {word}", f"{word} {LINES[0]}"):
        assert model.translate(text).stopped != "empty"
    with pytest.raises(InputError, match="a word of 36 characters"):
        model.translate(f"{LINES[0]} {word}{word}")


def test_several_outputs_of_a_long_text_differ_in_one_part() -> None:
    writer = tiny("autoregressive", seed=4)
    text = " ".join(LINES)
    result = writer.translate(text, beam=3, n_best=3)
    plain = writer.translate(text, beam=3)
    assert (result.text, result.tokens, result.score) == (plain.text, plain.tokens, plain.score)
    parts = [
        writer.translate(part, beam=3, n_best=3)
        for part, _ in source_parts(text, TOKENIZERS.source, 64, whole=False)
    ]
    assert len(parts) > 1
    changed = [
        " ".join(other.text if i == j else part.text for j, part in enumerate(parts)).split()
        for i, one in enumerate(parts)
        for other in one.alternatives
    ]
    assert len(changed) == 2 * len(parts)
    assert len(result.alternatives) == 2
    for other in result.alternatives:
        assert other.text.split() in changed
        assert other.text == TOKENIZERS.target.decode(other.tokens)
    assert result.alternatives[0].score >= result.alternatives[1].score


def test_the_best_alternatives_of_parts_come_first() -> None:
    def part(text: str, score: float, *others: tuple[str, float]) -> Result:
        tokens = tuple(TOKENIZERS.target.encode(text))
        story = Story(
            draft=(), rounds=(Round(between((), tokens)),), stopped=None, tokenizer=TOKENIZERS.target
        )
        more = tuple(
            Alternative(text=other, tokens=tuple(TOKENIZERS.target.encode(other)), score=its)
            for other, its in others
        )
        return Result.of(
            story, tokens, score=score, iterations=1, passes=1, stopped="ended", alternatives=more
        )

    found = Result.joined(
        [part("a", -1.0, ("b", -4.0), ("c", -5.0)), part("d", -1.0, ("e", -2.0), ("f", -9.0))]
    )
    assert (found.text, found.score) == ("a d", -1.0)
    assert [other.text for other in found.alternatives] == ["a e", "b d"]
    # "e" and "b" are two tokens each.
    assert [other.score for other in found.alternatives] == pytest.approx([-5 / 3, -9 / 3])
