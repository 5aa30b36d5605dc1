"""Checkpoints: whole or not there, refused where they are damaged or of another run."""

import errno
import json
import shutil
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from levt.errors import ModelError
from levt.training.checkpoint import (
    Standing,
    checkpoint_path,
    checkpoints,
    checksum,
    prune,
    read_checkpoint,
    read_record,
    remember_best,
    step_of,
    write_checkpoint,
)
from levt.training.feed import Position

STANDING = Standing(step=7, position=Position(1, 3), seconds=2.5, best=31.25, best_step=4, stale=1)
STATE = {"master": torch.arange(6.0), "step": torch.tensor([7.0])}
IDENTITY = {"seed": 1, "model": {"width": 8}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = checkpoint_path(tmp_path, 7)
    write_checkpoint(path, STANDING, STATE, IDENTITY)
    return path


def change_record(folder: Path, **changes: object) -> None:
    """Let ``state.json`` say something else."""
    record = json.loads((folder / "state.json").read_text("utf-8"))
    (folder / "state.json").write_text(json.dumps({**record, **changes}), encoding="utf-8")


def test_a_disk_that_takes_no_more_is_told_as_of_any_file(tmp_path: Path) -> None:
    """The library that writes tensors has an error of its own, of which nobody knows that it is about the disk."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(OSError, match=r"weights\.safetensors") as caught:
            write_checkpoint(tmp_path / "full", STANDING, {"master": torch.zeros(10_000)}, IDENTITY)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.EFBIG
    assert not list(tmp_path.iterdir())


def test_comes_back_as_it_was(folder: Path) -> None:
    standing, state = read_checkpoint(folder, IDENTITY)
    assert standing == STANDING
    assert all(torch.equal(state[name], tensor) for name, tensor in STATE.items())
    assert [path.name for path in folder.parent.iterdir()] == ["step-00000007"]


@pytest.mark.parametrize("name", ["state.json", "weights.safetensors"])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "garbage", "a list", "other keys"])
def test_damage_is_named(folder: Path, name: str, damage: str) -> None:
    path = folder / name
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(
            {
                "empty": b"",
                "cut": data[: len(data) // 2],
                "garbage": b"\xff" * 100,
                "a list": b"[1, 2]",
                "other keys": b'{"version": 1, "standing": {}, "identity": {}}',
            }[damage]
        )
    with pytest.raises(ModelError, match=r"step-00000007 is damaged") as caught:
        read_checkpoint(folder, IDENTITY)
    assert "resumes from the checkpoint before it" in str(caught.value)


def test_a_flipped_bit_is_no_weight(folder: Path) -> None:
    path = folder / "weights.safetensors"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(ModelError, match=r"is damaged: the checksum of weights\.safetensors differs"):
        read_checkpoint(folder, IDENTITY)


@pytest.mark.parametrize("key", ["version", "standing", "identity"])
def test_a_record_without_a_key_is_damaged(folder: Path, key: str) -> None:
    record = json.loads((folder / "state.json").read_text("utf-8"))
    del record[key]
    (folder / "state.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(ModelError, match=f"is damaged: .*{key}"):
        read_checkpoint(folder, IDENTITY)


def test_another_version_is_refused(folder: Path) -> None:
    record = json.loads((folder / "state.json").read_text("utf-8"))
    (folder / "state.json").write_text(json.dumps({**record, "version": 99}), encoding="utf-8")
    with pytest.raises(ModelError, match="is a checkpoint of version 99, this levt reads 1 and 2"):
        read_checkpoint(folder, IDENTITY)


def test_version_1_is_read(folder: Path) -> None:
    """It had the number of workers in the identity, where nothing may change."""
    record = json.loads((folder / "state.json").read_text("utf-8"))
    old = {"version": 1, "standing": record["standing"], "identity": {**IDENTITY, "workers": 2}}
    (folder / "state.json").write_text(json.dumps(old), encoding="utf-8")
    found = read_record(folder, IDENTITY)
    assert (found.standing, found.workers, found.shards) == (STANDING, 2, {})


def test_version_1_of_one_process_names_no_number_of_them(folder: Path) -> None:
    change_record(folder, version=1, workers=7)
    assert read_record(folder, IDENTITY).workers == 1


def test_who_trained_together_is_remembered(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "by-three", STANDING, STATE, IDENTITY, workers=3)
    assert read_record(tmp_path / "by-three", IDENTITY).workers == 3


@pytest.mark.parametrize("kind", ["shards", "sums"])
def test_files_elsewhere_are_not_read(folder: Path, kind: str) -> None:
    change_record(folder, **{kind: {"../step-00000007/weights.safetensors": 1}})
    with pytest.raises(ModelError, match="a file lies outside the folder"):
        read_record(folder, IDENTITY)


@pytest.mark.parametrize("more", [-1, 1])
def test_a_part_of_another_size_is_found_without_reading_it(folder: Path, more: int) -> None:
    size = (folder / "weights.safetensors").stat().st_size
    change_record(folder, shards={"weights.safetensors": size + more})
    with pytest.raises(ModelError, match=f"weights.safetensors has {size} bytes, not {size + more}"):
        read_record(folder, IDENTITY)


def test_a_record_without_end_is_damaged(folder: Path) -> None:
    (folder / "state.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(ModelError, match="is damaged"):
        read_record(folder, IDENTITY)


def test_a_checksum_is_of_the_whole_file(tmp_path: Path) -> None:
    """Also of one that is read in several pieces."""
    data = bytes(range(256)) * (9 << 12)
    (tmp_path / "file").write_bytes(data)
    assert checksum(tmp_path / "file") == zlib.crc32(data)


def test_a_new_record_is_on_the_disk_before_it_has_its_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever the power goes, the old one or the new one is there, whole; of the new one only the best is."""
    before, synced = (folder / "state.json").read_bytes(), []

    def sync(path: Path) -> None:
        assert (folder / "state.json").read_bytes() == before
        synced.append(json.loads(path.read_text("utf-8"))["standing"]["best"])

    monkeypatch.setattr("levt.training.checkpoint.sync_one", sync)
    better = replace(STANDING, best=40.0, best_step=6, stale=0)
    remember_best(folder, replace(better, step=99, seconds=9.0), IDENTITY)
    assert synced == [40.0]
    assert read_checkpoint(folder, IDENTITY)[0] == better
    assert sorted(path.name for path in folder.iterdir()) == ["state.json", "weights.safetensors"]


def test_another_run_is_refused_with_what_differs(folder: Path) -> None:
    with pytest.raises(ModelError, match="seed was 1 and is 2, workers was None and is 4"):
        read_checkpoint(folder, {**IDENTITY, "seed": 2, "workers": 4})


def test_a_failed_write_leaves_the_old_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (folder / "weights.safetensors").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr("levt.training.checkpoint.write_tensors", full)
    with pytest.raises(OSError, match="no space"):
        write_checkpoint(folder, Standing(step=8), STATE, IDENTITY)
    assert (folder / "weights.safetensors").read_bytes() == before
    assert read_checkpoint(folder, IDENTITY)[0] == STANDING
    assert len(list(folder.parent.iterdir())) == 1


def test_half_written_ones_are_neither_counted_nor_kept(tmp_path: Path) -> None:
    for step in (100, 9, 20):
        write_checkpoint(checkpoint_path(tmp_path, step), Standing(step=step), STATE, IDENTITY)
    # What kill -9 leaves: a folder without its name, and one whose record is missing.
    shutil.copytree(checkpoint_path(tmp_path, 100), tmp_path / "checkpoints" / ".step-00000120.abc")
    checkpoint_path(tmp_path, 130).mkdir()
    assert [path.name for path in checkpoints(tmp_path)] == [
        "step-00000009",
        "step-00000020",
        "step-00000100",
    ]
    prune(tmp_path, 2)
    assert [path.name for path in checkpoints(tmp_path)] == ["step-00000020", "step-00000100"]
    assert not list((tmp_path / "checkpoints").glob(".step-*"))


def test_an_old_one_loses_its_name_before_it_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Power that goes while it is removed leaves no half of a checkpoint."""
    for step in (10, 20):
        write_checkpoint(checkpoint_path(tmp_path, step), Standing(step=step), STATE, IDENTITY)

    def gone(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("levt.training.checkpoint.shutil.rmtree", gone)
        with pytest.raises(KeyboardInterrupt):
            prune(tmp_path, 1)
    assert checkpoints(tmp_path) == [checkpoint_path(tmp_path, 20)]
    prune(tmp_path, 1)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step-00000020"]


@pytest.mark.parametrize("step", [0, 7, 99_999_999, 100_000_000, 12_345_678_901])
def test_every_step_has_a_name_that_tells_it(tmp_path: Path, step: int) -> None:
    assert step_of(checkpoint_path(tmp_path, step)) == step
    assert step_of(Path("step-7")) == -1, "not a name that we give"


def test_no_run_has_no_checkpoints(tmp_path: Path) -> None:
    assert checkpoints(tmp_path / "nothing") == []
