"""Stopping and going on is as if nothing had been: killed, out of minutes, or captured on a GPU."""

import shutil
import signal
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from small_runs import (
    VALIDATION,
    Crash,
    Saved,
    at_step,
    config,
    copy_store,
    crash,
    lessons,
    losses,
    network,
    same,
    trainer,
    weights,
)
from torch import nn

from levt.data.store import Store
from levt.errors import ModelError
from levt.training.checkpoint import checkpoint_path, checkpoints, step_of
from levt.training.log import read_log
from levt.training.loop import Trainer, Validation
from levt.training.stepper import Stepper


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return copy_store(tmp_path_factory.mktemp("store"), draft=True)


@pytest.mark.parametrize("kind", ["levt", "ar"])
@pytest.mark.parametrize("schedule", ["inverse-sqrt", "cosine"])
def test_going_on_is_as_if_it_had_never_stopped(
    store: Store, tmp_path: Path, kind: str, schedule: str
) -> None:
    """To the last bit: weights, moments, average, losses, learning rates, scores. With dropout and sampling."""
    settings = config(max_steps=14, accumulate=2, ema=0.9, schedule=schedule)
    whole = trainer(store, tmp_path / "whole", settings, kind=kind, validation=VALIDATION)
    wanted = whole.run()

    folder = tmp_path / "pieces"
    first = trainer(store, folder, settings, kind=kind, validation=VALIDATION)
    at_step(first, 5, lambda: signal.raise_signal(signal.SIGTERM))  # writes a checkpoint at 5
    assert first.run().step == 5
    second = trainer(store, folder, settings, kind=kind, validation=VALIDATION, seed=99)
    assert second.standing.step == 5
    at_step(second, 5, crash)  # at 10: the checkpoint of 8 is the last
    with pytest.raises(Crash):
        second.run()
    third = trainer(store, folder, settings, kind=kind, validation=VALIDATION, seed=98)
    assert third.standing.step == 8
    found = third.run()

    assert same(weights(whole), weights(third))
    assert losses(folder) == losses(tmp_path / "whole")
    assert (found.step, found.position) == (14, wanted.position)
    assert (found.best, found.best_step, found.stale) == (wanted.best, wanted.best_step, wanted.stale)
    scores = [
        [(r["step"], r["score"]) for r in read_log(path / "log.jsonl") if r["event"] == "validate"]
        for path in (tmp_path / "whole", folder)
    ]
    assert scores[0] == scores[1]
    assert [step for step, _ in scores[0]] == [4, 8, 12, 14]


def test_a_run_that_is_over_is_left_alone(store: Store, tmp_path: Path) -> None:
    settings = config(max_steps=6)
    done = trainer(store, tmp_path, settings, validation=VALIDATION)
    done.run()
    files = sorted(tmp_path.rglob("*"))
    ends = [(r["event"], r["step"]) for r in read_log(tmp_path / "log.jsonl")]
    assert ends[-1] == ("end", 6)
    save = Saved()
    again = trainer(store, tmp_path, settings, validation=VALIDATION, save=save)
    assert again.run().step == 6
    assert same(weights(done), weights(again))
    assert save.notes == []
    assert sorted(tmp_path.rglob("*")) == files
    assert [(r["event"], r["step"]) for r in read_log(tmp_path / "log.jsonl")] == ends
    more = trainer(store, tmp_path, config(max_steps=9), validation=VALIDATION)
    assert more.run().step == 9
    assert [r["step"] for r in read_log(tmp_path / "log.jsonl") if r["event"] == "end"] == [9]


def test_what_a_killed_run_had_no_time_to_remove_goes_when_it_goes_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = config(max_steps=8, save_every=2, keep=2)
    with monkeypatch.context() as patch:
        patch.setattr("levt.training.saving.prune", lambda run, keep: None)
        trainer(store, tmp_path, settings).run()
    assert [step_of(path) for path in checkpoints(tmp_path)] == [2, 4, 6, 8]
    trainer(store, tmp_path, settings)
    assert [step_of(path) for path in checkpoints(tmp_path)] == [6, 8]


def test_a_stopped_run_that_is_given_no_more_steps_is_judged(store: Store, tmp_path: Path) -> None:
    first = trainer(store, tmp_path, config(validate_every=100), validation=VALIDATION)
    at_step(first, 5, lambda: signal.raise_signal(signal.SIGTERM))
    assert first.run().best is None
    for turn in (1, 0):  # and once is enough
        saved = Saved()
        short = config(validate_every=100, max_steps=3)
        again = trainer(store, tmp_path, short, validation=VALIDATION, save=saved)
        standing = again.run()
        assert (standing.step, standing.best_step) == (5, 5)
        assert [note["step"] for note in saved.notes] == [5] * turn


@pytest.mark.parametrize("limit", [{"max_steps": 8}, {"max_steps": 100, "max_minutes": 0.4}])
def test_a_run_that_is_killed_while_it_is_judged_last_is_judged_when_it_goes_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: dict[str, Any]
) -> None:
    """The last step is one at which a checkpoint is due, and no validation."""
    now, scores = [100.0], iter([1.0, 2.0, None, 3.0, 4.0, 5.0, 6.0])
    monkeypatch.setattr("levt.training.loop.time", SimpleNamespace(monotonic=lambda: now[0]))

    def score(_: nn.Module) -> float:
        found = next(scores)
        if found is None:
            raise Crash
        return found

    def made(save: Saved) -> Trainer:
        settings = config(save_every=4, validate_every=3, **limit)
        run = trainer(store, tmp_path, settings, validation=Validation(score, "score"), save=save)
        for step in range(1, 9):
            at_step(run, step, lambda: now.__setitem__(0, now[0] + 3.0))
        return run

    with pytest.raises(Crash):
        made(Saved()).run()
    save = Saved()
    standing = made(save).run()
    assert (standing.step, standing.best_step) == (8, 8)
    assert save.notes[-1]["step"] == 8


