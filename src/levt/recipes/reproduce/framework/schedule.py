"""Which step comes next, and how long all will take: by estimates alone. Knows no process and no clock."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from levt.recipes.reproduce.framework.step import Step

CROWD = 0.62
"""How much longer a step takes for each other one beside it: six small trainings on one H200 take 4.1 times as long."""
BESIDE = 2.0
"""How much longer a light step takes beside others: it waits for the same processors, and for the GPU."""
KEPT = 1.25
"""How much more than the estimate is kept for steps that run alone: what they take the time of may be gone tomorrow."""
FIRST, SOONER = 1e9, 1e8
"""How much longer the way to a step counts that runs alone (what is timed together must be there together), or that was
asked for first: more than any work lasts."""
TRUST = 60.0
"""Seconds of work that speak for our estimates before any was done."""


def heights(steps: Sequence[Step], first: Collection[str] = ()) -> dict[str, float]:
    """By digest, how long it takes from the beginning of a step to the end of the last one that waits for it.

    The way to a step that runs alone counts as longer than any other, and then that to those whose digests come
    ``first``.
    """
    found = {
        step.digest: step.seconds + FIRST * step.alone + SOONER * (step.digest in first) for step in steps
    }
    for step in reversed(steps):  # in order, so whoever waits for it has been seen
        for one in step.before:
            if one.digest in found:
                found[one.digest] = max(found[one.digest], one.seconds + found[step.digest])
    return found


def tails(steps: Sequence[Step]) -> dict[str, float]:
    """By digest, how long the light steps take that wait for this step alone; until then it has been of no use.

    A model that was trained, and not decoded when the time is over, may be too large to keep.
    """
    known = {step.digest: step for step in steps}
    found = dict.fromkeys(known, 0.0)
    # Of a light step: what it waits for, and how long it then takes.
    behind: dict[str, tuple[set[str], float]] = {}
    for step in steps:
        if not step.light:
            continue
        waits = [behind.get(one.digest, ({one.digest}, 0.0)) for one in step.before if one.digest in known]
        roots = set().union(*(which for which, _ in waits))
        behind[step.digest] = roots, step.seconds + max((time for _, time in waits), default=0.0)
        if len(roots) == 1:
            (root,) = roots
            found[root] = max(found[root], behind[step.digest][1])
    return found


def next_step(
    waiting: Sequence[Step], running: Sequence[Step], parallel: int, seconds: float, *,
    behind: Mapping[str, float] | None = None, tail: Mapping[str, float] | None = None, pace: float = 1.0,
    failed: Sequence[Step] = (),
) -> Step | None:  # fmt: skip
    """The step to begin now, of those that fit into the time left; where several run, the one most waited for.

    That is the one with the longest way ``behind`` it (by default only its own length). It fits where there is time
    for its ``tail`` of light steps, too (by default none), if everything takes ``pace`` times as long as was thought.
    Where one runs at a time it is the first, but before all others one that reads a user's files: what is wrong with
    them is better said now than after hours of other work. None where all must wait.
    """
    tail = tail or {}
    if any(step.alone for step in running):
        return None
    undone = {step.digest for step in [*waiting, *running, *failed]}
    free = [step for step in waiting if not any(one.digest in undone for one in step.before)]
    if parallel == 1:
        fitting = [step for step in free if step.seconds + tail.get(step.digest, 0.0) <= seconds]
        return min(fitting, key=lambda step: not step.files, default=None)
    crowd = [sum(step.light == light for step in running) for light in (False, True)]
    # What takes times comes last, when nothing else can be done, and its time is kept for it.
    left = (seconds - kept(waiting)) / pace
    together = [
        step
        for step in free
        if not step.alone and slowed(step, crowd[False]) + BESIDE * tail.get(step.digest, 0.0) <= left
    ]
    rank = {step.digest: (behind or {}).get(step.digest, step.seconds) for step in waiting}
    # Places are kept for what leads to a step alone and cannot begin yet: the others would hold them for long.
    later = [step for step in waiting if step not in free and not step.light and not step.alone]
    soon = sum(rank[step.digest] > FIRST for step in later)
    places = {True: parallel, False: parallel - min(soon, parallel - 2)}
    fitting = [
        step for step in together if crowd[step.light] < places[step.light or rank[step.digest] > FIRST]
    ]
    if fitting:
        return max(fitting, key=lambda step: rank[step.digest])
    alone = [step for step in free if step.alone and step.seconds <= seconds]
    return alone[0] if alone and not together and not running else None


def slowed(step: Step, others: int) -> float:
    """How long a step takes beside so many others that are not light."""
    if step.alone or not others:
        return step.seconds
    return step.seconds * (BESIDE if step.light else 1 + CROWD * others)


def kept(waiting: Sequence[Step]) -> float:
    """The seconds that are kept for steps that run alone."""
    return KEPT * sum(step.seconds for step in waiting if step.alone)


def overdue(
    waiting: Sequence[Step], running: Sequence[Step], seconds: float, failed: Sequence[Step] = ()
) -> list[Step]:
    """The running steps that must stop now, so that steps which run alone, and could be begun, still have time."""
    undone = {step.digest for step in [*waiting, *running, *failed]}
    ready = [step for step in waiting if not any(one.digest in undone for one in step.before)]
    due = kept([step for step in ready if step.seconds <= seconds])
    return [step for step in running if step.resumes] if due > 0 and seconds <= due else []


class Pace:
    """How much longer steps take than was thought, by those that are done."""

    def __init__(self) -> None:
        self.thought = self.taken = TRUST
        self.passed: dict[str, float] = {}

    def tick(self, running: Sequence[Step], seconds: float) -> None:
        """Some time has passed for steps that run side by side."""
        heavy = [step for step in running if not step.light and not step.alone]
        for step in heavy:
            share = seconds / (1 + CROWD * (len(heavy) - 1))
            self.passed[step.digest] = self.passed.get(step.digest, 0.0) + share

    def finished(self, step: Step) -> None:
        """A step is done."""
        if step.digest in self.passed:
            self.thought += step.seconds
            self.taken += self.passed.pop(step.digest)

    @property
    def factor(self) -> float:
        """At least 1: who is quicker than was thought has time to spare."""
        return max(1.0, self.taken / self.thought)


class Span(NamedTuple):
    """When a step runs, in seconds from now."""

    begin: float
    end: float


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What will be done, and when."""

    spans: Mapping[str, Span]
    """By digest."""
    left: Sequence[Step]
    """What does not fit."""

    @property
    def seconds(self) -> float:
        """When the last step ends."""
        return max((span.end for span in self.spans.values()), default=0.0)


