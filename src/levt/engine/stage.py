"""One shape of refinement: sources read and states edited in place, and the graphs that do it. Decides nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from levt.edits.state import State
from levt.engine import static_edits
from levt.engine.graph import Graph
from levt.engine.static_edits import Controls, Frame
from levt.policy.layout import Padded
from levt.policy.levt import LevT
from levt.policy.memory import Memory
from levt.refine.loop import Course
from levt.refine.request import Tokens
from levt.text.specials import EOS


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
                locked=[follow(c, c.outcome.request.locked) for c in courses],
                glued=[follow(c, c.outcome.request.glued) for c in courses],
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


def follow(course: Course, marks: tuple[bool, ...]) -> tuple[bool, ...]:
    """Marks of the draft's tokens where those tokens are now; new tokens have none."""
    for round_ in course.outcome.rounds:
        marks = round_.script.splice(marks, [False] * len(round_.script.fill))
    return marks
