"""Doing the steps of a chain: in order or side by side, within a budget of time, interruptible. Knows no screen."""

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, runtime_checkable

from levt.errors import ConfigError, LevtError
from levt.recipes.reproduce.framework.schedule import Pace, heights, next_step, overdue, tails
from levt.recipes.reproduce.framework.step import Step, chain
from levt.recipes.reproduce.framework.workers import Workers
from levt.recipes.reproduce.framework.workplace import Workplace

log = logging.getLogger("levt.reproduce")
LOOK = 0.05
"""Seconds between two looks at steps that run in other processes."""


class StepFailed(LevtError):
    """A step of a chain could not be done."""


class StepStopped(LevtError):
    """A step was asked to stop before its end; raised by its function, and what it has done is kept."""


Failed = Callable[[Step, StepFailed], None]
"""Told which step failed, and why."""


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
    goal: Step | Sequence[Step], work: Workplace, watch: Watch, *, parallel: int = 1, minutes: float | None = None,
    failed: Failed | None = None, first: Sequence[Step] = (),
) -> Outcome:  # fmt: skip
    """Do what is not done yet; a step that would not fit into the minutes left is not begun.

    With ``parallel`` above 1 that many steps run at a time, each in a process, and as many light ones beside them;
    those marked alone run by themselves, and when their time has come what can go on later is stopped for them. A
    step that fails ends it all; but where somebody is told who ``failed``, the others go on, and only what is behind
    it is left. Side by side, what leads to some goals may come ``first``.
    """
    check_means(parallel, minutes)
    goals = [goal] if isinstance(goal, Step) else list(goal)
    waiting = work.pending(*goals)
    watch.planned(waiting, len(chain(*goals)) - len(waiting))
    end = math.inf if minutes is None else time.monotonic() + 60 * minutes
    broken = Broken(failed)
    if parallel == 1:
        return _one_by_one(waiting, work, watch, end, broken)
    behind = heights(waiting, {step.digest for step in chain(*first)})
    return _side_by_side(waiting, work, watch, end, parallel, broken, behind)


def check_means(parallel: int, minutes: float | None) -> None:
    """Refuse a number of processes or a time with which nothing can be done."""
    if parallel < 1:
        raise ConfigError(f"parallel must be at least 1, got {parallel}", hint="--parallel 1 is the default")
    if minutes is not None and not minutes > 0:  # not a number is not above 0, either
        raise ConfigError(
            f"budget-minutes must be above 0, got {minutes}", hint="leave it out to do everything"
        )


class Broken:
    """The steps that have failed; they and what is behind them are not begun again."""

    def __init__(self, tell: Failed | None) -> None:
        self.tell, self.steps = tell, list[Step]()

    def add(self, step: Step, problem: StepFailed) -> None:
        """Note a step that has failed; raises where nobody wants to be told."""
        if self.tell is None:
            raise problem
        self.tell(step, problem)
        self.steps.append(step)

    def left(self, waiting: list[Step]) -> Outcome:
        """What is not done in the end, in order."""
        return Outcome(left=[*self.steps, *waiting])


def _one_by_one(waiting: list[Step], work: Workplace, watch: Watch, end: float, broken: Broken) -> Outcome:
    """Every step in this process."""
    tail = tails(waiting)
    while (
        step := next_step(waiting, [], 1, end - time.monotonic(), tail=tail, failed=broken.steps)
    ) is not None:
        watch.started(step)
        waiting.remove(step)
        began = time.monotonic()
        try:
            work.do(step, replace(work.job(step), tell=partial(watch.told, step)))
        except LevtError as error:
            problem = StepFailed(f"{step.label}: {error.message}", hint=error.hint)
            problem.__cause__ = error
            if isinstance(error, StepStopped):  # somebody wants all of it to end
                raise problem from error
            broken.add(step, problem)
        except Exception as error:
            if broken.tell is None:
                raise
            log.exception("%s has failed", step.label)
            broken.add(step, StepFailed(f"{step.label}: {type(error).__name__}: {error}"))
        else:
            watch.finished(step, time.monotonic() - began)
    return broken.left(waiting)


def _side_by_side(
    waiting: list[Step], work: Workplace, watch: Watch, end: float, parallel: int, broken: Broken,
    behind: Mapping[str, float],
) -> Outcome:  # fmt: skip
    """Every step in another process."""
    began: dict[Step, float] = {}
    stopped: set[Step] = set()
    tail, pace = tails(waiting), Pace()
    looked = time.monotonic()
    with Workers(work, parallel=parallel) as workers:
        while waiting or began:
            now = time.monotonic()
            pace.tick(list(began), now - looked)
            looked, left = now, end - now
            for late in overdue(waiting, list(began), left, broken.steps):
                if late not in stopped:  # a second word would not let it write a checkpoint
                    workers.busy[late].stop()
                    stopped.add(late)
            step = next_step(
                waiting, list(began), parallel, left, behind=behind, tail=tail, pace=pace.factor, failed=broken.steps
            )  # fmt: skip
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
                if answer is None:
                    continue
                seconds = time.monotonic() - began.pop(running)
                if not answer:
                    pace.finished(running)
                    watch.finished(running, seconds)
                elif running in stopped:
                    stopped.remove(running)
                    waiting.insert(0, running)
                    watch.told(running, "stopped, so that times can be taken")
                else:
                    problem = StepFailed(f"{running.label}: {answer['message']}", hint=answer["hint"])
                    broken.add(running, problem)
    return broken.left(waiting)
