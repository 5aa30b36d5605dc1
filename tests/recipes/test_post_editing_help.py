"""An oracle beside a LevT: what it decides is right, whatever the weights; and the figures made of it."""

import pytest

from levt.engine.cuda_engine import CudaEngine
from levt.engine.model import Model
from levt.engine.torch_engine import TorchEngine
from levt.errors import ConfigError, InputError
from levt.evaluation.edit_order import Place
from levt.recipes.post_editing_help import helped
from levt.recipes.post_editing_steering import keystrokes, orders, timeouts
from levt.recipes.post_editing_tags import risks, tagged
from levt.recipes.post_editing_triples import Triples, Watched
from levt.refine.options import Options
from tiny_models import tiny

SOURCES = ["A dog runs over the snow .", "Two cats sleep on a warm stone .", "One of them", "A cat"]
TARGETS = ["Ein Hund läuft über den Schnee .", "Zwei Katzen schlafen .", "auf einem Stein", "einem Hund"]
DRAFTS = ["Ein Hund läuft Zwei Schnee .", TARGETS[1], "Hund", ""]
TRIPLES = Triples(SOURCES, DRAFTS, TARGETS)


@pytest.fixture(scope="module")
def model() -> Model:
    """It knows nothing."""
    return tiny("levt", seed=3, max_count=40)


def refine(model: Model, help: str | None, limit: int = 3) -> list[str]:
    options = Options(max_iterations=limit, max_ratio=10.0)
    return helped(model, SOURCES, DRAFTS, TARGETS, help=help, options=options)  # type: ignore[arg-type]


def test_without_help_it_is_the_model_alone(model: Model) -> None:
    alone = model.refine(SOURCES, draft=DRAFTS, max_iterations=3, max_ratio=10.0, reread=False)
    assert refine(model, None) == [result.text for result in alone]


def test_the_oracle_decides_what_stays_and_where_something_is_missing(model: Model) -> None:
    wanted = ["Ein Hund läuft", "Zwei Katzen schlafen .", "Ein Hund läuft über den Schnee ."]
    drafts = [wanted[0], "Zwei warmen Katzen schlafen Schnee .", "Ein Hund läuft"]
    for limit in (1, 3):
        options = Options(max_iterations=limit, max_ratio=10.0)
        same, shorter, begun = helped(
            model, SOURCES[:3], drafts, wanted, help="delete+placeholder", options=options
        )
        assert same == wanted[0]
        assert shorter == wanted[1]
        # The rest is the model's, which knows nothing.
        assert begun.startswith(wanted[0])
        assert begun != wanted[0]


def test_batches_change_nothing(model: Model) -> None:
    together = refine(model, "delete")
    for i, text in enumerate(together):
        [alone] = helped(
            model, SOURCES[i : i + 1], DRAFTS[i : i + 1], TARGETS[i : i + 1], help="delete",
            options=Options(max_iterations=3, max_ratio=10.0),
        )  # fmt: skip
        assert alone == text


@pytest.mark.parametrize("help", [None, "delete", "delete+placeholder"])
def test_engines_that_read_in_their_own_way_are_helped_alike(model: Model, help: str | None) -> None:
    assert isinstance(model.engine, TorchEngine)
    other = Model(CudaEngine(model.engine.network, model.engine.tokenizers))  # type: ignore[arg-type]
    assert refine(other, help) == refine(model, help)


def test_refusals(model: Model) -> None:
    with pytest.raises(ConfigError, match="oracle helps a LevT"):
        helped(tiny("post-editing"), SOURCES, DRAFTS, TARGETS, help="delete")
    with pytest.raises(InputError, match="one draft and one reference"):
        helped(model, SOURCES, DRAFTS[1:], TARGETS, help="delete")
    with pytest.raises(InputError, match="the model can read 64"):
        helped(model, ["a " * 80], [""], [""], help=None)


def test_figures(model: Model) -> None:
    found = timeouts(model, TRIPLES, limits=(1, 2))
    assert [*found] == ["none", "oracle deletion", "oracle deletion and placeholders"]
    assert all([*by] == [1, 2] for by in found.values())
    assert [score.name for score in found["none"][1]] == ["BLEU", "TER"]
    rows = keystrokes(model, TRIPLES)
    assert [row.name for row in rows] == ["do nothing", "accept", "delete", "ask"]
    alone = rows[0].scores[0].value
    # Help that costs more than it saves is not taken; only looking at a proposal costs something.
    assert all(row.scores[0].value <= alone for row in rows[2:])
    assert rows[1].scores[0].value <= alone + 1


def test_orders_compare_places_of_the_draft(model: Model) -> None:
    human = {Place("word", 0): 0.0, Place("gap", 1): 2.0, Place("word", 2): 3.0}
    some = Triples(SOURCES[:2], DRAFTS[:2], TARGETS[:2])
    rows = orders(model, Watched(some, [human, human]))
    by_name = {row.name: {s.name: s.value for s in row.scores} for row in rows}
    there, back, risky = (
        by_name[f"the person's places, {order}"]
        for order in ("left to right", "right to left", "riskiest first")
    )
    # Whoever edits from left to right agrees with left to right.
    assert (there["same order %"], there["τ"], there["pairs"]) == (100, pytest.approx(1), 6)
    assert (back["same order %"], back["τ"]) == (0, pytest.approx(-1))
    assert risky["places shared %"] == 100
    assert 0 <= by_name["LevT's edits, phase by phase"]["places shared %"] <= 100


def test_tags_are_those_of_the_drafts(model: Model) -> None:
    some = Triples(SOURCES[:3], DRAFTS[:3], TARGETS[:3])
    for risk, draft in zip(risks(model, some), DRAFTS, strict=False):
        assert len(risk.words) == len(draft.split())
        assert len(risk.gaps) == len(draft.split()) + 1
    threshold, row = tagged(model, some, some)
    assert 0 < threshold < 1
    shares = {score.name: score.value for score in row.scores}
    # Zwei of the first and Hund of the third are wrong, of 6 + 4 + 1 words.
    assert shares["BAD words %"] == pytest.approx(100 * 2 / 11)
    assert -100 <= shares["MCC words"] <= 100
