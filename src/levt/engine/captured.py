"""Refinement of a few sentences at fixed shapes, each phase a CUDA graph: what makes one sentence fast.

The shapes are buckets of (rows, source width, state width), captured when first needed. The host reads once per
iteration: while it looks at one, nothing is in flight; then it starts the fill of that iteration and the deletions
and placeholders of the next together. A state that outgrows its bucket is run again in a wider one.
"""

from collections.abc import Sequence

import torch

from levt.edits.script import EditScript
from levt.edits.state import State
from levt.engine.graph import HEIGHTS, WIDTHS, bucket
from levt.engine.stage import Reading, Report, Stage, follow
from levt.policy.levt import LevT
from levt.refine.loop import Course, Outcome
from levt.refine.phases import Round
from levt.refine.request import Request, Tokens


class Captured:
    """Refines few requests at a time, as fast as launches allow."""

    def __init__(self, network: LevT, *, capture: bool | None = None) -> None:
        self.network = network
        self.device = next(network.parameters()).device
        self.capture = self.device.type == "cuda" if capture is None else capture
        self.synchronisations = 0
        """How often the host has waited for the device."""
        self._readings: dict[tuple[int, int], Reading] = {}
        self._stages: dict[tuple[int, int, int], Stage] = {}

    @staticmethod
    def serves(requests: Sequence[Request]) -> bool:
        """Whether these can be refined here: few, and steered by locks and dials alone."""
        return 0 < len(requests) <= HEIGHTS[-1] and not any(r.steered or r.banned for r in requests)

    @torch.inference_mode()
    def read(self, sources: Sequence[Tokens]) -> tuple[Reading, int]:
        """Encode sources; gives where the memory lies, and its generation."""
        b = bucket(len(sources), HEIGHTS, HEIGHTS[-1])
        s = bucket(2 + max(map(len, sources)), WIDTHS, self.network.config.max_length)
        if (b, s) not in self._readings:
            self._readings[b, s] = Reading(self.network, b, s, self.device, capture=self.capture)
        reading = self._readings[b, s]
        return reading, reading.read(State.of(sources).y)

    def _stage(self, reading: Reading, n: int) -> Stage:
        b, s = reading.x.shape
        if (b, s, n) not in self._stages:
            self._stages[b, s, n] = Stage(self.network, reading, n, capture=self.capture)
            self._stages[b, s, n].prepare()
        return self._stages[b, s, n]

    def _wait(self) -> None:
        self.synchronisations += 1
        if self.device.type == "cuda":
            torch.cuda.current_stream().synchronize()

    @torch.inference_mode()
    def refine(self, reading: Reading, requests: Sequence[Request]) -> list[Outcome]:
        """Algorithm 2 for the requests whose sources are in the reading."""
        positions = self.network.config.max_length
        courses = [Course.of(request) for request in requests]
        limits = [r.options.limit(len(r.source) + 2, len(r.draft) + 2, positions) for r in requests]
        # A translation is about as long as its source; a bucket that proves too narrow costs one more try.
        guesses = [
            max(len(r.draft) + 2, min(limit, len(r.source) * 5 // 4 + 6))
            for r, limit in zip(requests, limits, strict=True)
        ]
        stage, edits = self._enter(reading, courses, limits, max(guesses))
        while True:
            needed = [n for c, n in zip(courses, edits.lengths, strict=False) if not c.outcome.stopped]
            if max(needed) > stage.width:
                stage, edits = self._enter(reading, courses, limits, max(needed))
                continue
            for i, course in _going(courses):
                course.deleted(edits.left(i))
            fill = any(edits.inserts(i) for i, _ in _going(courses))
            more = any(
                edits.changes(i) and course.outcome.iterations < course.outcome.request.options.max_iterations
                for i, course in _going(courses)
            )
            fills = stage.fill() if fill else None
            ahead = stage.edit() if more else None
            if fills or ahead:
                self._wait()
            for i, course in _going(courses):
                course.edited(_round(course, edits, fills, i))
            if ahead is None or not _going(courses):
                return [course.outcome for course in courses]
            edits = ahead

    def _enter(
        self, reading: Reading, courses: Sequence[Course], limits: Sequence[int], width: int
    ) -> tuple[Stage, Report]:
        """Put the states of all courses into a stage of at least that width, and start the iteration."""
        stage = self._stage(reading, bucket(width, WIDTHS, self.network.config.max_length))
        stage.put(courses, limits)
        edits = stage.edit() if any(c.outcome.tokens for c in courses) else stage.open()
        self._wait()
        return stage, edits


def _going(courses: Sequence[Course]) -> list[tuple[int, Course]]:
    """The courses that have not stopped, with their rows."""
    return [(i, course) for i, course in enumerate(courses) if not course.outcome.stopped]


def _round(course: Course, edits: Report, fills: Report | None, i: int) -> Round:
    """One iteration of one row, as plain Python."""
    n, request = len(course.outcome.tokens), course.outcome.request
    locked, glued = follow(course, request.locked), follow(course, request.glued)
    drop = [bool(d) for d in edits.ints[2, i, 1 : n + 1].tolist()]
    gaps = n - sum(drop) + 1
    counts = edits.ints[3, i, :gaps].tolist()
    drop_logp, counts_logp = edits.floats[0, i, 1 : n + 1].tolist(), edits.floats[1, i, :gaps].tolist()
    fill: list[int] = []
    fill_logp: list[float] = []
    if sum(counts):
        assert fills is not None
        at = 1
        places: list[int] = []
        for gap, count in enumerate(counts):
            places += range(at, at + count)
            at += count + (gap < gaps - 1)
        fill = fills.ints[0, i, places].tolist()
        fill_logp = fills.floats[2, i, places].tolist()
    kept_glue = [g for g, gone in zip(glued, drop, strict=True) if not gone]
    own = [p for p, lock in zip(drop_logp, locked, strict=True) if not lock]
    own += [p for p, closed in zip(counts_logp, [*kept_glue, False], strict=True) if not closed]
    return Round(
        EditScript(drop=tuple(drop), counts=tuple(counts), fill=tuple(fill)),
        drop_logp=tuple(drop_logp),
        counts_logp=tuple(counts_logp),
        fill_logp=tuple(fill_logp),
        decided=sum(own) + sum(fill_logp),
        decisions=len(own) + len(fill_logp),
    )
