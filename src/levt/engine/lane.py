"""One batch at fixed shapes on its way: rows that are finished make room for waiting ones. Waits once an iteration.

While the host looks at an iteration, nothing of this lane is in flight; then it starts the fill of that iteration,
the reading of what comes next, and the deletions and placeholders of the iteration after, all together. Two lanes
that take turns keep a device busy while the host thinks.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levt.engine.arriving import Arriving, block, sent
from levt.engine.graph import FEW
from levt.engine.ledger import Ledger
from levt.engine.report import Mail
from levt.engine.stage import Reading, Stage
from levt.policy.layout import Padded
from levt.refine.loop import Outcome

Array = NDArray[Any]

WORTH = 8
"""Rows are replaced when one in so many is free: reading a few sources costs nearly as much as reading many."""


@dataclass(frozen=True, eq=False)
class Work:
    """What lanes share: outcomes to be, and which of them nobody has begun."""

    outcomes: Sequence[Outcome]
    limits: Sequence[int]
    waiting: "deque[int]"
    reading: Callable[[int], Reading]
    """A place where so many more sources can be read."""
    smaller: Callable[[int], Stage]
    """A stage of the same width for so many rows."""
    wide: list[tuple[int, int]]
    """Those that do not fit, and the width that they need."""


class Lane:
    """A stage at work."""

    def __init__(self, stage: Stage, work: Work) -> None:
        self.stage, self.work = stage, work
        self.synchronisations = 0
        b, n = stage.frame.y.shape
        self.ledger = Ledger(b, n, work.outcomes)
        self._stale = np.zeros(b, dtype=np.bool_)
        """Rows in which something is left over."""
        self._moved: Array | None = None
        self._fills: Mail | None = None
        self._edits: Mail | None = None
        stage.clear()
        self._launch()

    def turn(self) -> bool:
        """Wait for what was started, look at it, start what follows; False when there is nothing left."""
        self.synchronisations += 1
        self.stage.wait()
        self.ledger.conclude(None if self._fills is None else self._fills.filled())
        if self._edits is None:
            return False
        if self._moved is not None:
            self.ledger = self.ledger.moved(self._moved, self.stage.frame.y.shape[0])
            self._moved = None
        self.ledger.begin()
        self.work.wide.extend(self.ledger.look(self._edits.edits()))
        self._launch()
        return self._fills is not None or self._edits is not None or self._over()

    def _over(self) -> bool:
        """Nothing is in flight: what is still pending needs no device."""
        self.ledger.conclude(None)
        return False

    def _launch(self) -> None:
        ledger, pending = self.ledger, self.ledger.pending
        self._fills = None
        if pending is not None and pending.holes:
            self._fills = self.stage.fill(pending.holes)
        goes_on = bool(ledger.alive.any())
        blank = self._replace()
        if ledger.alive.any():
            if not self.work.waiting:
                self._shrink()
            # A batch of empty canvases asks no deletion.
            self._edits = self.stage.open() if blank and not goes_on else self.stage.edit()
        else:
            self._edits = None
        self.stage.mark()

    def _replace(self) -> bool:
        """Empty the rows that are finished, and let waiting requests in; True when all of these begin with nothing."""
        ledger, waiting = self.ledger, self.work.waiting
        free = np.nonzero(~ledger.alive)[0].tolist()
        goes_on = len(free) < len(ledger.alive)
        taken = min(len(free), len(waiting))
        if not goes_on and not taken:
            return True
        if goes_on and taken * WORTH < len(ledger.alive):
            taken = 0
        numbers = [waiting.popleft() for _ in range(taken)]
        rows = free[:taken] + [i for i in free[taken:] if self._stale[i]]
        self._stale[free] = False
        self._stale |= ledger.alive
        if not rows:
            return True
        requests = [self.work.outcomes[i].request for i in numbers]
        if requests:
            self._read([request.source for request in requests], rows[:taken], alone=not goes_on)
        arriving = Arriving.of(
            [r.draft for r in requests],
            [r.locked for r in requests],
            [r.glued for r in requests],
            [r.options for r in requests],
            [self.work.limits[i] for i in numbers],
            rows,
            self.stage.width,
        )
        self.stage.place(arriving)
        ledger.admit(rows, numbers, arriving)
        self._stale[rows[:taken]] = True
        return not any(request.draft for request in requests)

    def _read(self, sources: Sequence[Sequence[int]], rows: Sequence[int], *, alone: bool) -> None:
        mine = self.stage.reading
        device = mine.x.device
        x = sent(block(sources, mine.x.shape[1]), device)
        if alone:
            # All rows are free, so the new ones are the first.
            mine.read(x)
            return
        other = self.work.reading(len(sources))
        other.read(x)
        at, k = sent(np.asarray(rows, dtype=np.int64), device), len(rows)
        assert mine.memory is not None
        assert other.memory is not None
        assert isinstance(mine.memory.layout, Padded)
        assert isinstance(other.memory.layout, Padded)
        mine.memory.layout.real.index_copy_(0, at, other.memory.layout.real[:k])
        for name, kv in mine.memory.kv.items():
            kv.index_copy_(0, at, other.memory.kv[name][:k])

    def _shrink(self) -> None:
        """Nobody is waiting: the rows that go on move to a smaller stage, where that is much smaller."""
        alive = np.nonzero(self.ledger.alive)[0]
        height = len(self.ledger.alive)
        if height <= FEW or 4 * len(alive) > height or self.ledger.awaited:
            return
        stage = self.work.smaller(len(alive))
        if stage.frame.y.shape[0] < height:
            stage.adopt(self.stage, sent(alive, self.stage.frame.y.device))
            self.stage, self._moved = stage, alive
            self._stale = np.zeros(stage.frame.y.shape[0], dtype=np.bool_)
            self._stale[: len(alive)] = True
