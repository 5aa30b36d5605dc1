"""Texts without a word go over as they are, however long, where texts are taken sentence by sentence."""

import pytest

from levt.engine.carrying import carried
from levt.engine.model import Model
from levt.refine.options import Options
from tiny_models import TOKENIZERS, tiny

ODD = ["* * *", "-" * 80, "=" * 700, "😀 👨\u200d👩\u200d👧" * 40, "…", "«»", " - ", "█▁▂ \ue000"]


@pytest.fixture(scope="module")
def model() -> Model:
    return tiny(seed=4)


def test_as_they_are(model: Model) -> None:
    results = model.translate([*ODD, "A dog runs."], by_sentence=True)
    assert [result.text for result in results[:-1]] == [text.strip() for text in ODD]
    assert results[-1].text == model.translate("A dog runs.").text
    for result in results:
        assert result.trace.text == result.text == model.engine.tokenizers.target.decode(result.tokens)


def test_refining_what_went_over_leaves_it_alone(model: Model) -> None:
    found = [result.text for result in model.translate(ODD, by_sentence=True)]
    assert [result.text for result in model.refine(ODD, draft=found, by_sentence=True)] == found


def test_of_any_company(model: Model) -> None:
    together = model.translate(["A dog runs.", *ODD, "Two cats sleep!"], by_sentence=True)
    assert together[1:-1] == [model.translate(text, by_sentence=True) for text in ODD]


def test_what_nobody_sees_is_nothing(model: Model) -> None:
    assert model.translate("\u200b\ufeff", by_sentence=True).text == ""


def test_whole_texts_drafts_and_words_to_leave_out_are_for_the_model(model: Model) -> None:
    assert model.translate("* * *").text != "* * *"
    assert model.refine("* * *", draft="Ein Hund", by_sentence=True) == model.refine(
        "* * *", draft="Ein Hund"
    )
    assert "*" not in model.translate("*", drop=["*"], by_sentence=True).text


@pytest.mark.parametrize("positions", [1, 3, 10, 11, 64])
def test_parts_fit_and_leave_nothing_to_do(positions: int) -> None:
    """However many bytes a character has; one character is a part where there is room for less."""
    text = "😀 ▁ " * 20
    parts = carried(text, TOKENIZERS.target, positions, Options(max_iterations=9))
    assert "".join(part for part, _ in parts) == text
    for part, plan in parts:
        request = plan.request
        assert len(part) == 1 or len(request.draft) + 2 <= positions
        assert all(request.locked)
        assert len(request.locked) == len(request.draft)
        assert request.open == {0: 0, len(request.draft): 0}
        assert (request.options.max_iterations, request.options.reread) == (1, False)
    assert [plan.lead for _, plan in parts] == [
        None, *(" " if part.startswith(" ") else "" for part, _ in parts[1:]),
    ]  # fmt: skip
