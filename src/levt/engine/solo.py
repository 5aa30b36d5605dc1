"""Algorithm 2 for one sentence alone, at fixed shapes: the host sends one block, starts a graph, reads one block.

Same edits and stops as ``refine.loop``. With a single row there is no book to keep, and what the host does between two
graphs is all that the device waits for.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from levt.engine.report import FrameRecord, carried
from levt.engine.seat import Letter, Seat
from levt.policy.levt import LevT
from levt.refine.loop import Outcome
from levt.refine.record import Rounds
from levt.text.specials import EOS, PAD


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
    before, marks = seat.take(request, limit)
    letter: Letter | None = seat.edit(first=True) if request.draft else seat.open()
    seen = {before.tobytes(): 0}
    left = b""
    while letter is not None:
        edits = letter.edits()
        if edits.lengths[0] > n:
            outcome.rounds, outcome.iterations, outcome.passes = Rounds(), 0, 0
            return int(edits.lengths[0])
        outcome.iterations += 1
        outcome.passes += bool(before[0, 1] > EOS)
        # Delete tokens: y' = 𝓔(y, d̂); left as in the iteration before, insertion would repeat too.
        after = edits.after.tobytes()
        if after == left:
            outcome.stopped = "repeated"
            break
        left = after
        inserts = bool(edits.counts.any())
        changed = inserts or bool(edits.drop.any())
        outcome.passes += 1 + inserts
        goes_on = changed and outcome.iterations < request.options.max_iterations
        # Replace placeholders, and begin the next iteration at once where there is to be one.
        letter = (seat.turn() if goes_on else seat.fill()) if inserts else None
        fills = None if letter is None else letter.fills()
        y = edits.y if fills is None else fills.y
        locked, glued = (None, None) if marks is None else marks
        outcome.rounds.note(FrameRecord(before, edits, fills, locked, glued), 0)
        state = y.tobytes()
        first = seen.get(state) if changed else None
        if first is not None or not goes_on:
            outcome.stopped = "limit" if changed else "unchanged"
            before = y
            break
        seen[state] = outcome.iterations
        if marks is not None:
            keep = (before != PAD) & ~edits.drop
            marks = tuple(carried(mark, keep, edits.counts) for mark in marks)
        before = y
        if not inserts:
            letter = seat.edit()
    else:
        raise AssertionError("a refinement ends by one of its stops")
    outcome.tokens = tuple(before[0, 1 : int((before != PAD).sum()) - 1].tolist())
    if outcome.stopped == "limit" and first is not None:
        outcome.stopped = "cycle"
        outcome.cut(first)
    return 0
