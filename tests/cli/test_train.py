"""``levt train`` as a user calls it, and as a machine that loses its power treats it."""

import os
import random
import re
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
import torch
from cli_runs import toy
from safetensors.torch import load_file

from levt.cli import main
from levt.policy.folder import load_folder
from levt.training.checkpoint import checkpoints
from levt.training.log import read_log
from levt.training.weights import FlatWeights
from warm_processes import CONTEXT, begin


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy(tmp_path_factory.mktemp("toy"))


def final(run: Path) -> dict[str, torch.Tensor]:
    return load_file(checkpoints(run)[-1] / "weights.safetensors")


LONG = ("--training.max-steps", "100", "--training.save-every", "2", "--training.validate-every", "10")
"""More steps than eleven lives of at most eight have."""


def train_quietly(folder: Path, *command: str) -> None:
    os.chdir(folder)
    main(["train", *command])


def test_help_lists_the_recipes(capsys: pytest.CaptureFixture[str]) -> None:
    for call in (["train"], ["train", "--help"]):
        main(call)
        shown = capsys.readouterr().out
        assert "usage: levt train RECIPE" in shown
        assert "multi30k-levt" in shown
        assert "wmt14-en-de-levt" in shown


def test_help_of_a_recipe_says_how_its_corpus_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["train", "wmt14-en-de-ar", "--help"])
    assert stop.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "levt prepare --train train.en train.de --dev newstest2013.en newstest2013.de" in shown
    assert "--training.max-steps" in shown


def test_every_field_is_a_flag(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    short = "--training.max-steps 2 --training.validate-every 2 --model.width 8 --model.heads 2"
    main(
        [
            "train",
            "toy.py:levt",
            "--out",
            "flags",
            *short.split(),
            "--model.sharing",
            "plh+tok",
            "--metric",
            "chrf",
        ]
    )
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.search(r"step 2, best chrf \d+\.\d\d, model in flags/best\n", shown.err)
    config = load_folder("flags/best").config.model
    assert (config.width, config.sharing) == (8, "plh+tok")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["nothing"], "unknown recipe 'nothing'"),
        (["absent.py:x"], "the recipe file absent.py does not exist"),
        (["toy.py:absent"], "toy.py has no recipe 'absent'"),
        (["toy.py:levt", "--corpus", "missing"], "missing"),
        (["toy.py:levt", "--training.tokens", "3"], "tokens must be at least 16, got 3"),
        (["toy.py:levt", "--training.tokens", "16"], "tokens with boundaries, a batch holds 16"),
        (["toy.py:levt", "--model.max-length", "9"], "too short for the corpus"),
        (["toy.py:levt", "--init", "nowhere"], "there is no model folder nowhere"),
    ],
)
def test_mistakes_end_with_a_message(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    call: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as stop:
        main(["train", *call, *(["--out", "wrong"] if len(call) > 1 else [])])
    assert stop.value.code == 2
    shown = capsys.readouterr()
    assert message in shown.err + shown.out


def train_until(folder: Path, told: Connection, gate: int, ask: bool, *command: str) -> None:
    """The command in a process of its own, which tells every step; after so many it asks itself to stop, or waits."""
    os.chdir(folder)
    original, made = FlatWeights.step, [0]

    def step(weights: FlatWeights) -> None:
        original(weights)
        made[0] += 1
        told.send(made[0])
        if made[0] == gate:
            if ask:
                signal.raise_signal(signal.SIGTERM)
            else:
                time.sleep(600)

    FlatWeights.step = step  # type: ignore[method-assign]
    main(["train", *command])


@pytest.mark.fault(
    "kill -9", "train, ten times at any moment", "run again, the same losses and weights to the bit"
)
@pytest.mark.slow
def test_killed_ten_times_it_ends_as_if_nothing_had_been(folder: Path) -> None:
    """With kill -9 at any moment, SIGTERM once: weights, moments, average and losses are the same to the bit."""
    rng = random.Random()
    pieces, kills = folder / "pieces", 0
    for life in range(12):
        here, there = CONTEXT.Pipe()
        # It is killed some steps on, at any moment of a step or of writing what it has.
        steps = rng.randint(1, 5) if life < 11 else 10_000
        process = begin(
            train_until, folder, there, steps + 3, life == 5, "toy.py:levt", "--out", "pieces", *LONG
        )
        there.close()
        try:
            if life == 11:
                process.join(timeout=120)
                assert process.exitcode == 0
                break
            if life == 5:
                process.join(timeout=120)
                assert process.exitcode == 0
            else:
                while here.poll(120) and here.recv() < steps:
                    pass
                time.sleep(rng.uniform(0, 0.03))
                process.kill()
                process.join()
                assert process.exitcode == -signal.SIGKILL
                kills += 1
        finally:
            process.kill()
            here.close()
    assert kills == 10
    whole = begin(train_quietly, folder, "toy.py:levt", "--out", "whole", *LONG)
    whole.join(timeout=120)
    assert whole.exitcode == 0
    one, two = final(folder / "whole"), final(pieces)
    assert one.keys() == two.keys()
    assert all(torch.equal(one[name], two[name]) for name in one)
    names = ("event", "step", "delete", "placeholder", "token", "learning_rate", "score", "best")
    logs = [
        [{name: r[name] for name in names if name in r} for r in read_log(run / "log.jsonl")]
        for run in (folder / "whole", pieces)
    ]
    assert logs[0] == logs[1]
    assert [r["event"] for r in logs[0]].count("validate") == 10
    models = [load_folder(run / "best").model.state_dict() for run in (folder / "whole", pieces)]
    assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])
    assert sorted(path.name for path in pieces.iterdir()) == [
        "best",
        "checkpoints",
        "experiment.json",
        "finished.json",
        "log.jsonl",
    ]
