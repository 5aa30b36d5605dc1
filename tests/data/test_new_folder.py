"""A folder appears whole or not at all."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from levt.data.folder import new_folder
from levt.errors import StoreError


def test_appears_at_the_end(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with new_folder(out) as folder:
        (folder / "a").write_text("1")
        assert not out.exists()
    assert (out / "a").read_text() == "1"
    assert [path.name for path in out.parent.iterdir()] == ["out"]


@pytest.mark.parametrize(
    "problem", [KeyboardInterrupt(), ValueError("ours"), OSError(errno.ENOSPC, "No space left")]
)
def test_nothing_is_left_after_an_error(tmp_path: Path, problem: BaseException) -> None:
    expected = StoreError if isinstance(problem, OSError) else type(problem)

    def fail() -> None:
        with new_folder(tmp_path / "out") as folder:
            (folder / "a").write_text("1")
            raise problem

    with pytest.raises(expected) as caught:
        fail()
    assert list(tmp_path.iterdir()) == []
    if expected is StoreError:
        assert "out cannot be written: No space left" in str(caught.value)
        assert "hint: " in str(caught.value)


def test_existing_folder_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    with pytest.raises(StoreError, match="exists already"), new_folder(tmp_path):
        pass
    with pytest.raises(StoreError, match="exists already"), new_folder(tmp_path / "a"):
        pass
    assert (tmp_path / "a").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    with new_folder(tmp_path / "empty") as folder:
        (folder / "b").touch()
    assert (tmp_path / "empty" / "b").exists()


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "new"):
        (tmp_path / f"to_{name}").symlink_to(tmp_path / name)
        with new_folder(tmp_path / f"to_{name}") as folder:
            (folder / "a").touch()
        assert (tmp_path / f"to_{name}").is_symlink()
        assert [path.name for path in (tmp_path / name).iterdir()] == ["a"]


def test_the_folder_one_is_in_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (".", tmp_path):
        with pytest.raises(StoreError, match="is the folder you are in"), new_folder(Path(name)):
            pass


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX locks and signals")
def test_a_killed_run_is_cleared_and_a_live_one_is_not(tmp_path: Path) -> None:
    out = tmp_path / "out"
    script = f"""
import time
from pathlib import Path
from levt.data.folder import new_folder
with new_folder(Path({str(out)!r})) as folder:
    (folder / "half").write_text("written")
    print("ready", flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(StoreError, match="another process"), new_folder(out):
            pass
        assert (tmp_path / ".out.partial" / "half").exists()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (tmp_path / ".out.partial" / "half").exists()
    assert not out.exists()
    with new_folder(out) as folder:
        assert list(folder.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
