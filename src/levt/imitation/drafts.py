"""Drafts made up while learning: what people and machines hand in to be repaired. On the host, before the step.

Four kinds, each with its share of the examples: *noisy* targets, *unfinished* ones, *mismatched* ones (the target of
a source that begins or ends like this one, as if the source had been edited since), and, for the rest, the draft that
the corpus itself has (what a weaker system wrote), or none. How often a draft is then rolled in is α and β.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int64

from levt.errors import FLAGS, ConfigError, raise_all
from levt.imitation.ragged import Ragged

BLOCK = 4
"""Tokens of the longest part that changes places with the part after it."""


@dataclass(frozen=True, kw_only=True)
class Drafts:
    """Shares of the examples that get a made-up draft, and what it is like."""

    noisy: float = 0.0
    """Share with a noisy target: tokens missing, twice, wrong, or in another place."""
    unfinished: float = 0.0
    """Share with the beginning of the target only."""
    mismatched: float = 0.0
    """Share with the target of a similar source."""
    noise: float = 0.3
    """Highest rate of missing, doubled and wrong tokens in a noisy target; each draws its own from 0 to this."""
    disorder: float = 0.3
    """Share of noisy targets in which two neighbouring parts change places as well."""

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be between 0 and 1, got {getattr(self, name)}"
            for name in ("noisy", "unfinished", "mismatched", "noise", "disorder")
            if not 0 <= getattr(self, name) <= 1
        ]
        if self.made > 1 + 1e-9:
            problems.append(f"noisy + unfinished + mismatched must be at most 1, got {self.made}")
        raise_all(ConfigError, "drafts", problems, hint=FLAGS)

    @property
    def made(self) -> float:
        """Share of the examples whose draft is made up.

        >>> Drafts(noisy=0.25, unfinished=0.25).made
        0.5
        """
        return self.noisy + self.unfinished + self.mismatched


def with_drafts(
    target: Ragged,
    given: Ragged | None,
    near: Ragged,
    config: Drafts,
    longest: int,
    draw: np.random.Generator,
    always: Bool[np.ndarray, "b"] | None = None,
) -> Ragged:
    """A draft for every row, all with boundaries: made up, or ``given``, or empty; none is above ``longest``.

    ``near`` are the targets of similar sources; rows that are ``always`` to be repaired get a made-up draft.
    """
    b = len(target.lengths)
    kind = draw.random(b)
    if always is not None:
        kind = np.where(always, kind * config.made, kind)
    draft = Ragged(np.empty(0, np.int64), np.zeros(b, np.int64)).bounded() if given is None else given
    first, second = config.noisy, config.noisy + config.unfinished
    if (chosen := kind < first).any():
        right = _take(target, chosen)
        wrong = noisy(right, config, draw)
        draft = _put(draft, chosen, wrong.rows_or(right, wrong.lengths > longest))
    if (chosen := (kind >= first) & (kind < second)).any():
        draft = _put(draft, chosen, unfinished(_take(target, chosen), draw))
    if (chosen := (kind >= second) & (kind < config.made)).any():
        draft = _put(draft, chosen, _take(near, chosen))
    return draft


def unfinished(target: Ragged, draw: np.random.Generator) -> Ragged:
    """The beginning of every row, from nothing to all but a token."""
    inner = target.lengths - 2
    upto = np.floor(draw.random(len(inner)) * inner).astype(np.int64)
    place, row = target.places, target.row
    return target.keep((place <= upto[row]) | (place == target.lengths[row] - 1))


def noisy(target: Ragged, config: Drafts, draw: np.random.Generator) -> Ragged:
    """Every row with its own rate of slips."""
    b = len(target.lengths)
    rate = draw.random(b) * config.noise
    flat, row, inner = target.flat.copy(), target.row, target.inner
    slip = draw.random(len(flat)) / np.maximum(rate[row], 1e-9)
    missing, double, wrong = slip < 1 / 3, (slip >= 1 / 3) & (slip < 2 / 3), (slip >= 2 / 3) & (slip < 1)
    # Words are of several tokens, so a slip often takes the next one along.
    missing, wrong = _spread(missing, draw), _spread(wrong, draw)
    pool = target.flat[inner]
    replaced = np.flatnonzero(wrong & inner)
    if len(pool):  # what is wrong is a word that somebody writes, not any token of the vocabulary
        flat[replaced] = pool[draw.integers(len(pool), size=len(replaced))]
    order = disordered(target, draw.random(b) < config.disorder, draw)
    times = np.where(inner & missing, 0, np.where(inner & double, 2, 1))[order]
    flat, row = flat[order], row[order]
    return Ragged(np.repeat(flat, times), np.bincount(row, weights=times, minlength=b).astype(np.int64))


def disordered(
    target: Ragged, chosen: Bool[np.ndarray, "b"], draw: np.random.Generator
) -> Int64[np.ndarray, "t"]:
    """The order of all tokens in which, in the chosen rows, a part and the part after it have changed places."""
    inner = target.lengths - 2
    sizes = [1 + np.floor(draw.random(len(inner)) * BLOCK).astype(np.int64) for _ in range(2)]
    left, right = (np.minimum(size, np.maximum(inner // 2, 1)) for size in sizes)
    room = inner - left - right
    begin = 1 + np.floor(draw.random(len(inner)) * (np.maximum(room, 0) + 1)).astype(np.int64)
    able = chosen & (room >= 0)
    row, key = target.row, target.places.copy()
    at, a, z = begin[row], left[row], right[row]
    first = able[row] & (key >= at) & (key < at + a)
    second = able[row] & (key >= at + a) & (key < at + a + z)
    key[first] += z[first]
    key[second] -= a[second]
    order: np.ndarray = np.lexsort((key, row))
    return order


def _spread(slips: Bool[np.ndarray, "t"], draw: np.random.Generator) -> Bool[np.ndarray, "t"]:
    """Each slip, and in half of the cases the token after it as well."""
    after = np.concatenate([[False], slips[:-1]])
    found: np.ndarray = slips | (after & (draw.random(len(slips)) < 0.5))
    return found


def _take(rows: Ragged, chosen: Bool[np.ndarray, "b"]) -> Ragged:
    """Some of the rows."""
    return Ragged(rows.flat[np.repeat(chosen, rows.lengths)], rows.lengths[chosen])


def _put(rows: Ragged, chosen: Bool[np.ndarray, "b"], part: Ragged) -> Ragged:
    """All rows, with those of ``part`` in the chosen places."""
    lengths = rows.lengths.copy()
    lengths[chosen] = part.lengths
    flat = np.empty(int(lengths.sum()), np.int64)
    new = np.repeat(chosen, lengths)
    flat[new] = part.flat
    flat[~new] = rows.flat[np.repeat(~chosen, rows.lengths)]
    return Ragged(flat, lengths)
