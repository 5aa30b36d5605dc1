"""One trainer in a folder: the second is told who is there; a lock dies with its process, kill -9 included."""

import os
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from small_runs import config, copy_store, trainer

from levt.data.store import Store
from levt.training.lock import FolderInUse, RunLock
from warm_processes import CONTEXT, begin


def hold(folder: Path, ready: Connection) -> None:
    """Take the lock, and stay."""
    RunLock(folder).acquire()
    ready.send(os.getpid())
    time.sleep(600)


@pytest.mark.fault(
    "a second trainer", "in the same folder", "an error that says who is there; kill -9 of the first frees it"
)
def test_the_second_is_refused_and_kill_9_frees(tmp_path: Path) -> None:
    store = copy_store(tmp_path / "store")
    run = tmp_path / "run"
    here, there = CONTEXT.Pipe()
    first = begin(hold, run, there)
    try:
        assert here.poll(60)
        number = here.recv()
        with pytest.raises(
            FolderInUse, match=f"run is in use: process {number} on .* trains there"
        ) as caught:
            trainer(store, run, config(max_steps=2))
        assert "hint: wait for it, stop it, or use another --out folder" in str(caught.value)
        assert not (run / "log.jsonl").exists()
    finally:
        first.kill()
        first.join()
    assert trainer(store, run, config(max_steps=2)).run().step == 2


def test_a_restarted_one_waits_for_the_one_before(tmp_path: Path) -> None:
    here, there = CONTEXT.Pipe()
    first = begin(hold, tmp_path, there)
    try:
        assert here.poll(60)
        began = time.monotonic()
        with pytest.raises(FolderInUse):
            RunLock(tmp_path).acquire(patience=0.2)
        assert time.monotonic() - began >= 0.2
    finally:
        first.kill()
    lock = RunLock(tmp_path)
    lock.acquire(patience=60.0)  # the first is just being ended
    first.join()
    lock.release()


def test_a_run_lets_go_however_it_ends(tmp_path: Path) -> None:
    store = copy_store(tmp_path / "store")
    run = trainer(store, tmp_path / "run", config(max_steps=4))
    assert run.lock.path in RunLock._held

    def broken() -> None:
        raise OSError("the disk is gone")

    run.weights.step = broken  # type: ignore[method-assign]
    with pytest.raises(OSError, match="the disk is gone"):
        run.run()
    assert run.lock.path not in RunLock._held
    assert trainer(Store.open(tmp_path / "store"), tmp_path / "run", config(max_steps=4)).run().step == 4
    assert run.lock.path not in RunLock._held


def test_where_the_file_system_knows_no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno
    import fcntl

    def unknown(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", unknown)
    lock = RunLock(tmp_path)
    lock.acquire()
    assert lock.path in RunLock._held
    lock.release()
    assert lock.path not in RunLock._held


def test_only_the_rest_of_a_model_is_cleared_away(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / ".best.k1ll3d").mkdir(parents=True)
    (run / ".best.md.swp").write_text("an editor's", encoding="utf-8")
    trainer(copy_store(tmp_path / "store"), run, config(max_steps=2)).run()
    assert not (run / ".best.k1ll3d").exists()
    assert (run / ".best.md.swp").read_text("utf-8") == "an editor's"
