"""The way to levt-en-de at toy size: corpus with some drafts, teacher, distillation, student, compact model, card."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toy_corpus import TINY, toy_corpus

from levt.convert.compact import compact
from levt.data.prepare import load_tokenizers
from levt.data.store import Store
from levt.engine.model import load
from levt.errors import ConfigError
from levt.policy.build import build
from levt.policy.card import Card
from levt.policy.folder import Tokenizers
from levt.recipes import recipe
from levt.recipes.bundled import NAME, bundled_ar, bundled_levt
from levt.recipes.bundled_card import bundled_card
from levt.recipes.chain import Chain, run_chain
from levt.recipes.distillation import Distillation
from levt.recipes.experiment import Experiment, as_json, sized, training_store, validation

STEPS: dict[str, Any] = {"max_steps": 4, "max_minutes": None, "tokens": 512, "warmup": 2, "validate_every": 2}


def small(experiment: Experiment) -> Experiment:
    """A recipe with a tiny network and a few steps."""
    sizes = {key: value for key, value in TINY.items() if key not in ("dropout", "encoder_layers")}
    training = replace(experiment.training, **STEPS, save_every=4, log_every=1)
    return replace(experiment, model=replace(experiment.model, **sizes), training=training, device="cpu")


def test_the_whole_way(tmp_path: Path) -> None:
    chain = Chain(
        corpus=toy_corpus(tmp_path / "data", draft=True),
        out=tmp_path / "runs",
        teacher=small(bundled_ar()),
        student=small(bundled_levt()),
        distillation=Distillation(beam=2, shard=30, batch_size=16),
    )
    assert run_chain(chain)
    assert chain.placed()[1].init == tmp_path / "runs" / "teacher" / "best", (
        "the student begins as its teacher"
    )
    assert chain.placed()[1].repair == (chain.corpus,), "references are there to be repaired"
    assert len(training_store(chain.placed()[1])) == 6 * len(Store.open(chain.corpus / "train"))
    assert Store.open(tmp_path / "runs" / "corpus" / "train").has_draft, (
        "drafts of the corpus reach the student"
    )
    scores = {"Multi30k 2016, BLEU": "12.3"}
    found = compact(
        tmp_path / "runs" / "student" / "best", tmp_path / NAME, card=bundled_card(scores).render()
    )
    assert found.after < 0.6 * found.before
    assert "12.3" in (tmp_path / NAME / "README.md").read_text("utf-8")
    model = load(tmp_path / NAME, device="cpu")
    assert model.kind == "levt"
    model.refine("the old bird sees a tree", draft="der Vogel", max_iterations=2)


def test_a_student_begins_as_its_teacher_where_it_can(tmp_path: Path) -> None:
    teacher, student = recipe("multi30k-ar"), recipe("multi30k-levt-distilled")
    best = tmp_path / "teacher" / "best"
    for fields, wanted in (
        ({}, best),
        ({"warm": False}, None),
        ({"student": replace(student, init=tmp_path / "x")}, tmp_path / "x"),
        ({"student": replace(student, model=replace(student.model, width=128))}, None),
        ({"student": replace(student, model=replace(student.model, delete_exit=1))}, best),
        ({"student": replace(student, model=replace(student.model, sharing="none", token_exit=3))}, None),
        ({"student": teacher}, None),
    ):
        given = {"teacher": teacher, "student": student, **fields}
        chain = Chain(corpus=tmp_path / "data", out=tmp_path, **given)
        assert chain.placed()[1].init == wanted


def test_on_a_laptop_too_the_student_begins_as_its_teacher(tmp_path: Path) -> None:
    teacher, student = recipe("laptop-ar"), recipe("laptop-levt")
    assert Chain(corpus=tmp_path, out=tmp_path, teacher=teacher, student=student).begins_as_teacher


def test_the_recipes_fit_the_sitting_and_the_disk() -> None:
    teacher, student = recipe("bundled-ar"), recipe("bundled-levt")
    minutes = [experiment.training.max_minutes for experiment in (teacher, student)]
    assert all(minutes)
    assert sum(m for m in minutes if m) < 30
    assert student.roll_in.drafts.made == pytest.approx(0.18)
    assert student.repair
    assert student.name == NAME


def test_the_card_says_what_a_reader_must_know() -> None:
    text = bundled_card().render()
    for word in ("Europarl", "Tatoeba", "Multi30k", "CC BY", "must not be used", "levt chain", "license"):
        assert word in text
    assert isinstance(bundled_card(), Card)


def test_the_dev_set_is_looked_at_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = toy_corpus(tmp_path)
    seen: list[str] = []
    monkeypatch.setattr(
        "levt.engine.model.Model.translate",
        lambda self, texts, **_: seen.extend(texts) or self.nothing(texts),
    )
    monkeypatch.setattr("levt.engine.model.Model.nothing", lambda self, texts: [], raising=False)
    monkeypatch.setattr(
        "levt.evaluation.metrics.Metric.score", lambda self, texts, references: float(len(references))
    )
    experiment = small(bundled_levt())
    judge = validation(replace(experiment, corpus=corpus, dev_limit=3), Tokenizers(*load_tokenizers(corpus)))
    assert judge is not None
    assert judge.score(build(sized(experiment.model, Tokenizers(*load_tokenizers(corpus))))) == 3.0
    every = (tmp_path / "dev.src").read_text("utf-8").splitlines()
    assert seen == [every[0], every[2], every[4]]


def test_settings_without_made_up_drafts_are_as_before() -> None:
    assert "drafts" not in as_json(recipe("multi30k-levt"))["roll_in"]
    assert as_json(recipe("bundled-levt"))["roll_in"]["drafts"]["noisy"] == 0.08
    plain = recipe("multi30k-levt")
    assert "by_sentence" not in as_json(plain)["options"]
    assert as_json(replace(plain, options=replace(plain.options, by_sentence=True)))["options"]["by_sentence"]


def test_repair_without_drafts_is_refused() -> None:
    with pytest.raises(ConfigError, match="repair is for LevT with made-up drafts"):
        replace(recipe("multi30k-levt"), repair=(Path("corpora/multi30k"),))
    with pytest.raises(ConfigError, match="repair is for LevT with made-up drafts"):
        replace(recipe("bundled-ar"), repair=(Path("corpora/multi30k"),))
