"""Checkpoints of many processes: read by any number, written in the background, whole or not there, no pickle."""

import pickle
import shutil
import zlib
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
import torch
import worker
from small_runs import config, copy_store, trainer
from test_parallel import close

from levt.data.store import Store
from levt.errors import ConfigError, ModelError
from levt.training.checkpoint import Record, Standing, checkpoint_path, checkpoints, read_record
from levt.training.loop import Trainer
from levt.training.parallel import World
from levt.training.sharded_checkpoint import CheckpointFailed, ShardedWriter, storage
from warm_processes import Found, together

SETTINGS = {"micro_batches": 12, "tokens": 64, "ema": 0.9, "save_every": 2}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    copy_store(folder, 700, draft=True)
    return folder


@pytest.fixture(scope="module")
def alone(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """A run of one process that nothing interrupts."""
    return worker.learn(store, tmp_path_factory.mktemp("alone"), "levt", {**SETTINGS, "max_steps": 4})


@pytest.fixture(scope="module")
def half(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half of that run, by two processes with a part of the weights each."""
    folder = tmp_path_factory.mktemp("half")
    together(worker.learn, 2, store, folder, "levt", {**SETTINGS, "max_steps": 2, "sharding": "shard"})
    return folder


def copied(half: Path, tmp_path: Path) -> Path:
    shutil.copytree(half, tmp_path / "run")
    return tmp_path / "run"


def going_on(store: Path, folder: Path) -> Trainer:
    return trainer(Store.open(store), folder, config(**SETTINGS, max_steps=4))


def test_files(half: Path) -> None:
    [folder] = checkpoints(half)
    names = sorted(path.name for path in folder.iterdir())
    assert names == [*(f"shard-0000{i}-model-00001-of-00001.safetensors" for i in (1, 2)), "state.json"]
    sizes = [path.stat().st_size for path in sorted(folder.glob("shard-*"))]
    assert max(sizes) < 1.2 * min(sizes)


@pytest.mark.slow
def test_of_two_read_by_one_three_and_four(store: Path, half: Path, alone: Found, tmp_path: Path) -> None:
    """The other half of the run is as if one process had done it all."""
    settings = {**SETTINGS, "max_steps": 4}
    shutil.copytree(half, tmp_path / "1")
    close(worker.learn(store, tmp_path / "1", "levt", settings), alone)
    for size in (3, 4):
        folder = tmp_path / str(size)
        shutil.copytree(half, folder)
        found = together(worker.learn, size, store, folder, "levt", {**settings, "sharding": "shard"})
        close(found[0], alone)
    # And what one has written, others read.
    shutil.copytree(tmp_path / "1", tmp_path / "2")
    shutil.rmtree(checkpoint_path(tmp_path / "1", 2))
    further = {**SETTINGS, "max_steps": 6}
    wanted = worker.learn(store, tmp_path / "1", "levt", further)
    found = together(worker.learn, 2, store, tmp_path / "2", "levt", {**further, "sharding": "shard"})
    close(found[0], wanted)


@pytest.mark.slow
@pytest.mark.parametrize("sharding", ["replicate", "shard"])
def test_going_on_is_as_if_it_had_never_stopped(store: Path, tmp_path: Path, sharding: str) -> None:
    """To the last bit, where the number of processes stays."""
    settings = {"sharding": sharding, "ema": 0.9, "save_every": 100}
    whole = together(worker.learn_in_pieces, 2, store, tmp_path / "whole", "levt", settings, [6])
    pieces = together(worker.learn_in_pieces, 2, store, tmp_path / "pieces", "levt", settings, [2, 3, 6])
    for one, other in zip(whole, pieces, strict=True):
        assert one.keys() == other.keys()
        assert all(torch.equal(one[name], other[name]) for name in one)


def test_the_mean_of_the_last_ones(store: Path, tmp_path: Path) -> None:
    """Averaging the last checkpoints gives the same model, whoever wrote them."""
    settings = {"micro_batches": 2, "max_steps": 6, "average": 3, "save_every": 2, "validate_every": 2}
    wanted = worker.learn(store, tmp_path / "1", "ar", settings, validate=True)
    [found, _] = together(
        worker.learn_and_judge, 2, store, tmp_path / "2", "ar", {**settings, "sharding": "shard"}
    )
    assert len(checkpoints(tmp_path / "2")) == 3
    close(found, wanted)


def test_what_is_written_is_what_was_when_it_began(store: Path, tmp_path: Path) -> None:
    wanted, _ = together(worker.write_and_go_on, 2, store, tmp_path)
    run = trainer(Store.open(store), tmp_path, config(max_steps=4, ema=0.9))
    run.lock.release()
    assert run.standing.step == 50
    assert all(torch.equal(tensor, wanted[name]) for name, tensor in run.weights.whole(averaged=False))


def test_a_failed_write_is_told_by_all_and_leaves_the_old_one(store: Path, tmp_path: Path) -> None:
    for found in together(worker.fail_to_write, 2, store, tmp_path):
        said = bytes(found["said"].tolist()).decode()
        assert "step-00000008 could not be written" in said
        assert "hint: is there room on the disk?" in said
    assert [path.name for path in checkpoints(tmp_path)] == ["step-00000004"]
    run = trainer(Store.open(store), tmp_path, config(max_steps=4))
    run.lock.release()
    assert run.standing.step == 4


def test_an_old_torch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has only the storage that pickles."""
    monkeypatch.setattr(torch, "__version__", "2.8.0+cpu")
    with pytest.raises(ConfigError, match=r"need torch 2\.9 or newer") as caught:
        storage()
    assert "--training.sharding replicate" in str(caught.value)


class Bomb:
    """Runs when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit('unpickled')",)


def test_nothing_is_unpickled(store: Path, half: Path, tmp_path: Path) -> None:
    """Not even what torch would take for its own description of a checkpoint."""
    folder = copied(half, tmp_path)
    for name in (".metadata", "__0_0.distcp", "model.pt"):
        (checkpoint_path(folder, 2) / name).write_bytes(pickle.dumps(Bomb()))
    run = going_on(store, folder)
    run.lock.release()
    assert run.standing.step == 2


@pytest.mark.parametrize("damage", ["missing", "cut", "garbage", "swapped", "outside"])
def test_damage_is_named(store: Path, half: Path, tmp_path: Path, damage: str) -> None:
    folder = copied(half, tmp_path)
    one, two = sorted(checkpoint_path(folder, 2).glob("shard-*"))
    state = checkpoint_path(folder, 2) / "state.json"
    if damage == "missing":
        one.unlink()
    elif damage == "cut":
        one.write_bytes(one.read_bytes()[:-10])
    elif damage == "garbage":
        one.write_bytes(b"\xff" * one.stat().st_size)
    elif damage == "swapped":
        one.write_bytes(two.read_bytes())
        size, other = one.stat().st_size, two.stat().st_size
        state.write_text(state.read_text("utf-8").replace(f'{one.name}": ', f'{one.name}": {size}, "x": '))
        assert size == other
    else:
        state.write_text(state.read_text("utf-8").replace(one.name, f"../{one.name}"))
    with pytest.raises(ModelError, match="step-00000002 is damaged") as caught:
        going_on(store, folder)
    assert "resumes from the checkpoint before it" in str(caught.value)


def finish(folder: Path, after: Callable[[], None]) -> None:
    """Give a checkpoint its name, as the first process does when two parts have been written."""
    partial = folder.with_name(f".{folder.name}.part")
    partial.mkdir(parents=True)
    for i in (1, 2):
        (partial / f"shard-{i}.safetensors").write_bytes(b"x" * i)
    writer, written = object.__new__(ShardedWriter), Future[None]()
    writer.world = World()
    written.set_result(None)
    writer._finish(written, partial, folder, Record(standing=Standing(step=8), identity={}), after)


def test_it_has_its_name_once_every_part_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, happened = checkpoint_path(tmp_path, 8), list[tuple[str, list[str]]]()

    def note(event: str, path: Path) -> None:
        happened.append((event, sorted(found.name for found in path.iterdir())))
        assert folder.exists() is (event == "after")

    monkeypatch.setattr("levt.training.sharded_checkpoint.sync", lambda path: note("sync", path))
    finish(folder, lambda: note("after", folder))
    assert happened == [
        (event, ["shard-1.safetensors", "shard-2.safetensors", "state.json"]) for event in ("sync", "after")
    ]
    record = read_record(folder, {})
    assert record.shards == {"shard-1.safetensors": 1, "shard-2.safetensors": 2}
    assert record.sums == {"shard-1.safetensors": zlib.crc32(b"x"), "shard-2.safetensors": zlib.crc32(b"xx")}


def test_an_older_one_of_the_same_step_makes_room(tmp_path: Path) -> None:
    folder = checkpoint_path(tmp_path, 8)
    folder.mkdir(parents=True)
    (folder / "old").write_text("")
    finish(folder, list)
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "checkpoints", "shard-1.safetensors", "shard-2.safetensors", "state.json", "step-00000008",
    ]  # fmt: skip


def test_a_part_that_cannot_be_written(tmp_path: Path) -> None:
    """What went wrong in the background is said when the next one begins, or at the end; nothing gets a name."""
    writer = object.__new__(ShardedWriter)
    writer.world, written = World(), Future[None]()
    written.set_exception(OSError("No space left on device"))
    folder = checkpoint_path(tmp_path, 8)
    writer.pending = Future()
    with pytest.raises(CheckpointFailed, match="could not be written: No space left on device") as caught:
        writer._finish(
            written, folder.with_name(".part"), folder, Record(standing=Standing(), identity={}), list
        )
    assert "room on the disk" in str(caught.value)
    writer.pending.set_exception(caught.value)
    with pytest.raises(CheckpointFailed):
        writer.wait()
    writer.wait()
    assert not checkpoints(tmp_path)
