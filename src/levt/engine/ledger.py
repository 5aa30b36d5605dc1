"""The host's book of a batch at fixed shapes: who is in which row, what has been seen, who stops and why.

Everything about the rows is an array, so that an iteration of a hundred rows costs little more than one of a single
row. Stops as in ``refine.loop``; rows whose state does not fit into the width are given back. Knows no device.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levt.engine.arriving import Arriving
from levt.engine.report import Edits, Fills, FrameRecord, carried
from levt.refine.loop import Outcome
from levt.refine.record import Rounds
from levt.text.specials import EOS, PAD

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Pending:
    """An iteration whose placeholders are being filled."""

    number: int
    owners: Array
    since: Array
    passes: Array
    edits: Edits
    going: Array
    """Rows that this iteration is part of."""
    changed: Array
    goes_on: Array
    """Rows that will have another iteration, unless this one led to a state seen before."""

    holes: int
    """Placeholders in all rows; none where nobody is interested in any."""


class Ledger:
    """b rows of n columns; ``number`` counts iterations, of which every row joins and leaves at its own."""

    def __init__(self, b: int, n: int, outcomes: Sequence[Outcome]) -> None:
        self.outcomes = outcomes
        self.number = -1
        self.owners = np.full(b, -1)
        """Which outcome each row works on; -1 for none."""
        self.alive = np.zeros(b, dtype=np.bool_)
        self.since = np.zeros(b, dtype=np.int64)
        """The iteration in which a row began."""
        self.most = np.zeros(b, dtype=np.int64)
        self.passes = np.zeros(b, dtype=np.int64)
        self.y = np.full((b, n), PAD, dtype=np.int32)
        self.marks: Array | None = None
        """Locks and glue of the states, as they are known."""
        self.pending: Pending | None = None
        self._coming: list[tuple[Sequence[int], Arriving]] = []
        self._befores: list[Array] = []
        """The states before the last iterations, as far back as any row has been here."""
        self._left: Array | None = None
        """The states after the deletion of the iteration before."""

    def admit(self, rows: Sequence[int], numbers: Sequence[int], arriving: Arriving) -> None:
        """Rows get new work, from the next iteration on; what else arrives makes rows empty."""
        self._coming.append((numbers, arriving))
        at = np.asarray(rows[: len(numbers)], dtype=np.int64)
        self.owners[at] = numbers
        self.alive[at] = True
        self.since[at] = self.number + 1
        self.most[at] = [self.outcomes[i].request.options.max_iterations for i in numbers]
        self.passes[at] = 0

    @property
    def awaited(self) -> bool:
        """Whether rows have got new work that has not begun."""
        return any(numbers for numbers, _ in self._coming)

    def conclude(self, fills: Fills | None) -> None:
        """The pending iteration is over: note it, and stop the rows that end with it."""
        pending = self.pending
        if pending is None:
            return
        self.pending = None
        edits, going = pending.edits, pending.going
        y = edits.y if fills is None else fills.y
        before = self._befores[-1]
        locked, glued = (None, None) if self.marks is None else self.marks
        record = FrameRecord(before, edits, fills, locked, glued)
        rows = np.nonzero(going)[0]
        for i, number in zip(rows.tolist(), pending.owners[rows].tolist(), strict=True):
            self.outcomes[number].rounds.note(record, i)
        first = self._seen(pending, y)
        self._finish(pending, y, first)
        # Only a row that was to go on can be there still.
        self.alive &= ~(pending.goes_on & (first >= 0))
        if self.marks is not None:
            keep = (before != PAD) & ~edits.drop
            self.marks = np.stack([carried(mark, keep, edits.counts) for mark in self.marks])
        self.y = y

    def _seen(self, pending: Pending, y: Array) -> Array:
        """For each row the number of rounds after which it was in this state before; -1 for never."""
        first = np.full(len(y), -1)
        asked = pending.going & pending.changed
        start = pending.number + 1 - len(self._befores)
        for number, before in enumerate(self._befores, start):
            again = asked & (first < 0) & (pending.since <= number) & (before == y).all(1)
            first[again] = number - pending.since[again]
        return first

    def _finish(self, pending: Pending, y: Array, first: Array) -> None:
        done = np.nonzero(pending.going & (~pending.goes_on | (first >= 0)))[0]
        self._stop(pending, done, y, np.where(pending.changed, "limit", "unchanged"))
        for i in np.nonzero(first >= 0)[0].tolist():
            outcome = self.outcomes[pending.owners[i]]
            outcome.stopped = "cycle"
            outcome.cut(int(first[i]))

    def _stop(self, at: Pending, rows: Array, y: Array, why: Array) -> None:
        """The end of some rows, in columns: reading an array number by number takes longer than all of it at once."""
        iterations = at.number - at.since[rows] + 1
        lengths = (y[rows] != PAD).sum(1) - 1
        columns = (at.owners[rows], y[rows], lengths, iterations, at.passes[rows], why[rows])
        for number, tokens, end, begun, passes, stopped in zip(*(c.tolist() for c in columns), strict=True):
            outcome = self.outcomes[number]
            outcome.tokens = tuple(tokens[1:end])
            outcome.iterations, outcome.passes, outcome.stopped = begun, passes, stopped

    def begin(self) -> None:
        """The next iteration: new rows are there, and what nobody remembers is forgotten."""
        self.number += 1
        before = self.y.copy()
        marks = self.marks
        for _, arriving in self._coming:
            rows = arriving.ints[:, -3]
            before[rows] = arriving.y
            if marks is None and arriving.marks is not None:
                marks = np.zeros((2, *before.shape), dtype=np.bool_)
            if marks is not None:
                marks[:, rows] = False if arriving.marks is None else arriving.marks
        self._coming = []
        self.y, self.marks = before, marks
        remembered = self.number - int(self.since[self.alive].min(initial=self.number))
        self._befores = [*self._befores[len(self._befores) - remembered :], before]

    def look(self, edits: Edits) -> list[tuple[int, int]]:
        """Deletions and placeholders are known: who goes on? Gives those that did not fit, with what they need."""
        b, n = self.y.shape
        wide = self.alive & (edits.lengths > n)
        begun = self.alive & ~wide
        self.passes += begun & (self.y[:, 1] > EOS)
        repeated = np.zeros(b, dtype=np.bool_)
        if self._left is not None:
            repeated = begun & (self.since < self.number) & (edits.after == self._left).all(1)
        self._left = edits.after
        going = begun & ~repeated
        inserts: Array = np.asarray(edits.counts.any(1))
        changed = np.asarray(inserts | edits.drop.any(1))
        self.passes += going * (1 + inserts)
        goes_on = going & changed & (self.number - self.since + 1 < self.most)
        self.pending = Pending(
            self.number, self.owners.copy(), self.since.copy(), self.passes.copy(), edits, going, changed, goes_on,
            int(edits.counts.sum()) if (going & inserts).any() else 0,
        )  # fmt: skip
        if repeated.any():
            self._stop(self.pending, np.nonzero(repeated)[0], self.y, np.full(b, "repeated"))
        self.alive = goes_on.copy()
        found = [(int(self.owners[i]), int(edits.lengths[i])) for i in np.nonzero(wide)[0]]
        for number, _ in found:
            self.outcomes[number].rounds = Rounds()
        return found

    def moved(self, rows: Array, b: int) -> "Ledger":
        """The book of some rows, in a batch of another height; nothing may be pending."""
        assert self.pending is None
        other = Ledger(b, self.y.shape[1], self.outcomes)
        other.number, k = self.number, len(rows)
        for name in ("owners", "alive", "since", "most", "passes", "y"):
            getattr(other, name)[:k] = getattr(self, name)[rows]
        other._befores = [_raised(before[rows], b) for before in self._befores]
        other._left = None if self._left is None else _raised(self._left[rows], b)
        if self.marks is not None:
            other.marks = np.stack([_raised(mark[rows], b) for mark in self.marks])
        return other


def _raised(rows: Array, b: int) -> Array:
    """The same rows with empty ones below."""
    return np.concatenate([rows, np.zeros((b - len(rows), *rows.shape[1:]), dtype=rows.dtype)])
