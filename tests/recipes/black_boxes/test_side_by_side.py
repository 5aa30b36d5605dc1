"""Several black boxes at once: Ctrl-C ends them all, at once and without a word but ours."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SLOW = "command:read line; case $line in slow) touch began; sleep 60;; esac; echo $line"


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no groups of processes on this system")
def test_ctrl_c_ends_all_of_them(tmp_path: Path) -> None:
    code = "from levt.cli import main; main()"
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
    try:
        assert running.stdin is not None
        running.stdin.write(b"quick\nslow\n")
        running.stdin.close()
        running.stdin = None
        while not (tmp_path / "began").exists():
            assert running.poll() is None
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=30)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
    assert said.decode().strip().splitlines()[-1:] == ["interrupted"]
    assert "Traceback" not in said.decode()
    assert running.returncode == 130
