"""Padded batches: rows of like length in few distinct shapes. Decides which examples; moves no token.

Widths come from a short ladder, the number of rows follows from the widths, so a network compiled for
fixed shapes is compiled a handful of times.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Int64

from levt.data.store import Store
from levt.errors import ConfigError, raise_all

WIDTHS = (16, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)


class Shape(NamedTuple):
    """Of a padded batch: rows and the widths of source, draft (0 without) and target."""

    rows: int
    source: int
    draft: int
    target: int


@dataclass(frozen=True, kw_only=True)
class Padded:
    """Token budget of a padded batch."""

    tokens: int
    """Most tokens of a batch on its widest side, boundaries and padding included."""
    widths: tuple[int, ...] = WIDTHS
    """The ladder of widths, boundaries included."""
    multiple: int = 8
    """The number of rows is a multiple of this, where the budget allows so many."""

    def __post_init__(self) -> None:
        problems = []
        if list(self.widths) != sorted(set(self.widths)) or not self.widths or self.widths[0] < 2:
            problems.append(f"widths must grow from at least 2, got {self.widths}")
        elif self.tokens < self.widths[0]:
            problems.append(f"tokens must be at least the first width {self.widths[0]}, got {self.tokens}")
        if self.multiple < 1:
            problems.append(f"multiple must be at least 1, got {self.multiple}")
        raise_all(ConfigError, "padded batches", problems)

    def check(self, store: Store) -> None:
        """Raise a ConfigError where an example cannot have a place in any batch."""
        for field in store.fields:
            length = store.longest(field) + 2
            limit = max((width for width in self.widths if width <= self.tokens), default=0)
            if length > limit:
                raise ConfigError(
                    f"the longest {field} has {length} tokens with boundaries, a batch holds rows up to {limit}",
                    hint="raise tokens or widths, or prepare the store with a smaller --max-length",
                )

    def cut(
        self, windows: Iterable[Int64[np.ndarray, "w"]], store: Store, rng: np.random.Generator
    ) -> Iterator[Int64[np.ndarray, "r"]]:
        """Cut each window into batches of neighbours by width, in random order."""
        for rows in windows:
            steps = self._steps(store, rows)
            # Along the target's widths, and within one to and fro along the other's: the neighbours at
            # a change of width are then of like length on both sides.
            target, other = steps[:, -1], steps[:, :-1].max(1)
            order = np.lexsort((np.where(target % 2 == 0, other, -other), target))
            rows, steps = rows[order], steps[order]
            batches = list(self._batches(rows, steps))
            for i in rng.permutation(len(batches)):
                yield batches[i]

    def _batches(self, rows: np.ndarray, steps: np.ndarray) -> Iterator[np.ndarray]:
        begin = 0
        while begin < len(rows):
            size = self._capacity(int(steps[begin].max()))
            # Rows further on may be wider and so allow fewer.
            while size > (fewer := self._capacity(int(steps[begin : begin + size].max()))):
                size = fewer
            yield rows[begin : begin + size]
            begin += size

    def _steps(self, store: Store, rows: np.ndarray) -> np.ndarray:
        lengths = np.stack([store.lengths(field, rows) + 2 for field in store.fields], 1)
        return np.searchsorted(self.widths, lengths)

    def _capacity(self, step: int) -> int:
        rows = self.tokens // self.widths[step]
        return rows // self.multiple * self.multiple or rows

    def shape(self, store: Store, rows: Int64[np.ndarray, "r"]) -> Shape:
        """The shape in which the examples ``rows`` are collated."""
        steps = self._steps(store, rows).max(0, initial=0)
        source, *draft, target = (self.widths[step] for step in steps)
        return Shape(self._capacity(int(steps.max())), source, draft[0] if draft else 0, target)
