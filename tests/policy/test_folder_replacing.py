"""The model folder: a new model takes the place of the old one whole or not at all."""

import multiprocessing
import os
import signal
from pathlib import Path

import pytest
import torch
from saved_folders import saved

from levt.errors import ModelError
from levt.policy import atomic
from levt.policy.card import Card
from levt.policy.folder import load_folder


@pytest.mark.parametrize("can_exchange", [True, False])
def test_replacing_a_model(tmp_path: Path, can_exchange: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not can_exchange:
        monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)
    saved(tmp_path / "m", seed=1)
    second = saved(tmp_path / "m", seed=2)
    assert torch.equal(load_folder(tmp_path / "m").model.delete_head, second.delete_head)
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_failed_write_leaves_the_old_model(
    tmp_path: Path, can_exchange: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = saved(tmp_path / "m", seed=1)
    monkeypatch.setattr(Card, "render", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        saved(tmp_path / "m", seed=2)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    if not can_exchange:
        monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)
        rename = Path.rename

        def fails(self: Path, target: Path) -> Path:
            # The second of the two renames: the new folder into place.
            if target.name == "m" and not self.name.endswith(".old"):
                raise OSError("disk gone")
            return rename(self, target)

        monkeypatch.setattr(Path, "rename", fails)
        with pytest.raises(OSError, match="disk gone"):
            saved(tmp_path / "m", seed=2)
        monkeypatch.undo()
    assert torch.equal(load_folder(tmp_path / "m").model.delete_head, first.delete_head)
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def write_for_ever(folder: Path) -> None:
    torch.set_num_threads(1)
    for seed in range(1_000_000):
        saved(folder, seed=seed % 7)


def test_at_every_moment_there_is_a_model(tmp_path: Path) -> None:
    """Look all the time while another process replaces the model, then kill it in the middle."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    if not atomic._exchange(tmp_path / "one", tmp_path / "other"):
        pytest.skip("this file system cannot exchange folders in one step")
    folder = tmp_path / "m"
    saved(folder)
    writer = multiprocessing.get_context("spawn").Process(target=write_for_ever, args=(folder,), daemon=True)
    writer.start()
    seen = set()
    while len(seen) < 20:
        assert writer.is_alive()
        for _ in range(50):
            seen.add((folder / "config.json").stat().st_mtime_ns)
    assert writer.pid is not None
    os.kill(writer.pid, signal.SIGKILL)
    writer.join()
    load_folder(folder)


def test_a_folder_with_other_files_is_not_replaced(tmp_path: Path) -> None:
    saved(tmp_path / "m")
    (tmp_path / "m" / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(ModelError, match=r"thesis\.txt, which is no part of a model"):
        saved(tmp_path / "m")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ModelError, match="file is a file, and a model is a folder"):
        saved(tmp_path / "file")
    assert (tmp_path / "m" / "thesis.txt").exists()


def test_a_place_that_cannot_be_written_is_named_as_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(OSError, match="file/m'") as caught,
        atomic.whole_folder(tmp_path / "file" / "m"),
    ):
        raise AssertionError("there is nothing to write to")
    assert caught.value.filename == str(tmp_path / "file" / "m")


def test_where_the_c_library_has_no_name_two_renames_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nameless(name: str | None, **_: object) -> None:
        raise TypeError("argument of type 'NoneType' is not iterable")  # as on Windows

    monkeypatch.setattr("ctypes.CDLL", nameless)
    for text in ("old", "new"):
        with atomic.whole_folder(tmp_path / "model") as folder:
            (folder / "file").write_text(text)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert (tmp_path / "model/file").read_text() == "new"
