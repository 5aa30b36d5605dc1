"""Doing the steps of a chain: in order or side by side, within a budget of time, interruptible. Knows no screen."""

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol, runtime_checkable

from levt.errors import ConfigError, LevtError
from levt.recipes.reproduce.framework.step import Step, chain
from levt.recipes.reproduce.framework.workplace import Workplace

LOOK = 0.2
"""Seconds between two looks at steps that run in other processes."""
PATIENCE = 60.0
"""Seconds that a step has to come to a clean end when it is asked to stop."""


class StepFailed(LevtError):
    """A step of a chain could not be done."""


class StepStopped(LevtError):
    """A step was asked to stop before its end; raised by its function, and what it has done is kept."""


@runtime_checkable
class Watch(Protocol):
    """Somebody who is told how it goes."""

    def planned(self, steps: list[Step], done: int) -> None:
        """These are to be done; so many others are done already."""

    def started(self, step: Step) -> None:
        """A step has begun."""

    def told(self, step: Step, text: str) -> None:
        """A step says how it goes."""

    def finished(self, step: Step, seconds: float) -> None:
        """A step is done."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What is left."""

    left: list[Step]
    """The steps that did not fit into the budget, and those behind them."""

    @property
    def complete(self) -> bool:
        """Whether the goal is reached."""
        return not self.left

    @property
    def seconds(self) -> float:
        """How long the rest will take, one after the other."""
        return sum(step.seconds for step in self.left)


@runtime_checkable
class Running(Protocol):
    """A step on its way."""

    def poll(self) -> bool:
        """Whether it is done; raises where it has failed."""

    def stop(self) -> None:
        """Ask it to come to an end, and wait until it has."""


class Inline:
    """A step that is done in this process, when it is started."""

    def __init__(self, work: Workplace, step: Step, tell: Callable[[str], None]) -> None:
        try:
            work.do(step, replace(work.job(step), tell=tell))
        except StepStopped:
            raise
        except LevtError as error:
            raise StepFailed(f"{step.label}: {error.message}", hint=error.hint) from error

    def poll(self) -> bool:
        """It is done."""
        return True

    def stop(self) -> None:
        """It has ended."""


class Child:
    """A step in a process of its own."""

    def __init__(self, work: Workplace, step: Step) -> None:
        self.step = step
        folder = work.folder / ".jobs"
        folder.mkdir(parents=True, exist_ok=True)
        self.order, self.log = folder / f"{step.digest}.json", folder / f"{step.digest}.log"
        self.trouble = folder / f"{step.digest}.error"
        self.trouble.unlink(missing_ok=True)
        job = work.job(step)
        order = {
            "work": str(work.folder),
            "label": step.label,
            "function": step.function,
            "version": step.version,
            "config": dict(step.config),
            "read": step.read,
            "files": {name: str(path) for name, path in step.files.items()},
            "checksums": step.checksums,
            "digest": step.digest,
            "inputs": {name: str(path) for name, path in job.inputs.items()},
            "out": str(job.out),
            "resumes": step.resumes,
            "trouble": str(self.trouble),
        }
        self.order.write_text(json.dumps(order), encoding="utf-8")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "levt.recipes.reproduce.framework.child", str(self.order)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )

    def poll(self) -> bool:
        """Whether it is done."""
        status = self.process.poll()
        if status is None:
            return False
        if status == 0:
            return True
        try:
            trouble = json.loads(self.trouble.read_text("utf-8"))
        except (OSError, ValueError):
            trouble = {"message": f"its process ended with status {status}", "hint": f"see {self.log}"}
        raise StepFailed(f"{self.step.label}: {trouble['message']}", hint=trouble["hint"])

    def last_line(self) -> str:
        """The last thing it said."""
        return _last_line(self.log)

    def stop(self) -> None:
        """Let it write a checkpoint and end."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def run_chain(
    goal: Step, work: Workplace, watch: Watch, *, parallel: int = 1, minutes: float | None = None
) -> Outcome:
    """Do what is not done yet; a step that would not fit into the minutes left is not begun.

    With ``parallel`` above 1 that many steps run at a time, each in a process; those marked alone run by themselves.
    """
    if parallel < 1:
        raise ConfigError(f"parallel must be at least 1, got {parallel}")
    if minutes is not None and minutes <= 0:
        raise ConfigError(f"budget-minutes must be above 0, got {minutes}")
    waiting = work.pending(goal)
    watch.planned(waiting, len(chain(goal)) - len(waiting))
    end = math.inf if minutes is None else time.monotonic() + 60 * minutes
    running: dict[Step, tuple[Running, float]] = {}
    try:
        while True:
            step = next_step(waiting, list(running), parallel, end - time.monotonic())
            if step is not None:
                watch.started(step)
                began = time.monotonic()
                waiting.remove(step)
                if parallel == 1:
                    running[step] = Inline(work, step, partial(watch.told, step)), began
                else:
                    running[step] = Child(work, step), began
            elif not running:
                return Outcome(left=waiting)
            elif parallel > 1:
                time.sleep(LOOK)
            for step, (one, began) in list(running.items()):
                if one.poll():
                    watch.finished(step, time.monotonic() - began)
                    del running[step]
                elif isinstance(one, Child):
                    watch.told(step, one.last_line())
    finally:
        for one, _ in running.values():
            one.stop()


def next_step(waiting: list[Step], running: list[Step], parallel: int, seconds: float) -> Step | None:
    """The step to begin now, of those that fit into the time left: the longest first where several run.

    (The longest would be the last to end.) None where all must wait.
    """
    if len(running) >= parallel or any(step.alone for step in running):
        return None
    undone = {step.digest for step in [*waiting, *running]}
    free = [
        step
        for step in waiting
        if step.seconds <= seconds and not any(one.digest in undone for one in step.before)
    ]
    if parallel == 1:
        return free[0] if free else None
    together = [step for step in free if not step.alone]
    if together:
        return max(together, key=lambda step: step.seconds)
    return free[0] if free and not running else None


def _last_line(path: Path) -> str:
    """The end of a log, in one line."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 2000))
            lines = [line for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    except OSError:
        return ""
    return lines[-1] if lines else ""
