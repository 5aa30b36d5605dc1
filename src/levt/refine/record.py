"""What a batch did in one iteration, kept as arrays; the plain Python of a row is made when somebody reads it.

Making it for every row of every iteration costs more than a GPU needs for the iteration itself, and most rows are
never looked at. Knows no policy and no loop.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from levt.edits.script import EditScript
from levt.refine.phases import Deletion, Insertion, Round
from levt.text.specials import EOS

Array = NDArray[Any]


@runtime_checkable
class Record(Protocol):
    """One iteration of a batch."""

    def round(self, row: int) -> Round:
        """The iteration of one row."""

    def sums(self, row: int) -> tuple[float, int]:
        """Sum of the log-probabilities of what the model decided itself in a row, and how many those were."""


@dataclass(frozen=True, eq=False)
class Arrays:
    """A record; every array has one row per state, b rows in all."""

    before: Array
    """y, [b n]."""
    drop: Array
    drop_logp: Array
    drop_own: Array
    """[b n]; own: True where the model decided, False where it was forced."""
    counts: Array
    counts_logp: Array
    counts_own: Array
    """[b g]; g may be more than the gaps that there are."""
    holes: Array
    """True where y'' has a placeholder, [b m]."""
    y: Array
    fill_logp: Array
    """The state after the iteration and the log-probabilities of what was filled in, [b m]."""

    @classmethod
    def of(cls, deletion: Deletion, insertion: Insertion) -> "Arrays":
        """The record of both halves of an iteration (waits for the device)."""
        return cls(
            *(
                tensor.cpu().numpy()
                for tensor in (
                    deletion.before.y, deletion.drop, deletion.logp, deletion.own,
                    insertion.counts, insertion.counts_logp, insertion.counts_own,
                    insertion.placeholders, insertion.state.y, insertion.fill_logp,
                )
            )
        )  # fmt: skip

    def round(self, row: int) -> Round:
        """The iteration of one row."""
        n = int((self.before[row] > EOS).sum())
        drop, hole = self.drop[row, 1 : n + 1].tolist(), self.holes[row]
        gaps = n - sum(drop) + 1
        script = EditScript(
            drop=tuple(map(bool, drop)),
            counts=tuple(self.counts[row, :gaps].tolist()),
            fill=tuple(self.y[row][hole].tolist()),
        )
        decided, decisions = self.sums(row)
        return Round(
            script,
            drop_logp=tuple(self.drop_logp[row, 1 : n + 1].tolist()),
            counts_logp=tuple(self.counts_logp[row, :gaps].tolist()),
            fill_logp=tuple(self.fill_logp[row][hole].tolist()),
            decided=decided,
            decisions=decisions,
        )

    def sums(self, row: int) -> tuple[float, int]:
        """Sum and number of the model's own decisions in a row."""
        return self._decided[row], self._decisions[row]

    @cached_property
    def _decided(self) -> list[float]:
        parts = (
            (self.drop_own, self.drop_logp),
            (self.counts_own, self.counts_logp),
            (self.holes, self.fill_logp),
        )
        found: list[float] = np.sum([np.where(own, logp, 0).sum(1) for own, logp in parts], axis=0).tolist()
        return found

    @cached_property
    def _decisions(self) -> list[int]:
        owns = (self.drop_own, self.counts_own, self.holes)
        found: list[int] = np.sum([own.sum(1) for own in owns], axis=0).tolist()
        return found


class Rounds(Sequence[Round]):
    """The iterations of one row, in order.

    >>> rounds = Rounds([Round(EditScript(drop=(), counts=(1,), fill=(7,)), decided=-0.5, decisions=1)])
    >>> len(rounds), rounds[0].script.fill, rounds.sums(0)
    (1, (7,), (-0.5, 1))
    """

    def __init__(self, made: Iterable[Round] = ()) -> None:
        self._items: list[Round | tuple[Record, int]] = list(made)

    def append(self, round_: Round) -> None:
        """Add an iteration."""
        self._items.append(round_)

    def note(self, record: Record, row: int) -> None:
        """Add an iteration, as a row of a record."""
        self._items.append((record, row))

    def sums(self, i: int) -> tuple[float, int]:
        """Sum and number of the model's own decisions in iteration i; makes no plain Python of it."""
        item = self._items[i]
        return (item.decided, item.decisions) if isinstance(item, Round) else item[0].sums(item[1])

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, at: int) -> Round: ...
    @overload
    def __getitem__(self, at: slice) -> "Rounds": ...
    def __getitem__(self, at: int | slice) -> "Round | Rounds":
        if isinstance(at, slice):
            part = Rounds()
            part._items = self._items[at]
            return part
        item = self._items[at]
        if not isinstance(item, Round):
            item = self._items[at] = item[0].round(item[1])
        return item

    def __reduce__(self) -> tuple[Any, ...]:
        # On its way to another process a row takes only itself along, not its batch.
        return Rounds, (list(self),)
