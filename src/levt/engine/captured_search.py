"""Beam search at fixed shapes, each token one CUDA graph: the siblings get the same care as LevT.

The device keeps the hypotheses going and records the best extensions of every step; the host reads the records
every few tokens and follows the search exactly as ``refine.search`` defines it. Steps that were started after the
last row was done are ignored.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from levt.engine.graph import FEW, WIDTHS, Graph, bucket
from levt.policy.autoregressive import Autoregressive
from levt.policy.layout import Padded
from levt.policy.memory import Memory
from levt.refine.search import Course, Hypothesis, SearchOptions, next_token
from levt.text.specials import BOS, EOS

STRIDE = 4
"""Tokens between two looks of the host."""


class SearchStage:
    """Searches of one shape: rows, beam, memory of one width, outputs of one width."""

    def __init__(self, network: Autoregressive, memory: Memory, k: int, width: int, *, capture: bool) -> None:
        self.network = network
        assert isinstance(memory.layout, Padded)
        self.real = memory.layout.real.clone()
        kv = {name: one.clone() for name, one in memory.kv.items()}
        self.memory = Memory(memory.states.clone(), Padded(self.real), kv)
        b, device = memory.rows, memory.states.device
        self.cache = network.start(self.memory, width, k)
        self.tokens = torch.full((b * k,), BOS, dtype=torch.long, device=device)
        self.so_far = torch.zeros(b, k, device=device)
        self.limit = torch.zeros(b, dtype=torch.long, device=device)
        candidates = min(2 * k, k * network.config.target_vocabulary)
        self.values = torch.zeros(width, b, candidates, device=device)
        self.places = torch.zeros(width, b, candidates, dtype=torch.long, device=device)
        self._graph = Graph(self._step, capture=capture)
        if self._graph.fresh:
            # Capturing runs the work, and the work writes: nothing may be in the stage yet.
            self.reset()
            self._graph.prepare()

    def start(self, memory: Memory, limits: Int[Tensor, "b"]) -> None:
        """Begin anew with other sources of the same shape."""
        assert isinstance(memory.layout, Padded)
        self.memory.states.copy_(memory.states)
        self.real.copy_(memory.layout.real)
        for name, kv in self.memory.kv.items():
            kv.copy_(memory.kv[name])
        self.limit.copy_(limits)
        self.reset()

    def reset(self) -> None:
        """Nothing written yet: one hypothesis a row."""
        self.cache.position.zero_()
        self.tokens.fill_(BOS)
        self.so_far.fill_(float("-inf"))
        self.so_far[:, 0] = 0

    def step(self) -> None:
        """One more token; nothing waits for the device."""
        self._graph.run()

    def _step(self) -> None:
        b, k = self.so_far.shape
        position = self.cache.position.clone()
        logits = self.network.step(self.memory, self.tokens, self.cache)
        logp = next_token(logits).view(b, k, -1)
        v = logp.shape[2]
        # Where a row is at its longest output only the end is allowed.
        last = (position >= self.limit - 2).view(b, 1, 1)
        not_end = torch.arange(v, device=logp.device).ne(EOS)
        total = (self.so_far.unsqueeze(2) + logp).masked_fill(last & not_end, float("-inf"))
        values, places = total.flatten(1).topk(self.values.shape[2])
        self.values.index_copy_(0, position, values.unsqueeze(0))
        self.places.index_copy_(0, position, places.unsqueeze(0))
        # The best k that do not end go on, in order; where there are fewer, hypotheses of no weight fill up.
        order = torch.arange(values.shape[1], device=logp.device)
        ends = (places % v).eq(EOS) | values.eq(float("-inf"))
        chosen = torch.where(ends, order + values.shape[1], order).topk(k, largest=False, sorted=True).indices
        self.so_far.copy_(values.gather(1, chosen).masked_fill(ends.gather(1, chosen), float("-inf")))
        places = places.gather(1, chosen)
        self.tokens.copy_((places % v).flatten())
        rows = torch.arange(b, device=logp.device).unsqueeze(1) * k + places // v
        self.cache.kv.copy_(self.cache.kv.index_select(2, rows.flatten()))


class CapturedSearch:
    """Searches few sources at a time."""

    def __init__(self, network: Autoregressive, *, capture: bool | None = None) -> None:
        self.network = network
        device = next(network.parameters()).device
        self.capture = device.type == "cuda" if capture is None else capture
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
            stage = SearchStage(self.network, memory, k, wide, capture=self.capture)
            self._stages[b, s, k, wide] = stage
        stage.start(memory, torch.tensor(limits, device=device))
        courses = [Course(limit) for limit in limits]
        done = 0
        while not all(course.done for course in courses):
            steps = min(STRIDE, wide - done)
            for _ in range(steps):
                stage.step()
            self._follow(
                courses, stage.values[done : done + steps], stage.places[done : done + steps], options
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
        for step_values, step_places in zip(values.tolist(), places.tolist(), strict=True):
            for course, row_values, row_places in zip(courses, step_values, step_places, strict=True):
                if not course.done:
                    found = zip(row_values, row_places, strict=True)
                    course.extend([(value, place // v, place % v) for value, place in found], options)
