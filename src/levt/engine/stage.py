"""One shape of refinement: sources read and states edited in place, and the graphs that do it. Decides nothing."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from levt.engine import static_edits
from levt.engine.arriving import Arriving, sent
from levt.engine.graph import FEW, Graph, bucket
from levt.engine.report import Mail
from levt.engine.static_edits import Controls, Frame
from levt.policy.autoregressive import Autoregressive
from levt.policy.config import Policy
from levt.policy.layout import Padded
from levt.policy.levt import LevT
from levt.policy.memory import Memory


class Reading:
    """Sources of one shape, encoded in place."""

    def __init__(
        self,
        network: LevT | Autoregressive,
        x: Int[Tensor, "b s"],
        *,
        capture: bool,
        pool: Any = None,
    ) -> None:
        self.network, self.x = network, x
        self.memory: Memory | None = None
        self._graph = Graph(self.encode, capture=capture, pool=pool)

    def encode(self) -> None:
        """Encode what is there."""
        memory = self.network.encode(self.x)
        if self.memory is None:
            self.memory = memory
            return
        assert isinstance(self.memory.layout, Padded)
        assert isinstance(memory.layout, Padded)
        # The states themselves are not looked at again: towers read their keys and values.
        self.memory.layout.real.copy_(memory.layout.real)
        for name, kv in memory.kv.items():
            self.memory.kv[name].copy_(kv)

    def read(self, sources: Int[Tensor, "b s"]) -> None:
        """Encode padded sources, as the first rows."""
        b, s = sources.shape
        self.x.zero_()
        self.x[:b, :s].copy_(sources, non_blocking=True)
        self._graph.run()


class Stage:
    """States of one shape over a reading, and the graphs of their phases."""

    def __init__(
        self,
        network: LevT,
        reading: Reading,
        n: int,
        *,
        capture: bool,
        states: Callable[..., Tensor] | None = None,
        room: tuple[Frame, Controls] | None = None,
    ) -> None:
        """States of n columns; ``states`` may be a faster way to do what ``network.hidden`` does."""
        self.network, self.reading = network, reading
        self.states = network.hidden if states is None else states
        device = reading.x.device
        b = reading.x.shape[0]
        self.frame, self.controls = room or (Frame.empty(b, n, device), Controls.empty(b, device))
        self.steps: Any = static_edits
        if device.type == "cuda":
            from levt.engine import edit_kernels

            self.steps = edit_kernels
        self._open = Graph(self.run_open, capture=capture)
        self._edit = Graph(self.run_edit, capture=capture)
        self._fill = Graph(self.run_fill, capture=capture)
        self._fill_at: dict[int, Graph] = {}
        self._event = torch.cuda.Event() if device.type == "cuda" else None  # type: ignore[no-untyped-call]

    def prepare(self) -> None:
        """Capture all phases, while no state is in the frame: capturing runs the work, and the work edits."""
        for graph in (self._open, self._edit, self._fill):
            if graph.fresh:
                graph.prepare()

    @property
    def width(self) -> int:
        """Columns of the states."""
        return self.frame.y.shape[1]

    def clear(self) -> None:
        """Make all rows empty."""
        for part in (self.frame.y, self.frame.locked, self.frame.glued):
            part.zero_()

    def place(self, arriving: Arriving) -> None:
        """Take in states, each in its row; the other rows stay as they are."""
        device, n = self.frame.y.device, self.width
        ints, floats = sent(arriving.ints, device), sent(arriving.floats, device)
        rows, controls = ints[:, n], self.controls
        for mine, theirs in (
            (self.frame.y, ints[:, :n]),
            (controls.max_count, ints[:, n + 1]),
            (controls.limit, ints[:, n + 2]),
            (controls.empty_gap_penalty, floats[:, 0]),
            (controls.min_edit, floats[:, 1]),
        ):
            mine.index_copy_(0, rows, theirs)
        if arriving.marks is None:
            for mine in (self.frame.locked, self.frame.glued):
                mine.index_fill_(0, rows, False)
        else:
            for mine, theirs in zip(
                (self.frame.locked, self.frame.glued), sent(arriving.marks, device), strict=True
            ):
                mine.index_copy_(0, rows, theirs)

    def adopt(self, other: "Stage", rows: Int[Tensor, "r"]) -> None:
        """Take over some rows of a stage of the same widths, as the first rows of this one."""
        self.clear()
        mine, theirs = self.reading.memory, other.reading.memory
        assert mine is not None
        assert theirs is not None
        assert isinstance(mine.layout, Padded)
        assert isinstance(theirs.layout, Padded)
        mine.layout.real.zero_()
        pairs = [(mine.layout.real, theirs.layout.real)]
        pairs += [(kv, theirs.kv[name]) for name, kv in mine.kv.items()]
        pairs += zip(self.frame.state.parts, other.frame.state.parts, strict=True)
        pairs += zip(self.controls.parts, other.controls.parts, strict=True)
        for here, there in pairs:
            here[: rows.shape[0]].copy_(there.index_select(0, rows))

    def mark(self) -> None:
        """What has been started so far is what the next wait is for."""
        if self._event is not None:
            self._event.record()

    def wait(self) -> None:
        """Wait for what was started before the mark."""
        if self._event is not None:
            self._event.synchronize()

    def _hidden(self, policy: Policy) -> Tensor:
        assert self.reading.memory is not None
        y = self.frame.y
        return self.states(self.reading.memory, y, Padded.of(y), policy)

    def run_open(self) -> None:
        """The work of ``open``."""
        static_edits.keep_step(self.frame)
        self.run_place()

    def run_edit(self) -> None:
        """The work of ``edit``."""
        self.steps.delete_step(self.frame, self.network.delete_logits(self._hidden("delete")), self.controls)
        self.run_place()

    def run_look(self) -> None:
        """Deletions; and where nothing was deleted, placeholders too: the state is the one just looked at.

        For policies that see a state alike. Rows with deletions open nothing, and are to be looked at again.
        """
        frame, controls, h = self.frame, self.controls, self._hidden("delete")
        self.steps.delete_step(frame, self.network.delete_logits(h), controls)
        most = controls.max_count * (1 - frame.drop.amax(1))
        self.steps.insert_step(frame, self.network.placeholder_logits(h), replace(controls, max_count=most))

    def run_place(self) -> None:
        """Placeholders alone."""
        logits = self.network.placeholder_logits(self._hidden("placeholder"))
        self.steps.insert_step(self.frame, logits, self.controls)

    def run_fill(self) -> None:
        """The work of ``fill``, with the vocabulary scored everywhere."""
        self.steps.fill_step(self.frame, self.network.token_logits(self._hidden("token")))

    def _run_fill_at(self, holes: int) -> None:
        """The same with the vocabulary scored at so many places alone."""
        places = static_edits.holes(self.frame.y, holes)
        h = self._hidden("token").flatten(0, 1).index_select(0, places.clamp(min=0))
        self.steps.fill_places(self.frame, self.network.token_logits(h), places)

    def open(self) -> Mail:
        """Placeholders of an empty canvas."""
        self._open.run()
        return Mail(self.frame, fills=False)

    def edit(self) -> Mail:
        """Deletions and placeholders."""
        self._edit.run()
        return Mail(self.frame, fills=False)

    def fill(self, holes: int) -> Mail:
        """Tokens; where there are at most so many placeholders, the vocabulary is scored at no more places."""
        self._filling(holes).run()
        return Mail(self.frame, fills=True)

    def _filling(self, holes: int) -> Graph:
        places = self.frame.y.numel()
        # Where there are few places, finding the placeholders takes longer than scoring them all.
        size = bucket(holes, [places // 16, places // 8, places // 4], places)
        if size == places or self.frame.y.shape[0] <= FEW:
            return self._fill
        if size not in self._fill_at:
            graph = Graph(partial(self._run_fill_at, size), capture=self._fill.capture)
            if graph.fresh:
                with self.frame.kept():
                    graph.prepare()
            self._fill_at[size] = graph
        return self._fill_at[size]
