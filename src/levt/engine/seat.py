"""Where one sentence is refined: all its numbers in one block, and the graphs of its iterations. Decides nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from levt.engine.graph import Graph
from levt.engine.report import Edits, Fills
from levt.engine.stage import Reading, Stage
from levt.engine.static_edits import Controls, Frame
from levt.policy.levt import LevT
from levt.refine.request import Request, Tokens
from levt.text.specials import BOS, EOS, PAD

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Letter:
    """What the device has to tell after a graph."""

    ints: Array
    floats: Array
    """The numbers of a frame, ``[6 1 n]`` and ``[4 1 n]``."""

    def edits(self) -> Edits:
        """Deletions and placeholders."""
        y, after, drop, counts, lengths, _ = self.ints
        return Edits(y, after, drop != 0, counts, lengths[0, :1], self.floats[0], self.floats[1])

    def fills(self) -> Fills:
        """The state that was filled, before it was edited again."""
        return Fills(self.ints[5], self.floats[3])


class Parts:
    """The parts of a block of words: what is sent comes first, what is told comes last, the state is in both."""

    def __init__(self, block: Tensor, s: int, n: int) -> None:
        marks = -(-2 * n // 8)
        self.x = block[:s].view(1, s)
        self.limits = block[s : s + 2]
        """Most placeholders in a gap, longest state."""
        self.dials = block[s + 2 : s + 3].view(torch.float32)
        """γ and min_edit."""
        at = s + 3
        self.marks = block[at : at + marks].view(torch.bool)[: 2 * n].view(2, 1, n)
        at += marks
        self.sent, self.told = block[: at + n], block[at:]
        self.ints = block[at : at + 6 * n].view(6, 1, n)
        self.floats = block[at + 6 * n :].view(torch.float32).view(4, 1, n)

    @staticmethod
    def size(s: int, n: int) -> int:
        """Words in all."""
        return s + 3 + -(-2 * n // 8) + 8 * n


class Seat:
    """A source of s and a state of n places."""

    def __init__(
        self,
        network: LevT,
        s: int,
        n: int,
        *,
        device: torch.device,
        capture: bool,
        states: Callable[..., Tensor] | None = None,
        pool: Any = None,
    ) -> None:
        self.waits = 0
        """How often the host has waited for the device."""
        block = torch.zeros(Parts.size(s, n), dtype=torch.long)
        self._there = Parts(block.to(device), s, n)
        self._here = Parts(block.pin_memory() if device.type == "cuda" else block, s, n)
        self._event = torch.cuda.Event() if device.type == "cuda" else None  # type: ignore[no-untyped-call]
        # Views that are written to and read from; making them each time would take longer.
        here = self._here
        self._x, self._y = here.x.numpy()[0], here.ints.numpy()[0, 0]
        self._limits, self._dials = here.limits.numpy(), here.dials.numpy()
        self._marks, self._told = here.marks.numpy(), here.told.numpy()
        self._n = n
        there = self._there
        controls = Controls(there.dials[:1], there.dials[1:], there.limits[:1], there.limits[1:])
        reading = Reading(network, there.x, capture=False)
        stage = Stage(
            network, reading, n, capture=False, states=states,
            room=(Frame(there.ints, there.floats, there.marks), controls),
        )  # fmt: skip
        reading.encode()
        self.looks = network.alike
        """Whether deletions and placeholders are one pass: then ``edit`` opens nothing where something is deleted."""
        edit = stage.run_look if self.looks else stage.run_edit

        def turn() -> None:
            stage.run_fill()
            stage.frame.keep_filled()
            edit()

        def fill() -> None:
            stage.run_fill()
            stage.frame.keep_filled()

        def reads(work: Callable[[], None]) -> Callable[[], None]:
            def both() -> None:
                reading.encode()
                work()

            return both

        works = (reads(stage.run_open), reads(edit), edit, turn, fill, stage.run_place)
        graphs = [Graph(work, capture=capture, pool=pool) for work in works]
        # Nobody asks for placeholders alone where deletions are not looked for alone.
        for graph in graphs if self.looks else graphs[:-1]:
            if graph.fresh:
                graph.prepare()
        self._open, self._begin, self._edit, self._turn, self._fill, self._place = graphs

    def take(self, request: Request, limit: int) -> tuple[Array, tuple[Array, Array] | None]:
        """Sit down; gives the state in which it begins, and its locks and glue where there are any."""
        options = request.options
        _write(self._x, request.source)
        _write(self._y, request.draft)
        self._limits[:] = options.max_count, limit
        self._dials[:] = options.empty_gap_penalty, options.min_edit
        self._marks[:] = False
        marked = any(request.locked) or any(request.glued)
        if marked:
            self._marks[:, 0, 1 : len(request.draft) + 1] = request.locked, request.glued
        self._there.sent.copy_(self._here.sent, non_blocking=True)
        marks = (self._marks[0].copy(), self._marks[1].copy()) if marked else None
        return self._y[None].copy(), marks

    def open(self) -> Letter:
        """Read the source; placeholders of an empty canvas."""
        return self._run(self._open)

    def edit(self, *, first: bool = False) -> Letter:
        """Deletions and placeholders; the first time the source is read before."""
        return self._run(self._begin if first else self._edit)

    def place(self) -> Letter:
        """Placeholders, where deletions were looked for alone."""
        return self._run(self._place)

    def turn(self) -> Letter:
        """Tokens, then deletions and placeholders of the next iteration."""
        return self._run(self._turn)

    def fill(self) -> Letter:
        """Tokens."""
        return self._run(self._fill)

    def _run(self, graph: Graph) -> Letter:
        graph.run()
        self._here.told.copy_(self._there.told, non_blocking=True)
        if self._event is not None:
            self._event.record()
            self._event.synchronize()
        self.waits += 1
        told, n = self._told.copy(), self._n
        return Letter(told[: 6 * n].reshape(6, 1, n), told[6 * n :].view(np.float32).reshape(4, 1, n))


def _write(to: Array, tokens: Tokens) -> None:
    """Tokens between their boundaries, then padding."""
    end = len(tokens) + 1
    to[0] = BOS
    to[1:end] = tokens
    to[end] = EOS
    to[end + 1 :] = PAD
