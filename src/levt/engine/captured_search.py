"""Beam search at fixed shapes, some tokens one CUDA graph: the siblings get the same care as LevT.

The device keeps the hypotheses going and records the best extensions of every step; the host reads the records
every few tokens and follows the search exactly as ``refine.search`` defines it. Steps that were started after the
last row was done are ignored.
"""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from levt.engine import step_ops
from levt.engine.fused_step import FusedStep
from levt.engine.graph import FEW, WIDTHS, Graph, bucket
from levt.engine.step_ops import Hypotheses
from levt.engine.tuning import Tuning, compiled
from levt.policy.autoregressive import Autoregressive
from levt.policy.layout import Padded
from levt.policy.memory import Memory
from levt.refine.search import Course, Hypothesis, SearchOptions
from levt.text.specials import BOS

STRIDE = 4
"""Tokens between two looks of the host, and of one graph."""


class SearchStage:
    """Searches of one shape: rows, beam, memory of one width, outputs of one width."""

    def __init__(
        self,
        network: Autoregressive,
        memory: Memory,
        k: int,
        width: int,
        *,
        capture: bool,
        tuning: Tuning,
    ) -> None:
        self.network = network
        assert isinstance(memory.layout, Padded)
        self.real = memory.layout.real.clone()
        kv = {name: one.clone() for name, one in memory.kv.items()}
        self.memory = Memory(memory.states.clone(), Padded(self.real), kv)
        b, device = memory.rows, memory.states.device
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

    def start(self, memory: Memory, limits: Int[Tensor, "b"]) -> None:
        """Begin anew with other sources of the same shape."""
        assert isinstance(memory.layout, Padded)
        self.real.copy_(memory.layout.real)
        for name, kv in self.memory.kv.items():
            kv.copy_(memory.kv[name])
        self.state.limit.copy_(limits)
        self.reset()

    def reset(self) -> None:
        """Nothing written yet: one hypothesis a row."""
        self.cache.position.zero_()
        self.state.position.zero_()
        self.state.tokens.fill_(BOS)
        self.state.origin.copy_(self._own)
        self.state.so_far.fill_(float("-inf"))
        self.state.so_far[:, 0] = 0

    def run(self, steps: int) -> None:
        """Some more tokens; nothing waits for the device."""
        if steps == STRIDE:
            self._several.run()
        else:
            _repeat(self._one.run, steps)

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


class CapturedSearch:
    """Searches few sources at a time."""

    def __init__(
        self, network: Autoregressive, *, capture: bool | None = None, tuning: Tuning | None = None
    ) -> None:
        self.network, self.tuning = network, tuning or Tuning()
        device = next(network.parameters()).device
        self.capture = device.type == "cuda" if capture is None else capture
        self.synchronisations = 0
        """How often the host has waited for the device."""
        self._stages: dict[tuple[int, int, int, int], SearchStage] = {}

    @staticmethod
    def serves(memory: Memory, options: SearchOptions) -> bool:
        """Whether these can be searched here."""
        return 0 < memory.rows <= FEW and options.beam <= 16

    @torch.inference_mode()
    def search(self, memory: Memory, limits: Sequence[int], options: SearchOptions) -> list[list[Hypothesis]]:
        """The best outputs of every source of a padded memory."""
        device = memory.states.device
        wide = bucket(max(limits) - 1, WIDTHS, self.network.config.max_length)
        b, s, k = memory.rows, memory.states.shape[1], options.beam
        stage = self._stages.get((b, s, k, wide))
        if stage is None:
            stage = SearchStage(self.network, memory, k, wide, capture=self.capture, tuning=self.tuning)
            self._stages[b, s, k, wide] = stage
        stage.start(memory, torch.tensor(limits, device=device))
        courses = [Course(limit) for limit in limits]
        done = 0
        while not all(course.done for course in courses):
            steps = min(STRIDE, wide - done)
            stage.run(steps)
            state = stage.state
            self._follow(
                courses, state.values[done : done + steps], state.places[done : done + steps], options
            )
            done += steps
        return [course.best(options) for course in courses]

    def _follow(
        self,
        courses: Sequence[Course],
        values: Float[Tensor, "t b c"],
        places: Int[Tensor, "t b c"],
        options: SearchOptions,
    ) -> None:
        """Read the records of some steps and let every course go through them."""
        v = self.network.config.target_vocabulary
        self.synchronisations += 1
        for step_values, step_places in zip(values.tolist(), places.tolist(), strict=True):
            for course, row_values, row_places in zip(courses, step_values, step_places, strict=True):
                if not course.done:
                    found = zip(row_values, row_places, strict=True)
                    course.extend([(value, place // v, place % v) for value, place in found], options)
