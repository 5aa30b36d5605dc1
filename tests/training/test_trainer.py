"""The training loop: the best is kept, every end is clean."""

import re
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from small_runs import (
    VALIDATION,
    Saved,
    at_step,
    config,
    copy_store,
    losses,
    same,
    trainer,
)
from torch import nn

from levt.data.store import Store
from levt.errors import ConfigError
from levt.training.checkpoint import Standing, checkpoint_path, checkpoints, read_checkpoint
from levt.training.config import MOST_SEED
from levt.training.log import read_log
from levt.training.loop import Trainer, TrainingFailed, Validation


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return copy_store(tmp_path_factory.mktemp("store"), draft=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_step_and_writes(
    store: Store, tmp_path: Path, number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(number)
    run = trainer(store, tmp_path, config(max_steps=50), validation=VALIDATION)
    at_step(run, 3, lambda: signal.raise_signal(number))
    assert run.run().step == 3
    assert f"stopped by {number.name} at step 3; run again to go on" in capsys.readouterr().err
    standing, state = read_checkpoint(checkpoint_path(tmp_path, 3), run.identity)
    assert standing.step == 3
    assert torch.equal(state["master"], run.weights.master.data)
    assert signal.getsignal(number) == before


def test_a_second_signal_does_not_wait(store: Store, tmp_path: Path) -> None:
    run = trainer(store, tmp_path, config(max_steps=50))

    def twice() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    at_step(run, 2, twice)
    with pytest.raises(KeyboardInterrupt):
        run.run()


def test_one_wish_told_by_two_signals_is_one(store: Store, tmp_path: Path) -> None:
    """As by Ctrl-C in the terminal of a command whose processes train: it reaches them, and they are told to stop."""
    run = trainer(store, tmp_path, config(max_steps=50))

    def both() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)

    at_step(run, 2, both)
    assert run.run().step == 2
    assert checkpoint_path(tmp_path, 2).is_dir()


def test_a_signal_in_the_last_step_does_not_spoil_the_end(store: Store, tmp_path: Path) -> None:
    """The run is over: it is validated and finished, not left half-way for ever."""
    run = trainer(store, tmp_path, config(max_steps=6), validation=VALIDATION)
    at_step(run, 6, lambda: signal.raise_signal(signal.SIGTERM))
    run.run()
    events = [(r["event"], r["step"]) for r in read_log(tmp_path / "log.jsonl")]
    assert events[-2:] == [("validate", 6), ("end", 6)]


def scripted(scores: list[float], *, higher: bool = True) -> Validation:
    left = iter(scores)
    return Validation(lambda model: next(left), "score", higher)


@pytest.mark.parametrize(
    ("scores", "higher", "best", "saved"),
    [
        ([1.0, 3.0, 2.0], True, (3.0, 8), [4, 8]),
        ([50.0, 40.0, 45.0], False, (40.0, 8), [4, 8]),
        ([2.0, 2.0, 2.0], True, (2.0, 4), [4]),
        ([float("nan"), 1.0, float("nan")], True, (1.0, 8), [8]),
        ([-5.0, -1.0, -3.0], True, (-1.0, 8), [4, 8]),
    ],
)
def test_the_best_is_kept(
    store: Store,
    tmp_path: Path,
    scores: list[float],
    higher: bool,
    best: tuple[float, int],
    saved: list[int],
) -> None:
    save = Saved()
    run = trainer(store, tmp_path, config(), validation=scripted(scores, higher=higher), save=save)
    standing = run.run()
    assert (standing.best, standing.best_step) == best
    assert [note["step"] for note in save.notes] == saved
    assert save.notes[-1]["score"] == best[0]


def test_the_average_is_what_is_judged_and_saved(store: Store, tmp_path: Path) -> None:
    save = Saved()
    run = trainer(store, tmp_path, config(max_steps=4, ema=0.9), validation=VALIDATION, save=save)
    run.run()
    wanted = run.weights.named()
    assert same(save.weights[-1], wanted)
    assert not same(save.weights[-1], run.weights.named(averaged=False))


def test_patience(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = [1.0, 2.0, 1.5, 1.8, 9.0]
    run = trainer(store, tmp_path, config(max_steps=400, patience=2), validation=scripted(scores))
    standing = run.run()
    assert (standing.step, standing.stale, standing.best_step) == (16, 2, 8)
    assert "no better score in 2 validations" in capsys.readouterr().err
    # Run again: it is over, and stays so.
    again = trainer(store, tmp_path, config(max_steps=400, patience=2), validation=scripted([9.0]))
    assert again.run().step == 16


def test_minutes(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time ends a run, also over several sittings, and the rate of a falling schedule goes to 0 with it."""
    now = [100.0]
    # Its own clock, not everybody's: an event loop in another thread would sleep for hours.
    monkeypatch.setattr("levt.training.loop.time", SimpleNamespace(monotonic=lambda: now[0]))

    def made(minutes: float) -> Trainer:
        settings = config(max_steps=1000, max_minutes=minutes, schedule="linear", warmup=0)
        run = trainer(store, tmp_path, settings)
        original = run.weights.step

        def step() -> None:
            original()
            now[0] += 3.0

        run.weights.step = step  # type: ignore[method-assign]
        return run

    assert made(0.5).run().step == 10
    rates = [rate for _, rate, *_ in losses(tmp_path)]
    assert rates == pytest.approx([0.01 * (1 - i / 10) for i in range(10)])
    now[0] += 1000  # time between sittings does not count
    assert made(0.5).run().step == 10
    assert made(1.0).run().step == 20


def test_the_time_left_is_at_the_pace_of_this_sitting(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first sitting takes 100 seconds a step, the second 3: the second knows its own."""
    now = [100.0]
    monkeypatch.setattr("levt.training.loop.time", SimpleNamespace(monotonic=lambda: now[0]))

    def left(each: float, stop: int, **settings: Any) -> list[str]:
        run = trainer(store, tmp_path, config(max_steps=40, **settings))
        original = run.weights.step

        def step() -> None:
            original()
            now[0] += each
            if run.standing.step + 1 == stop:
                run.stop_asked = "a test"

        run.weights.step = step  # type: ignore[method-assign]
        run.run()
        return re.findall(r"(\S+) left", capsys.readouterr().err)

    assert left(100.0, 10)[-1] == "50:00"
    assert left(3.0, 12) == ["1:27", "1:24"]
    assert left(3.0, 14, max_minutes=1016 / 60) == ["0:07", "0:04"]


def test_the_time_of_a_validation_is_no_time_of_learning(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a validation falls between two lines of the log or not, tokens a second are those of the steps."""
    now = [100.0]
    monkeypatch.setattr("levt.training.loop.time", SimpleNamespace(monotonic=lambda: now[0]))

    def score(_: nn.Module) -> float:
        now[0] += 50.0
        return 0.0

    def rates(folder: Path, validation: Validation | None) -> list[float]:
        run = trainer(
            store, folder, config(log_every=4, validate_every=3, save_every=100), validation=validation
        )
        for step in range(1, 13):
            at_step(run, step, lambda: now.__setitem__(0, now[0] + 2.0))
        run.run()
        return [r["tokens_per_second"] for r in read_log(folder / "log.jsonl") if r["event"] == "train"]

    assert rates(tmp_path / "judged", Validation(score, "score")) == rates(tmp_path / "plain", None)


def test_the_last_checkpoint_and_model_are_written_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    run, save = trainer(store, tmp_path, config(max_steps=8)), Saved()
    run.save, original = save, run.saver.write

    def write(standing: Standing, identity: dict[str, Any]) -> None:
        written.append(standing.step)
        original(standing, identity)

    monkeypatch.setattr(run.saver, "write", write)
    run.run()
    assert written == [4, 8]
    assert [note["step"] for note in save.notes] == [4, 8]


@pytest.mark.parametrize("average", [2, 3])
def test_the_mean_of_the_last_checkpoints_is_judged_too(store: Store, tmp_path: Path, average: int) -> None:
    seen: list[dict[str, torch.Tensor]] = []

    def score(model: nn.Module) -> float:
        seen.append({name: p.detach().clone() for name, p in model.named_parameters()})
        return float(len(seen))

    save = Saved()
    settings = config(max_steps=16, average=average, keep=1)
    run = trainer(store, tmp_path, settings, validation=Validation(score, "score"), save=save)
    standing = run.run()
    assert [path.name[-2:] for path in checkpoints(tmp_path)] == ["08", "12", "16"][-average:]
    assert standing.best == 5.0
    wanted = {name: torch.stack([s[name] for s in seen[4 - average : 4]]).mean(0) for name in seen[0]}
    for name, tensor in wanted.items():
        torch.testing.assert_close(save.weights[-1][name], tensor)
    # The checkpoint is that of the run, not of the mean.
    _, state = read_checkpoint(checkpoint_path(tmp_path, 16), run.identity)
    begin, shape = run.weights.slices["delete_head"]
    torch.testing.assert_close(
        state["master"][begin : begin + shape.numel()].view(shape), seen[3]["delete_head"]
    )


def test_without_validation_the_last_model_is_saved(store: Store, tmp_path: Path) -> None:
    save = Saved()
    run = trainer(store, tmp_path, config(max_steps=6), save=save)
    run.run()
    assert [note["step"] for note in save.notes][-1] == 6
    assert same(save.weights[-1], run.weights.named())


def test_losses_that_are_not_finite_end_the_run(store: Store, tmp_path: Path) -> None:
    run = trainer(store, tmp_path, config(max_bad_steps=3))
    with torch.no_grad():
        run.model.delete_head.fill_(float("nan"))  # type: ignore[operator]
    with pytest.raises(TrainingFailed, match="4 steps had a loss or gradient that is not finite") as caught:
        run.run()
    assert "lower --training.learning-rate" in str(caught.value)
    assert read_log(tmp_path / "log.jsonl")[-1]["bad_steps"] == 4


def test_they_do_so_before_a_checkpoint_is_written_of_them(store: Store, tmp_path: Path) -> None:
    run = trainer(store, tmp_path, config(max_steps=6, max_bad_steps=3, log_every=50, save_every=50))
    with torch.no_grad():
        run.model.delete_head.fill_(float("nan"))  # type: ignore[operator]
    with pytest.raises(TrainingFailed, match="6 steps had a loss or gradient that is not finite"):
        run.run()
    assert not checkpoints(tmp_path)


def test_one_bad_step_is_skipped_and_told(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = trainer(store, tmp_path, config(max_steps=6))
    original, made = run.weights.step, [0]

    def step() -> None:
        made[0] += 1
        if made[0] == 3:
            run.weights.gradient[0] = float("inf")
        original()

    run.weights.step = step  # type: ignore[method-assign]
    assert run.run().step == 6
    assert "skipped 1" in capsys.readouterr().err
    assert run.weights.master.isfinite().all()
    again = trainer(store, tmp_path, config(max_steps=6))
    assert again.weights.bad_steps == 1


@pytest.mark.parametrize(("steps", "where"), [(0, ""), (2, ", in another --out folder")])
def test_out_of_memory_says_what_to_do(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int, where: str
) -> None:
    def full(*_: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB.\nGPU 0 has …")

    if steps:  # a run with a checkpoint, which will not go on with other tokens
        trainer(store, tmp_path, config(max_steps=steps)).run()
    monkeypatch.setattr("levt.training.stepper.Stepper.step", full)
    with pytest.raises(TrainingFailed) as caught:
        trainer(store, tmp_path, config(max_steps=6)).run()
    assert str(caught.value) == (
        "out of memory with tokens = 128: CUDA out of memory. Tried to allocate 9 GiB.\n"
        f"hint: lower --training.tokens and raise --training.accumulate by the same factor{where}"
    )


@pytest.mark.parametrize("error", [MemoryError(), MemoryError("Unable to allocate 36.3 GiB")])
def test_so_does_that_of_the_host(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: MemoryError
) -> None:
    def full(*_: Any) -> None:
        raise error

    monkeypatch.setattr("levt.training.stepper.Stepper.step", full)
    with pytest.raises(TrainingFailed, match="out of memory with tokens = 128: ") as caught:
        trainer(store, tmp_path, config()).run()
    assert "hint: lower --training.tokens" in str(caught.value)


def test_it_learns(store: Store, tmp_path: Path) -> None:
    for kind in ("levt", "ar"):
        run = trainer(
            store, tmp_path / kind, config(max_steps=60, save_every=100, warmup=10), kind=kind, dropout=0.0
        )
        run.run()
        found = losses(tmp_path / kind)
        assert sum(found[-1][2:]) < 0.8 * sum(found[0][2:])


def test_every_seed_that_is_allowed_can_be_used(store: Store, tmp_path: Path) -> None:
    assert trainer(store, tmp_path, config(max_steps=1, seed=MOST_SEED)).run().step == 1
    with pytest.raises(ConfigError, match=f"seed must be at most {MOST_SEED}, got {MOST_SEED + 1}"):
        config(seed=MOST_SEED + 1)
