"""Several black boxes in processes of their own: answers in order, clear errors, and one Ctrl-C for all."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from levt.errors import ConfigError, InputError
from levt.recipes.black_boxes import BlackBox, NoAnswer, open_black_box
from levt.recipes.black_boxes.side_by_side import translated

CHUNKS = [["a", "b"], ["c"]]
SLOW = "command:read line; case $line in slow) touch began; sleep $(cat long);; esac; echo $line"


class Dies:
    def translate(self, lines: Sequence[str]) -> list[str]:
        os.kill(os.getpid(), signal.SIGKILL)
        return list(lines)


def dies() -> BlackBox:
    return Dies()


class DiesFirst:
    """What Ctrl-C ends before it ends the one that waits."""

    def translate(self, lines: Sequence[str]) -> list[str]:
        subprocess.Popen(["sh", "-c", f"sleep 0.1; kill -INT {os.getppid()}"])
        os._exit(130)


def dies_first() -> BlackBox:
    return DiesFirst()


def test_answers_are_in_order() -> None:
    found = list(translated(CHUNKS, partial(open_black_box, "command:tr a-z A-Z"), 2))
    assert found == [(["a", "b"], ["A", "B"]), (["c"], ["C"])]


@pytest.mark.parametrize("processes", [1, 2])
def test_what_comes_before_a_line_that_cannot_be_read_is_answered(processes: int) -> None:
    def chunks() -> Iterator[list[str]]:
        yield from CHUNKS
        raise InputError("line 4: it is not UTF-8", hint="convert the file")

    found = translated(chunks(), partial(open_black_box, "command:tr a-z A-Z"), processes)
    assert [next(found)[1], next(found)[1]] == [["A", "B"], ["C"]]
    with pytest.raises(InputError, match="line 4"):
        next(found)


@pytest.mark.parametrize("processes", [1, 2])
def test_one_that_cannot_be_opened_says_why(processes: int, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="a black box of kind command has no beam"):
        list(translated(CHUNKS, partial(open_black_box, "command:cat", beam=3), processes))
    assert "Traceback" not in capfd.readouterr().err


def test_one_that_dies_is_told() -> None:
    with pytest.raises(NoAnswer, match="a process of the black box has died"):
        list(translated(CHUNKS, dies, 2))


def test_one_that_dies_of_ctrl_c_is_no_trouble_of_its_own() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            list(translated(CHUNKS[1:], dies_first, 2))
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no groups of processes on this system")
@pytest.mark.parametrize("heard", [True, False])
def test_ctrl_c_ends_all_of_them_or_none(tmp_path: Path, heard: bool) -> None:
    handler = "default_int_handler" if heard else "SIG_IGN"
    code = f"import signal; signal.signal(signal.SIGINT, signal.{handler}); from levt.cli import main; main()"
    command = [
        sys.executable,
        "-c",
        code,
        "blackbox",
        "translate",
        SLOW,
        "--processes",
        "2",
        "--batch-size",
        "1",
    ]
    running = subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    (tmp_path / "long").write_text("60" if heard else "1")
    try:
        assert running.stdin is not None
        running.stdin.write(b"quick\nslow\n")
        running.stdin.close()
        running.stdin = None
        while not (tmp_path / "began").exists():
            assert running.poll() is None
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        answers, said = running.communicate(timeout=30)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
    assert "Traceback" not in said.decode()
    if heard:
        assert said.decode().strip().splitlines()[-1:] == ["interrupted"]
        assert running.returncode == 130
    else:
        assert answers == b"quick\nslow\n"
        assert running.returncode == 0
