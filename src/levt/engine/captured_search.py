"""Beam search at fixed shapes, some tokens one CUDA graph: the siblings get the same care as LevT.

The device keeps the hypotheses going and records the best extensions of every step; the host reads the records
every few tokens and follows the search exactly as ``refine.search`` defines it. Steps that were started after the
last row was done are ignored.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from levt.engine import step_ops
from levt.engine.arriving import block, sent
from levt.engine.fused_step import FusedStep
from levt.engine.graph import FEW, HEIGHTS, WIDTHS, Graph, bucket, current
from levt.engine.report import to_host
from levt.engine.stage import Reading
from levt.engine.step_ops import Hypotheses
from levt.engine.tuning import Tuning, compiled
from levt.policy.autoregressive import Autoregressive
from levt.refine.request import Tokens
from levt.refine.search import Course, Hypothesis, SearchOptions
from levt.text.specials import BOS

log = logging.getLogger(__name__)

STRIDE = 4
"""Tokens between two looks of the host, and of one graph."""


class SearchStage:
    """Searches of one shape: rows, beam, memory of one width, outputs of one width."""

    def __init__(
        self, network: Autoregressive, reading: Reading, k: int, width: int, *, capture: bool, tuning: Tuning
    ) -> None:
        """For sources that lie in a reading, in which something has been read."""
        self.network, self.reading = network, reading
        assert reading.memory is not None
        self.memory = reading.memory
        b, device = self.memory.rows, self.memory.states.device
        self.cache = network.start(self.memory, width, k)
        candidates = min(2 * k, k * network.config.target_vocabulary)
        self.state = Hypotheses(
            tokens=torch.full((b * k,), BOS, dtype=torch.long, device=device),
            so_far=torch.zeros(b, k, device=device),
            origin=torch.zeros(b * k, width, dtype=torch.long, device=device),
            position=torch.zeros(1, dtype=torch.long, device=device),
            limit=torch.zeros(b, dtype=torch.long, device=device),
            values=torch.zeros(width, b, candidates, device=device),
            places=torch.zeros(width, b, candidates, dtype=torch.long, device=device),
        )
        self._own = torch.arange(b * k, device=device).unsqueeze(1).expand(b * k, width)
        self._fused = FusedStep(network) if tuning.fused else None
        step = compiled(self._step) if tuning.compile else self._step
        self._one = Graph(step, capture=capture)
        self._several = Graph(lambda: _repeat(step, STRIDE), capture=capture)
        for graph in (self._one, self._several):
            if graph.fresh and (graph is self._one or width >= STRIDE):
                # Capturing runs the work, and the work writes: nothing may be in the stage yet.
                self.reset()
                graph.prepare()

    def start(self, limits: Sequence[int]) -> None:
        """Begin anew; rows beyond the limits given are not looked at."""
        b = self.state.limit.shape[0]
        at_once = [2] * (b - len(limits))
        self.state.limit.copy_(sent(np.asarray([*limits, *at_once]), self.state.limit.device))
        self.reset()

    def reset(self) -> None:
        """Nothing written yet: one hypothesis a row."""
        self.cache.position.zero_()
        self.state.position.zero_()
        self.state.tokens.fill_(BOS)
        self.state.origin.copy_(self._own)
        self.state.so_far.fill_(float("-inf"))
        self.state.so_far[:, 0] = 0

    def run(self, done: int, steps: int) -> "Records":
        """Some more tokens, after so many; nothing waits for the device."""
        if steps == STRIDE:
            self._several.run()
        else:
            _repeat(self._one.run, steps)
        return Records(self.state.values[done : done + steps], self.state.places[done : done + steps])

    def _step(self) -> None:
        state = self.state
        if self._fused is not None:
            # The kernel holds all candidates at once: too many where there are many hypotheses.
            advance = (self._fused.ops if state.so_far.shape[1] <= 4 else step_ops).advance
            advance(state, self._fused(self.memory, state, self.cache.kv))
            return
        here = state.position.clone()
        step_ops.advance(state, self.network.step(self.memory, state.tokens, self.cache))
        if state.so_far.shape[1] > 1:
            # Every hypothesis has its tokens in its own row: the rows change places.
            rows = state.origin.index_select(1, here).flatten()
            self.cache.kv.copy_(self.cache.kv.index_select(2, rows))
            state.origin.copy_(self._own)


def _repeat(work: Callable[[], None], times: int) -> None:
    for _ in range(times):
        work()


class Records:
    """The best extensions of some steps, on their way to the host."""

    def __init__(self, values: Float[Tensor, "t b c"], places: Int[Tensor, "t b c"]) -> None:
        self._values, self._places = to_host(values), to_host(places)
        self._event: Any = None
        if values.is_cuda:
            self._event = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self._event.record()

    def read(self) -> Iterator[tuple[list[list[float]], list[list[int]]]]:
        """Wait for them; step by step, the values and places of all rows."""
        if self._event is not None:
            self._event.synchronize()
        return zip(self._values.tolist(), self._places.tolist(), strict=True)


class CapturedSearch:
    """Searches sources in batches of fixed shapes."""

    def __init__(self, network: Autoregressive, *, tuning: Tuning | None = None) -> None:
        self.network, self.tuning = network, tuning or Tuning()
        self.device = next(network.parameters()).device
        self.capture = self.device.type == "cuda"
        self.synchronisations = 0
        """How often the host has waited for the device."""
        self._alone = threading.Lock()
        self._readings: dict[tuple[int, int], Reading] = {}
        self._stages: dict[tuple[int, int, int, int], SearchStage] = {}

    def serves(self, sources: Sequence[Tokens], options: SearchOptions) -> bool:
        """Whether these can be searched here: not too many, and not too long for the network."""
        most = self.network.config.max_length - 2
        return 0 < len(sources) <= HEIGHTS[-1] and options.beam <= 16 and max(map(len, sources)) <= most

    @torch.inference_mode()
    def search(
        self, sources: Sequence[Tokens], limits: Sequence[int], options: SearchOptions
    ) -> list[list[Hypothesis]]:
        """The best outputs of every source; threads take turns, for there is one place of every shape."""
        with self._alone, current(self.device):
            try:
                return self._search(sources, limits, options)
            except torch.OutOfMemoryError:
                log.warning("no memory left on the device: what was captured for other shapes is let go")
            # Not before the error is forgotten, which holds on to what it went through.
            self._stages, self._readings = {}, {}
            torch.cuda.empty_cache()
            return self._search(sources, limits, options)

    def _search(
        self, sources: Sequence[Tokens], limits: Sequence[int], options: SearchOptions
    ) -> list[list[Hypothesis]]:
        longest = self.network.config.max_length
        b, k = bucket(len(sources), HEIGHTS, HEIGHTS[-1]), options.beam
        s = bucket(2 + max(map(len, sources)), WIDTHS, longest)
        wide = bucket(max(limits) - 1, WIDTHS, longest)
        if (b, s) not in self._readings:
            x = torch.zeros(b, s, dtype=torch.long, device=self.device)
            self._readings[b, s] = Reading(self.network, x, capture=self.capture)
        reading = self._readings[b, s]
        reading.read(sent(block(sources, s), self.device))
        if (b, s, k, wide) not in self._stages:
            self._stages[b, s, k, wide] = SearchStage(
                self.network, reading, k, wide, capture=self.capture, tuning=self.tuning
            )
        stage = self._stages[b, s, k, wide]
        stage.start(limits)
        courses = [Course(limit) for limit in limits]
        # A host with many rows to follow follows some steps while the next are made, at the price of a few in vain.
        ahead = 2 if b > FEW else 1
        made: deque[Records] = deque()
        done = 0
        while not all(course.done for course in courses):
            while len(made) < ahead and done < wide:
                steps = min(STRIDE, wide - done)
                made.append(stage.run(done, steps))
                done += steps
            self.synchronisations += 1
            self._follow(courses, made.popleft(), options)
        return [course.best(options) for course in courses]

    def _follow(self, courses: Sequence[Course], records: Records, options: SearchOptions) -> None:
        """Read the records of some steps and let every course go through them."""
        v = self.network.config.target_vocabulary
        for values, places in records.read():
            for course, row_values, row_places in zip(courses, values, places, strict=False):
                if not course.done:
                    found = zip(row_values, row_places, strict=True)
                    course.extend([(value, place // v, place % v) for value, place in found], options)
