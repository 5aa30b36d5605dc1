"""Refinement of a few sentences at fixed shapes, each phase a CUDA graph: what makes one sentence fast.

The shapes are buckets of (rows, source width, state width), captured when first needed. The host reads once per
iteration: while it looks at one, nothing is in flight; then it starts the fill of that iteration and the deletions
and placeholders of the next together. A state that outgrows its bucket is run again in a wider one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from levt.edits.script import EditScript
from levt.edits.state import State
from levt.engine import static_edits
from levt.engine.static_edits import Controls, Frame
from levt.policy.layout import Padded
from levt.policy.levt import LevT
from levt.policy.memory import Memory
from levt.refine.loop import Course, Outcome
from levt.refine.phases import Round
from levt.refine.request import Request, Tokens
from levt.text.specials import EOS

WIDTHS = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
HEIGHTS = (1, 2, 4, 8)


def bucket(size: int, sizes: Sequence[int], most: int) -> int:
    """The smallest of the sizes that is enough, at most ``most``.

    >>> bucket(17, WIDTHS, 1024), bucket(60, WIDTHS, 61)
    (24, 61)
    """
    return min(next((s for s in sizes if s >= size), most), most)


class Graph:
    """Some work that is captured when it is first run, and replayed ever after; without CUDA it just runs."""

    def __init__(self, work: Callable[[], None], *, capture: bool) -> None:
        self.work, self.capture = work, capture
        self._graph: torch.cuda.CUDAGraph | None = None

    @property
    def fresh(self) -> bool:
        """Whether capturing is still to be done."""
        return self.capture and self._graph is None

    def prepare(self) -> None:
        """Capture; the work is run once before, so that every library has made its workspaces."""
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.work()
        torch.cuda.current_stream().wait_stream(side)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self.work()

    def run(self) -> None:
        """Do the work, without waiting for it."""
        if not self.capture:
            self.work()
            return
        if self._graph is None:
            self.prepare()
        assert self._graph is not None
        self._graph.replay()


class Reading:
    """Sources of one shape, encoded in place."""

    def __init__(self, network: LevT, b: int, s: int, device: torch.device, *, capture: bool) -> None:
        self.network = network
        self.x = torch.zeros(b, s, dtype=torch.long, device=device)
        self.memory: Memory | None = None
        self.generation = 0
        """Counts what was read: the memory of an earlier reading is gone."""
        self._graph = Graph(self._encode, capture=capture)

    def _encode(self) -> None:
        memory = self.network.encode(self.x)
        if self.memory is None:
            self.memory = memory
            return
        self.memory.states.copy_(memory.states)
        assert isinstance(self.memory.layout, Padded)
        assert isinstance(memory.layout, Padded)
        self.memory.layout.real.copy_(memory.layout.real)
        for name, kv in memory.kv.items():
            self.memory.kv[name].copy_(kv)

    def read(self, sources: Int[Tensor, "b s"]) -> int:
        """Encode padded sources; gives the generation."""
        b, s = sources.shape
        self.x.zero_()
        self.x[:b, :s].copy_(sources, non_blocking=True)
        self._graph.run()
        self.generation += 1
        return self.generation


class Stage:
    """States of one shape over a reading, and the graphs of their phases."""

    def __init__(self, network: LevT, reading: Reading, n: int, *, capture: bool) -> None:
        self.network, self.reading = network, reading
        device = reading.x.device
        b = reading.x.shape[0]
        self.frame = Frame(b, n, device)
        self.controls = Controls.empty(b, device)
        self.steps: Any = static_edits
        if device.type == "cuda":
            from levt.engine import edit_kernels

            self.steps = edit_kernels
        self._open = Graph(self._run_open, capture=capture)
        self._edit = Graph(self._run_edit, capture=capture)
        self._fill = Graph(self._run_fill, capture=capture)

    def prepare(self) -> None:
        """Capture all phases, while no state is in the frame: capturing runs the work, and the work edits."""
        for graph in (self._open, self._edit, self._fill):
            if graph.fresh:
                graph.prepare()

    @property
    def width(self) -> int:
        """Columns of the states."""
        return self.frame.y.shape[1]

    def put(self, courses: Sequence[Course], limits: Sequence[int]) -> None:
        """Take in the states of some courses; the rows left over are padding."""
        options = [course.outcome.request.options for course in courses]
        rest = self.frame.y.shape[0] - len(courses)
        self.frame.put(
            State.of(
                [c.outcome.tokens for c in courses],
                locked=[_follow(c, c.outcome.request.locked) for c in courses],
                glued=[_follow(c, c.outcome.request.glued) for c in courses],
            )
        )
        self.controls.copy_(
            Controls(
                torch.tensor([o.empty_gap_penalty for o in options] + [0.0] * rest),
                torch.tensor([o.min_edit for o in options] + [0.0] * rest),
                torch.tensor([o.max_count for o in options] + [0] * rest),
                torch.tensor([*limits] + [0] * rest),
            )
        )

    def _hidden(self, policy: str) -> Tensor:
        assert self.reading.memory is not None
        y = self.frame.y
        return self.network.hidden(self.reading.memory, y, Padded.of(y), policy)  # type: ignore[arg-type]

    def _run_open(self) -> None:
        static_edits.keep_step(self.frame)
        logits = self.network.placeholder_logits(self._hidden("placeholder"))
        self.steps.insert_step(self.frame, logits, self.controls)

    def _run_edit(self) -> None:
        self.steps.delete_step(self.frame, self.network.delete_logits(self._hidden("delete")), self.controls)
        logits = self.network.placeholder_logits(self._hidden("placeholder"))
        self.steps.insert_step(self.frame, logits, self.controls)

    def _run_fill(self) -> None:
        self.steps.fill_step(self.frame, self.network.token_logits(self._hidden("token")))

    def open(self) -> "Report":
        """Placeholders of an empty canvas."""
        self._open.run()
        return Report.of(self.frame)

    def edit(self) -> "Report":
        """Deletions and placeholders."""
        self._edit.run()
        return Report.of(self.frame)

    def fill(self) -> "Report":
        """Tokens."""
        self._fill.run()
        return Report.of(self.frame)


@dataclass(frozen=True)
class Report:
    """What a phase has done, on its way to the host."""

    ints: Tensor
    floats: Tensor

    @property
    def lengths(self) -> list[int]:
        """How long each row wanted to become."""
        lengths: list[int] = self.ints[4].view(-1)[: self.ints.shape[1]].tolist()
        return lengths

    def left(self, i: int) -> Tokens:
        """The tokens of a row after deletion."""
        return tuple(t for t in self.ints[1, i].tolist() if t > EOS)

    def inserts(self, i: int) -> bool:
        """Whether a row opens placeholders."""
        return bool(self.ints[3, i].any())

    def changes(self, i: int) -> bool:
        """Whether a row deletes or opens placeholders."""
        return self.inserts(i) or bool(self.ints[2, i].any())

    @classmethod
    def of(cls, frame: Frame) -> "Report":
        """Start copying; the numbers are there after the next synchronisation."""
        if not frame.ints.is_cuda:
            return cls(frame.ints.clone(), frame.floats.clone())
        ints = torch.empty(frame.ints.shape, dtype=frame.ints.dtype, pin_memory=True)
        floats = torch.empty(frame.floats.shape, dtype=frame.floats.dtype, pin_memory=True)
        ints.copy_(frame.ints, non_blocking=True)
        floats.copy_(frame.floats, non_blocking=True)
        return cls(ints, floats)


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
    ) -> tuple["Stage", "Report"]:
        """Put the states of all courses into a stage of at least that width, and start the iteration."""
        stage = self._stage(reading, bucket(width, WIDTHS, self.network.config.max_length))
        stage.put(courses, limits)
        edits = stage.edit() if any(c.outcome.tokens for c in courses) else stage.open()
        self._wait()
        return stage, edits


def _going(courses: Sequence[Course]) -> list[tuple[int, Course]]:
    """The courses that have not stopped, with their rows."""
    return [(i, course) for i, course in enumerate(courses) if not course.outcome.stopped]


def _round(course: Course, edits: "Report", fills: "Report | None", i: int) -> Round:
    """One iteration of one row, as plain Python."""
    n, request = len(course.outcome.tokens), course.outcome.request
    locked, glued = _follow(course, request.locked), _follow(course, request.glued)
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


def _follow(course: Course, marks: tuple[bool, ...]) -> tuple[bool, ...]:
    """Marks of the draft's tokens where those tokens are now; new tokens have none."""
    for round_ in course.outcome.rounds:
        marks = round_.script.splice(marks, [False] * len(round_.script.fill))
    return marks
