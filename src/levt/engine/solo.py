"""Algorithm 2 for one sentence alone, at fixed shapes: the host sends one block, starts a graph, reads one block.

Course and stops are those of ``refine.loop``. A single row needs no book, and what the host does between two graphs
is all that the device waits for. Where deletion and placeholders see a state alike, a state in which nothing is
deleted is looked at once for both.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from levt.engine.report import FrameRecord, carried
from levt.engine.seat import Array, Seat
from levt.policy.levt import LevT
from levt.refine.loop import Course, Outcome
from levt.refine.record import Rounds
from levt.refine.request import Tokens
from levt.text.specials import PAD


class Solo:
    """Refines one request at a time."""

    def __init__(
        self, network: LevT, *, device: torch.device, capture: bool, states: Callable[..., Tensor], pool: Any
    ) -> None:
        self._new = partial(Seat, network, device=device, capture=capture, states=states, pool=pool)
        self._seats: dict[tuple[int, int], Seat] = {}
        self.synchronisations = 0
        """How often the host has waited for the device."""

    def refine(self, outcome: Outcome, limit: int, s: int, n: int) -> int:
        """Refine with a source of s and a state of n places; gives 0, or the width that was needed and not there."""
        if (s, n) not in self._seats:
            self._seats[s, n] = self._new(s, n)
        seat = self._seats[s, n]
        waits = seat.waits
        needed = _refine(seat, outcome, limit, n)
        self.synchronisations += seat.waits - waits
        return needed


def _refine(seat: Seat, outcome: Outcome, limit: int, n: int) -> int:
    request = outcome.request
    course = Course(outcome, {request.draft: 0})
    before, marks = seat.take(request, limit)
    letter = seat.edit(first=True) if request.draft else seat.open()
    while True:
        edits = letter.edits()
        course.deleted(_tokens(edits.after))
        if outcome.stopped:
            return 0
        if seat.looks and edits.drop.any():
            edits = seat.place().edits()
        if edits.lengths[0] > n:
            outcome.rounds, outcome.tokens, outcome.iterations, outcome.passes = Rounds(), request.draft, 0, 0
            return int(edits.lengths[0])
        inserts, fills = bool(edits.counts.any()), None
        if inserts:
            # Replace placeholders, and begin the next iteration at once where there is to be one.
            last = outcome.iterations >= request.options.max_iterations
            letter = seat.fill() if last else seat.turn()
            fills = letter.fills()
        y = edits.y if fills is None else fills.y
        course.edited(FrameRecord(before, edits, fills, *(marks or (None, None))), 0, _tokens(y))
        if outcome.stopped:
            return 0
        if marks is not None:
            keep = (before != PAD) & ~edits.drop
            marks = (carried(marks[0], keep, edits.counts), carried(marks[1], keep, edits.counts))
        before = y
        if not inserts:
            letter = seat.edit()


def _tokens(y: Array) -> Tokens:
    """The tokens of the only row, without boundaries."""
    return tuple(y[0, 1 : int((y != PAD).sum()) - 1].tolist())