def test_a_run_that_is_killed_while_it_saves_the_last_model_saves_it_when_it_goes_on(
    store: Store, tmp_path: Path
) -> None:
    class Full(Saved):
        def __call__(self, model: nn.Module, note: Mapping[str, Any]) -> None:
            if note["step"] == 6:
                raise Crash

    with pytest.raises(Crash):
        trainer(store, tmp_path, config(max_steps=6), save=Full()).run()
    save = Saved()
    run = trainer(store, tmp_path, config(max_steps=6), save=save)
    run.run()
    assert [note["step"] for note in save.notes] == [6]
    assert same(save.weights[-1], run.weights.named())


def test_another_seed_or_size_is_refused(store: Store, tmp_path: Path) -> None:
    trainer(store, tmp_path, config(max_steps=2)).run()
    with pytest.raises(ModelError, match="seed was 1 and is 2"):
        trainer(store, tmp_path, config(max_steps=2, seed=2))
    with pytest.raises(ModelError, match="tokens was 128 and is 192"):
        trainer(store, tmp_path, config(max_steps=2, tokens=192))


def test_a_damaged_checkpoint_is_named_and_the_one_before_it_serves(store: Store, tmp_path: Path) -> None:
    trainer(store, tmp_path, config(max_steps=8)).run()
    last = checkpoint_path(tmp_path, 8)
    (last / "weights.safetensors").write_bytes(b"x")
    with pytest.raises(ModelError, match="step-00000008 is damaged"):
        trainer(store, tmp_path, config(max_steps=8))
    for path in last.iterdir():
        path.unlink()
    last.rmdir()
    assert trainer(store, tmp_path, config(max_steps=8)).standing.step == 4


def test_a_run_that_goes_on_remembers_how_good_the_mean_was(store: Store, tmp_path: Path) -> None:
    def run(max_steps: int, *scores: float) -> list[float]:
        """The scores of what was saved, where the validations of a run give these."""
        coming, save = iter(scores), Saved()
        validation = Validation(lambda _: next(coming), "score")
        trainer(
            store, tmp_path, config(max_steps=max_steps, average=2), validation=validation, save=save
        ).run()
        return [note["score"] for note in save.notes]

    assert run(8, 1.0, 2.0, 9.0) == [1.0, 2.0, 9.0]
    checkpoint = checkpoint_path(tmp_path, 8)
    assert sorted(path.name for path in checkpoint.iterdir()) == ["state.json", "weights.safetensors"]
    assert run(8, 9.0) == []  # it was over: the mean is judged again
    assert run(12, 5.0, 3.0) == []
    assert run(16, 6.0, 9.5) == [9.5]


def test_a_copied_checkpoint_is_left_alone(store: Store, tmp_path: Path) -> None:
    """Somebody keeps a copy under another name beside the checkpoints: it is neither read nor pruned."""
    trainer(store, tmp_path, config(max_steps=4)).run()
    [last] = checkpoints(tmp_path)
    copies = [last.with_name(last.name + end) for end in ("-copy", ".bak")]
    for copy in copies:
        shutil.copytree(last, copy)
    run = trainer(store, tmp_path, config(max_steps=12, keep=1))
    assert run.standing.step == 4
    run.run()
    assert checkpoints(tmp_path) == [checkpoint_path(tmp_path, 12)]
    assert all(copy.is_dir() for copy in copies)


def captures(run: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the run replay steps as on a GPU, where capturing draws random numbers before the first replay."""

    def captured_learn(stepper: Stepper) -> SimpleNamespace:
        torch.rand(7)
        stepper._update = SimpleNamespace(replay=stepper.weights.step)  # type: ignore[assignment]
        return SimpleNamespace(replay=stepper.learn)

    monkeypatch.setattr(Stepper, "_captured_learn", captured_learn)
    original = Stepper.__init__

    def made(stepper: Stepper, *arguments: Any) -> None:
        original(stepper, *arguments)
        stepper.capture = True

    monkeypatch.setattr(Stepper, "__init__", made)
    run.run()
    monkeypatch.undo()


def test_a_captured_run_draws_the_same_when_it_goes_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = trainer(store, tmp_path / "whole", config())
    captures(whole, monkeypatch)
    captures(trainer(store, tmp_path / "parts", config(max_steps=4)), monkeypatch)
    rest = trainer(store, tmp_path / "parts", config())
    assert rest.standing.step == 4
    captures(rest, monkeypatch)
    assert same(weights(whole), weights(rest))


@pytest.mark.gpu
def test_on_a_gpu_too(store: Store, tmp_path: Path) -> None:
    """The first losses behind a stop: other dropout or other samples would change them by far more than rounding."""
    for folder, max_steps in (("whole", 6), ("parts", 4), ("parts", 6)):
        model = network("levt")
        training = config(max_steps=max_steps, precision="fp32", compile=False)
        Trainer(
            model,
            lessons(store, model, training.tokens),
            training,
            tmp_path / folder,
            save=Saved(),
            device="cuda",
        ).run()
    whole, parts = losses(tmp_path / "whole"), losses(tmp_path / "parts")
    assert parts[4] == pytest.approx(whole[4], rel=1e-3)
