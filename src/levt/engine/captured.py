"""Refinement at fixed shapes, each phase a CUDA graph: what makes one sentence fast, and thousands of them.

The shapes are buckets of (rows, source width, state width), captured when first needed. The host reads once per
iteration. A state that outgrows its bucket is begun again in a wider one, which gives the same edits.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from levt.engine.fused_step import FusedHidden
from levt.engine.graph import FEW, HEIGHTS, WIDTHS, bucket, current, new_pool
from levt.engine.lane import Lane, Work
from levt.engine.solo import Solo
from levt.engine.stage import Reading, Stage
from levt.engine.tuning import Tuning, compiled
from levt.policy.levt import LevT
from levt.refine.loop import Outcome
from levt.refine.record import Rounds
from levt.refine.request import Request

log = logging.getLogger(__name__)

PLACES = 4096
"""Most tokens of a batch, padding counted: 128 rows of 32. More makes nothing faster, and takes memory."""


class Captured:
    """Refines any number of requests, as fast as a device allows."""

    def __init__(
        self,
        network: LevT,
        *,
        places: int = PLACES,
        lanes: int = 2,
        tuning: Tuning | None = None,
    ) -> None:
        """For a network; batches hold so many places, and so many batches take turns."""
        self.network = network
        tuning = tuning or Tuning()
        self._states: Callable[..., Tensor] = FusedHidden(network) if tuning.fused else network.hidden
        if tuning.compile:
            self._states = compiled(self._states)
        self.device = next(network.parameters()).device
        self.capture = self.device.type == "cuda"
        self.places, self.lanes = places, lanes
        self._waits = 0
        self._alone = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        """Nothing is captured yet."""
        self._config = self.network.config
        self._pool = new_pool(capture=self.capture)
        self._readings: dict[tuple[int, int], Reading] = {}
        self._stages: dict[tuple[int, int, int, int], Stage] = {}
        self._solo = Solo(
            self.network, device=self.device, capture=self.capture, states=self._states, pool=self._pool
        )

    @property
    def synchronisations(self) -> int:
        """How often the host has waited for the device."""
        return self._waits + self._solo.synchronisations

    def serves(self, requests: Sequence[Request]) -> bool:
        """Whether these can be refined here: steered by locks and dials alone, and not too long for the network."""
        most = self.network.config.max_length - 2
        return not any(r.steered or r.banned or len(r.source) > most or len(r.draft) > most for r in requests)

    @torch.inference_mode()
    def refine(self, requests: Sequence[Request]) -> list[Outcome]:
        """Algorithm 2 for each of the requests; threads take turns, for there is one place of every shape."""
        with self._alone, current(self.device):
            if self.network.config is not self._config:
                # Somebody lets policies leave early: what was captured does not.
                self._waits = self.synchronisations
                self._begin()
            try:
                return self._refine(requests)
            except torch.OutOfMemoryError:
                log.warning("no memory left on the device: what was captured for other shapes is let go")
            # Not before the error is forgotten, which holds on to what it went through.
            self._waits = self.synchronisations
            self._begin()
            torch.cuda.empty_cache()
            return self._refine(requests)

    def _refine(self, requests: Sequence[Request]) -> list[Outcome]:
        outcomes = [Outcome(request, Rounds(), request.draft) for request in requests]
        positions = self.network.config.max_length
        few = len(requests) <= FEW
        if few and requests:
            sources = bucket(2 + max(len(r.source) for r in requests), WIDTHS, positions)
        limits: list[int] = []
        groups: dict[int, list[int]] = {}
        # Many requests are alike in everything that counts here.
        known: dict[tuple[int, int, int], tuple[int, int]] = {}
        for i, request in enumerate(requests):
            alike = (len(request.source), len(request.draft), id(request.options))
            if alike not in known:
                limit = request.options.limit(len(request.source) + 2, len(request.draft) + 2, positions)
                known[alike] = limit, self._width(request, limit, few=few)
            limit, width = known[alike]
            limits.append(limit)
            groups.setdefault(width, []).append(i)
        if few and groups:
            groups = {max(groups): list(range(len(requests)))}
        while groups:
            width = min(groups)
            numbers = groups.pop(width)
            if groups and not few and 4 * len(numbers) < self._height(width, len(requests)):
                # Too few to be worth a batch of their own.
                groups[min(groups)] += numbers
                continue
            if len(requests) == 1:
                needed = self._solo.refine(outcomes[0], limits[0], sources, width)
                if needed:
                    groups[bucket(needed, WIDTHS, positions)] = numbers
                continue
            for number, needed in self._run(outcomes, limits, numbers, sources if few else width, width):
                groups.setdefault(bucket(needed, WIDTHS, positions), []).append(number)
        return outcomes

    def _width(self, request: Request, limit: int, *, few: bool) -> int:
        """A state about as long as its source; one that proves too narrow costs one more try."""
        n = len(request.source)
        # Few rows are not slower for being wide, so there a second try is less likely.
        room = n * 5 // 4 + 6 if few else n + n // 8 + 3
        needed = max(len(request.draft) + 2, min(limit, room))
        # Batches have one width for both sides: fewer shapes, fuller batches.
        return bucket(needed if few else max(needed, n + 2), WIDTHS, self.network.config.max_length)

    def _height(self, width: int, rows: int) -> int:
        return bucket(min(rows, max(self.places // width, FEW)), HEIGHTS, HEIGHTS[-1])

    def _run(
        self,
        outcomes: Sequence[Outcome],
        limits: Sequence[int],
        numbers: Sequence[int],
        s: int,
        n: int,
    ) -> list[tuple[int, int]]:
        """Work on some of the outcomes in batches of one shape; gives those that did not fit."""
        b = self._height(max(s, n), len(numbers))
        wide: list[tuple[int, int]] = []
        lanes: list[Lane] = []
        waiting = deque(numbers)
        while waiting and len(lanes) < self.lanes:
            k = len(lanes)
            work = Work(
                outcomes,
                limits,
                waiting,
                reading=lambda rows: self._reading(bucket(rows, HEIGHTS, b), s),
                smaller=lambda rows, k=k: self._stage(bucket(max(rows, FEW), HEIGHTS, b), s, n, k),  # type: ignore[misc]
                wide=wide,
            )
            lanes.append(Lane(self._stage(b, s, n, k), work))
        going = list(lanes)
        while going:
            going = [lane for lane in going if lane.turn()]
        self._waits += sum(lane.synchronisations for lane in lanes)
        return wide

    def _reading(self, b: int, s: int) -> Reading:
        """Where sources are read that join a batch."""
        if (b, s) not in self._readings:
            self._readings[b, s] = self._new_reading(b, s)
        return self._readings[b, s]

    def _new_reading(self, b: int, s: int) -> Reading:
        x = torch.zeros(b, s, dtype=torch.long, device=self.device)
        return Reading(self.network, x, capture=self.capture, pool=self._pool)

    def _stage(self, b: int, s: int, n: int, lane: int) -> Stage:
        """Where a batch lies; lanes have their own."""
        key = (b, s, n, lane)
        if key not in self._stages:
            reading = self._new_reading(b, s)
            reading.read(torch.zeros(b, s, dtype=torch.long, device=self.device))
            stage = Stage(self.network, reading, n, capture=self.capture, states=self._states)
            # Only then is it kept: a phase that is still to be captured would edit twice what is there.
            stage.prepare()
            self._stages[key] = stage
        return self._stages[key]
