"""A runner that is killed leaves no step running: kill -9 asks nobody to stop, so the steps must notice."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import levt

HERE = Path(__file__).parent
RUNNER = """
from pathlib import Path
import orphaned_steps
from counted_steps import Quiet
from levt.recipes.reproduce.framework.runner import run_chain
from levt.recipes.reproduce.framework.step import Step
from levt.recipes.reproduce.framework.workplace import Workplace

steps = [
    Step(label=label, run=orphaned_steps.{name}, inputs={{}}, config={{"label": label}}, resumes={resumes}, seconds=1.0)
    for label in ("one", "other")
]
run_chain(steps, Workplace(Path({work!r})), Quiet(), parallel=2)
"""


def until(done: Callable[[], object], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.02)
    return bool(done())


def there(pid: int) -> bool:
    """Whether a process is there and does something."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"  # who has no parent may wait for init


def begun(work: Path, name: str, *, resumes: bool = False) -> tuple["subprocess.Popen[bytes]", list[int]]:
    """A runner with two steps that are at work, and the processes of these."""
    paths = os.pathsep.join([str(HERE), str(Path(levt.__file__).parents[1])])
    process = subprocess.Popen(
        [sys.executable, "-c", RUNNER.format(name=name, work=str(work), resumes=resumes)],
        env={**os.environ, "PYTHONPATH": paths},
    )

    def noted() -> list[int]:
        return [int(pid) for file in work.glob(".*.partial/pid") for pid in file.read_text().split()]

    assert until(lambda: len(noted()) == (4 if name == "has_helpers" else 2))
    return process, noted()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("name", ["waits", "has_helpers", "trains"])
@pytest.mark.fault(
    "kill -9", "the runner of reproduce --parallel", "its steps end with it, trainings with a checkpoint"
)
def test_a_killed_runner_leaves_nobody_at_work(tmp_path: Path, name: str) -> None:
    process, pids = begun(tmp_path, name, resumes=name == "trains")
    assert all(map(there, pids))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert until(lambda: not any(map(there, pids)), 20.0)
    kept = [file.read_text() for file in tmp_path.glob(".*.partial/checkpoint")]
    assert kept == (["whole"] * 2 if name == "trains" else [])


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_who_is_asked_to_stop_is_asked_once(tmp_path: Path) -> None:
    """The runner asks by a signal and lets go of the order book: a training must not take it for a second wish."""
    process, pids = begun(tmp_path, "trains", resumes=True)
    process.terminate()
    assert process.wait(30) == 128 + signal.SIGTERM
    assert not any(map(there, pids))
    assert [file.read_text() for file in tmp_path.glob(".*.partial/checkpoint")] == ["whole"] * 2
