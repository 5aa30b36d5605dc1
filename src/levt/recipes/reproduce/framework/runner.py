"""Doing the steps of a chain: in order or side by side, within a budget of time, interruptible. Knows no screen."""

import math
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, runtime_checkable

from levt.errors import ConfigError, LevtError
from levt.recipes.reproduce.framework.step import Step, chain
from levt.recipes.reproduce.framework.workers import Workers
from levt.recipes.reproduce.framework.workplace import Workplace

LOOK = 0.05
"""Seconds between two looks at steps that run in other processes."""


CROWD = 0.7
"""How much longer a step takes for each other one beside it: three trainings on one GPU take 2.4 times as long."""


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
    if parallel == 1:
        return _one_by_one(waiting, work, watch, end)
    return _side_by_side(waiting, work, watch, end, parallel)


def _one_by_one(waiting: list[Step], work: Workplace, watch: Watch, end: float) -> Outcome:
    """Every step in this process."""
    while (step := next_step(waiting, [], 1, end - time.monotonic())) is not None:
        watch.started(step)
        waiting.remove(step)
        began = time.monotonic()
        try:
            work.do(step, replace(work.job(step), tell=partial(watch.told, step)))
        except LevtError as error:
            raise StepFailed(f"{step.label}: {error.message}", hint=error.hint) from error
        watch.finished(step, time.monotonic() - began)
    return Outcome(left=waiting)


def _side_by_side(waiting: list[Step], work: Workplace, watch: Watch, end: float, parallel: int) -> Outcome:
    """Every step in another process."""
    began: dict[Step, float] = {}
    with Workers(work, parallel=parallel) as workers:
        while waiting or began:
            left = (end - time.monotonic()) / (1 + CROWD * (parallel - 1))
            step = next_step(waiting, list(began), parallel, left)
            if step is not None:
                watch.started(step)
                waiting.remove(step)
                began[step] = time.monotonic()
                workers.start(step)
            elif not began:
                break
            else:
                time.sleep(LOOK)
            for running in list(began):
                watch.told(running, workers.busy[running].last_line())
                answer = workers.look(running)
                if answer:
                    raise StepFailed(f"{running.label}: {answer['message']}", hint=answer["hint"])
                if answer is not None:
                    watch.finished(running, time.monotonic() - began.pop(running))
    return Outcome(left=waiting)


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
