"""Packed batches: flat tokens that fill fixed budgets, so that every batch has one shape. Moves no token.

Examples of all lengths share a batch. Filling goes in shuffled order until a few are missing; these are
chosen from the next examples so that all budgets run out together (two-dimensional best fit).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from levt.data.store import Store
from levt.errors import ConfigError, raise_all

CHOSEN = 24
"""Examples of a batch that are chosen to fit."""
LOOKAHEAD = 512
"""Examples among which is chosen."""


@dataclass(frozen=True, kw_only=True)
class Packed:
    """Budgets of a packed batch, boundaries included; they are also its shape."""

    source: int
    """Source tokens."""
    target: int
    """Target tokens."""
    rows: int
    """Examples."""
    draft: int = 0
    """Draft tokens; 0 for pairs."""

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be at least {least}, got {value}"
            for name, value, least in (
                ("source", self.source, 2),
                ("target", self.target, 2),
                ("rows", self.rows, 1),
                ("draft", self.draft, 0),
            )
            if value < least
        ]
        raise_all(ConfigError, "packed batches", problems)

    @classmethod
    def fitting(cls, store: Store, *, target: int) -> "Packed":
        """The budgets for ``target`` target tokens in proportion to the store, rounded up to 64."""
        count = max(1, len(store))
        share = target / (store.tokens("target") + 2 * count)

        def scaled(total: int, least: int, step: int) -> int:
            return max(-(-int(total * share * 1.005) // step), -(-least // step)) * step

        others = {
            field: scaled(store.tokens(field) + 2 * count, store.longest(field) + 2, 64)
            for field in store.fields
            if field != "target"
        }
        # Rows cost little, so they should never be what ends a batch.
        return cls(target=target, rows=scaled(int(count * 1.05), 1, 8), **others)

    def check(self, store: Store) -> None:
        """Raise a ConfigError where an example is larger than a whole batch."""
        for field in store.fields:
            length, limit = store.longest(field) + 2, int(getattr(self, field))
            if length > limit:
                raise ConfigError(
                    f"the longest {field} has {length} tokens with boundaries, a batch holds {limit}",
                    hint="raise --training.tokens, or prepare the corpus with a smaller --max-length",
                )

    def cut(
        self, windows: Iterable[Int64[np.ndarray, "w"]], store: Store
    ) -> Iterator[Int64[np.ndarray, "r"]]:
        """Fill batches one after the other; what is left of a window goes into the next. Chooses nothing at random."""
        budget = np.array([*(getattr(self, field) for field in store.fields), self.rows])
        pool = _Pool(budget)
        for window in windows:
            lengths = [store.lengths(field, window) + 2 for field in store.fields]
            pool.add(window, np.stack([*lengths, np.ones_like(window)], 1))
            while pool.left >= self.rows + LOOKAHEAD:
                yield pool.take()
        while pool.left:
            yield pool.take()


class _Pool:
    """Examples that wait for a batch, in order; those chosen early leave holes."""

    def __init__(self, budget: Int64[np.ndarray, "k"]) -> None:
        self.budget = budget
        self.rows = np.empty(0, np.int64)
        self.sizes = np.empty((0, len(budget)), np.int64)
        self.waiting = np.empty(0, bool)
        self.begin = 0
        self.left = 0

    def add(self, rows: Int64[np.ndarray, "w"], sizes: Int64[np.ndarray, "w k"]) -> None:
        keep = self.begin + np.flatnonzero(self.waiting[self.begin :])
        self.rows = np.concatenate([self.rows[keep], rows])
        self.sizes = np.concatenate([self.sizes[keep], sizes])
        self.waiting = np.ones(len(self.rows), bool)
        self.begin, self.left = 0, len(self.rows)

    def take(self) -> Int64[np.ndarray, "r"]:
        # A batch has at most budget[-1] rows; what lies behind that and many holes is not looked at yet.
        reach = self.begin + int(self.budget[-1]) + 2 * LOOKAHEAD
        free = self.begin + np.flatnonzero(self.waiting[self.begin : reach])
        chosen = free[_fill(self.sizes[free], self.budget)]
        self.waiting[chosen] = False
        self.left -= len(chosen)
        later = np.flatnonzero(self.waiting[self.begin : reach])
        self.begin = self.begin + int(later[0]) if len(later) else min(reach, len(self.rows))
        rows: np.ndarray = self.rows[chosen]
        return rows


def _fill(sizes: Int64[np.ndarray, "w k"], budget: Int64[np.ndarray, "k"]) -> Int64[np.ndarray, "r"]:
    """Positions of examples whose sizes sum up to the budget as nearly as can be found, never above."""
    sums = np.cumsum(sizes, 0)
    fitting = int((sums <= budget).all(1).sum())
    first = fitting if fitting == len(sizes) else max(0, fitting - CHOSEN)
    chosen = list(range(first))
    rest = (budget - sums[first - 1] if first else budget).astype(np.float64)
    if first == len(sizes):
        return np.arange(first)
    # The number of rows is a limit only; what should run out together are the tokens.
    ahead = sizes[first : first + LOOKAHEAD].astype(np.float64)
    share = ahead[:, :-1] / budget[:-1]
    typical = share.mean(0).max()
    while (fits := (ahead <= rest).all(1)).any():
        after = rest[:-1] / budget[:-1] - share
        last = (rest[:-1] / budget[:-1]).max() < 1.5 * typical
        miss = after.sum(1) if last else after.max(1) - after.min(1)
        best = int(np.where(fits, miss, np.inf).argmin())
        chosen.append(first + best)
        rest -= ahead[best]
        ahead[best] = np.inf
    return np.array(chosen, np.int64)
