"""In which order a draft is edited, by a person or a model, and whether they agree. Knows no model and no file.

An edit has a place in the draft, whatever becomes of the text around it: *word i*, where that word is deleted, or *gap
g*, where something is inserted (gap g stands before word g). An insertion belongs to the gap before the
nearest word to its right that still stands. Two orders are compared over the places that both have edited.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

from levt.edits.follow import Change, Mark
from levt.edits.trace import Trace
from levt.edits.words import starts_word, words_of
from levt.errors import InputError
from levt.evaluation.surface import share


class Place(NamedTuple):
    """Where in the draft an edit was made."""

    kind: Literal["word", "gap"]
    at: int


Times = Mapping[Place, float]
"""When each place was first edited; smaller is earlier, equal is at the same time."""


def trace_times(trace: Trace, *, by: Literal["phase", "probability"] = "phase") -> dict[Place, float]:
    """When a refinement first edited each place of its draft, in words.

    By ``phase``: all deletions of an iteration come together, then all its insertions. By ``probability``: within
    a phase the surer come first, one after the other. A change inside a word counts as a deletion of that word.
    """
    parts = words_of(trace.draft_pieces)
    # White space that is part of no word stands in a gap.
    homes = {i: Place("word" if part else "gap", part.start) for i, part in enumerate(parts)}
    end = Place("gap", parts[-1].stop if parts else 0)
    times: dict[Place, float] = {}
    clock = 0.0
    for line in trace.changes():
        _settle([change for change in line if change.mark is not Mark.DELETE], homes, end)
        for mark in (Mark.DELETE, Mark.INSERT):
            found = [change for change in line if change.mark is mark]
            if by == "probability":
                found = sorted(found, key=lambda change: -(change.probability or 0.0))
            for change in found:
                times.setdefault(homes[change.token.identity], clock)
                clock += by == "probability"
            clock += 1
    return times


def _settle(state: Sequence[Change], homes: dict[int, Place], end: Place) -> None:
    """Find the places of the tokens that are new in a state."""
    right, continues = end, False
    for change in reversed(state):
        identity = change.token.identity
        if change.mark is Mark.INSERT:
            # Before a piece that continues a word, it is that word that changes.
            homes[identity] = right if continues or right.kind == "gap" else Place("gap", right.at)
        right, continues = homes[identity], not starts_word(change.token.piece)
    left: Place | None = None
    for change in state:
        identity = change.token.identity
        if change.mark is Mark.INSERT and left is not None and not starts_word(change.token.piece):
            homes[identity] = left
        left = homes[identity]


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How far two orders of edits agree, over a corpus."""

    sentences: int
    """Sentences with at least two places that both edited at different times."""
    pairs: int
    """Pairs of places that both orders put one after the other."""
    same: float
    """Share of those pairs that both put in the same order; 0.5 is chance."""
    tau: float
    """Kendall's τ-b, the mean over the sentences; 0 is chance, 1 the same order, -1 the reverse."""
    shared: float
    """Places that both have edited, as a share of those that either has."""


def kendall(one: Times, other: Times) -> float | None:
    """Kendall's τ-b over the places that both have; None where one of them has no order.

    >>> a, b, c = Place("word", 0), Place("word", 1), Place("gap", 2)
    >>> kendall({a: 0.0, b: 1.0, c: 2.0}, {a: 5.0, c: 3.0, b: 4.0})
    -1.0
    """
    same, different, alone, others = _compared(one, other)
    scale = ((same + different + alone) * (same + different + others)) ** 0.5
    return (same - different) / scale if scale else None


def agreement(ones: Sequence[Times], others: Sequence[Times]) -> Agreement:
    """Compare two orders for every sentence of a corpus."""
    if len(ones) != len(others) or not ones:
        raise InputError(
            f"there must be as many orders of one as of the other, got {len(ones)} and {len(others)}"
        )
    same = pairs = both = either = 0
    taus: list[float] = []
    for one, other in zip(ones, others, strict=True):
        right, wrong, _, _ = _compared(one, other)
        same += right
        pairs += right + wrong
        both += len(one.keys() & other.keys())
        either += len(one.keys() | other.keys())
        tau = kendall(one, other)
        if tau is not None:
            taus.append(tau)
    return Agreement(
        sentences=len(taus),
        pairs=pairs,
        same=share(same, pairs),
        tau=sum(taus) / len(taus) if taus else 0.0,
        shared=share(both, either),
    )


def left_to_right(times: Times) -> dict[Place, float]:
    """The same places in reading order: what an order of edits is compared with first."""
    return {place: place.at - 0.5 * (place.kind == "gap") for place in times}


def _compared(one: Times, other: Times) -> tuple[int, int, int, int]:
    """Pairs of places in the same order, in different order, ordered by the first alone, and by the second alone."""
    same = different = alone = others = 0
    for a, b in combinations(sorted(one.keys() & other.keys()), 2):
        here, there = one[a] - one[b], other[a] - other[b]
        same += here * there > 0
        different += here * there < 0
        alone += here != 0 and there == 0
        others += here == 0 and there != 0
    return same, different, alone, others