def forecast(
    steps: Sequence[Step], parallel: int, minutes: float = math.inf, *, pace: float = 1.0, first: Collection[str] = ()
) -> Forecast:  # fmt: skip
    """Follow steps that have to be done, in order, as the runner would; ``pace`` times as slow as is thought."""
    behind, tail, waiting = heights(steps, first), tails(steps), list(steps)
    share: dict[Step, float] = {}  # of a running step that is still to do
    begun: dict[str, float] = {}
    spans: dict[str, Span] = {}
    now = 0.0
    while True:
        running, left = list(share), 60 * minutes - now
        step = next_step(waiting, running, parallel, left, behind=behind, tail=tail, pace=pace)
        if step is not None and (parallel > 1 or not running):
            waiting.remove(step)
            begun[step.digest], share[step] = now, 1.0
            continue
        if not running:
            return Forecast(spans=spans, left=waiting)
        heavy = sum(not one.light for one in running)
        long = {
            one: max(slowed(one, heavy - (not one.light)) * (1.0 if one.alone else pace), 1e-9)
            for one in running
        }
        passed = min(share[one] * long[one] for one in running)
        now += passed
        for one in running:
            share[one] -= passed / long[one]
            if share[one] <= 1e-9:
                del share[one]
                spans[one.digest] = Span(begun[one.digest], now)
