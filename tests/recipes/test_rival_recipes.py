"""MaskT, IT and the Insertion Transformer: trained and used by the same commands as LevT."""

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
import tyro
from torch import nn
from toy_corpus import TINY, toy_corpus, toy_experiment

import levt
from levt.cli import main
from levt.errors import ConfigError
from levt.imitation.insertion_lessons import InsertionTeaching
from levt.imitation.masked_lessons import MaskedTeaching
from levt.policy.config import CONFIGS
from levt.policy.insertion import InsertionTransformer
from levt.policy.levt import LevT
from levt.recipes import recipe
from levt.recipes.experiment import Experiment, as_json, dev_settings, run
from levt.recipes.rivals import multi30k_insertion, multi30k_it, multi30k_maskt
from levt.recipes.teaching import TEACHING, Teaching, check_kind
from levt.refine.decoders import DECODERS
from levt.refine.options import Options
from levt.training.log import read_log

RECIPES = {"masked": multi30k_maskt, "denoising": multi30k_it, "insertion": multi30k_insertion}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_corpus(tmp_path_factory.mktemp("pairs"))


def tiny_model(kind: str, **fields: Any) -> Any:
    return CONFIGS[kind](**{**TINY, **fields})


@pytest.mark.parametrize(("kind", "model", "missing"), [
    ("mine", InsertionTransformer(tiny_model("insertion")), ["TEACHING", "DECODERS"]),
    ("levt-2", LevT(tiny_model("levt")), ["whoever decodes one asks for the kind levt", "TEACHING"]),
])  # fmt: skip
def test_a_kind_that_is_missing_from_a_table_is_refused(
    kind: str, model: nn.Module, missing: list[str]
) -> None:
    with pytest.raises(ConfigError, match=f"kind {kind}: ") as caught:
        check_kind(kind, model)
    assert all(words in str(caught.value) for words in missing)


def test_every_kind_that_is_decoded_is_taught() -> None:
    assert {settings for settings, _ in TEACHING.values()} == set(get_args(Teaching)), "flags for all"
    assert TEACHING.keys() == DECODERS.keys() == RECIPES.keys()
    for kind, make in RECIPES.items():
        assert make().model.kind == kind
        assert isinstance(make().teaching, TEACHING[kind][0])


@pytest.mark.parametrize("kind", RECIPES)
def test_it_trains_goes_on_and_translates(kind: str, corpus: Path, tmp_path: Path) -> None:
    whole = toy_experiment(corpus, tmp_path / "whole", model=tiny_model(kind))
    standing = run(whole)
    assert standing.step == 6
    model = levt.load(tmp_path / "whole" / "best", device="cpu")
    assert model.kind == kind
    result = model.translate("the red bird sees a tree")
    assert 1 <= result.iterations <= 10
    # Stopped after a checkpoint and run again, it comes to the same losses.
    parts = toy_experiment(corpus, tmp_path / "parts", model=tiny_model(kind))
    run(replace(parts, training=replace(parts.training, max_steps=3)))
    run(parts)
    losses = [
        [r for r in read_log(tmp_path / name / "log.jsonl") if r["event"] == "train"]
        for name in ("whole", "parts")
    ]
    names = TEACHING[kind][1].names
    assert all(name in record for record in losses[0] for name in names)
    assert [[r[n] for n in names] for r in losses[0]] == [[r[n] for n in names] for r in losses[1]]


def test_drafts_are_not_needed(tmp_path: Path) -> None:
    triples = toy_corpus(tmp_path, draft=True)
    for kind in RECIPES:
        assert (
            run(
                toy_experiment(triples, tmp_path / kind, model=tiny_model(kind), training={"max_steps": 3})
            ).step
            == 3
        )


def test_vocabularies_may_be_separate(tmp_path: Path) -> None:
    separate = toy_corpus(tmp_path, separate=True)
    for kind in RECIPES:
        model = tiny_model(kind, joint_embeddings=False)
        run(toy_experiment(separate, tmp_path / kind, model=model, training={"max_steps": 3}))
        found = levt.load(tmp_path / kind / "best", device="cpu")
        assert found.engine.tokenizers.separate
        assert isinstance(found.translate("the red bird").text, str)


def test_the_teaching_of_another_kind_is_refused(corpus: Path, tmp_path: Path) -> None:
    experiment = toy_experiment(
        corpus, tmp_path / "run", model=tiny_model("masked"), teaching=InsertionTeaching()
    )
    with pytest.raises(ConfigError, match="masked model must be MaskedTeaching, got InsertionTeaching"):
        run(experiment)


def test_how_the_dev_set_is_decoded(corpus: Path, tmp_path: Path) -> None:
    options = Options(max_iterations=4, empty_gap_penalty=1.5, max_ratio=1.5)
    common = {"max_iterations": 4, "max_ratio": 1.5, "min_room": 10, "by_sentence": False}
    wanted = {
        "masked": {**common, "length_beam": 3},
        "denoising": common,
        "insertion": {**common, "empty_gap_penalty": 1.5},
        "autoregressive": {"beam": 3},
    }
    for kind, settings in wanted.items():
        experiment = toy_experiment(corpus, tmp_path, model=tiny_model(kind), options=options, beam=3)
        assert dev_settings(experiment) == settings


def test_flags_of_a_recipe() -> None:
    parsed = tyro.cli(
        tyro.conf.AvoidSubcommands[Experiment],
        default=recipe("multi30k-maskt"),
        args=[
            "--model.width",
            "64",
            "--model.relative-length",
            "--teaching.length-weight",
            "0.5",
            "--beam",
            "3",
        ],
    )
    assert parsed.model == replace(recipe("multi30k-maskt").model, width=64, relative_length=True)  # type: ignore[call-arg]
    assert parsed.teaching == MaskedTeaching(length_weight=0.5)
    assert as_json(parsed)["teaching"] == {"length_weight": 0.5}
    assert "teaching" not in as_json(recipe("multi30k-levt"))


@pytest.mark.parametrize("kind", RECIPES)
def test_the_commands(
    kind: str,
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    sizes = [
        "--model.width",
        "16",
        "--model.hidden",
        "16",
        "--model.heads",
        "2",
        "--model.decoder-layers",
        "1",
    ]
    name = RECIPES[kind].__name__.replace("_", "-")
    sizes += ["--training.tokens", "256", "--training.max-steps", "2"]
    main(["train", name, "--corpus", str(corpus), "--out", str(tmp_path), "--device", "cpu", *sizes])
    lines = "the red bird sees a tree\n\na small bear\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    more = ["--length-beam", "2"] if kind == "masked" else []
    capfd.readouterr()
    main(
        [
            "translate",
            "--model",
            str(tmp_path / "best"),
            "--device",
            "cpu",
            "--json",
            "--max-iterations",
            "2",
            *more,
        ]
    )
    answers = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [bool(a["iterations"]) for a in answers] == [True, False, True]
    assert all(a["iterations"] <= 2 for a in answers)
    assert (len(answers), answers[1]["text"]) == (3, "")
