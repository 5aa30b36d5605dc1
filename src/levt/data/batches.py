"""Batches of a store in an order that can be resumed, shared by any number of workers. Knows no model.

The order is a pure function of seed, epoch, worker and the number of workers. Together the workers see
every example exactly once an epoch, and all of them have the same number of batches.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Int64

from levt.data.order import Order
from levt.data.pack import Packed
from levt.data.store import Store
from levt.errors import ConfigError


class Batches:
    """The batches of a store for one of several workers: which examples; lessons are made of them elsewhere."""

    def __init__(
        self,
        store: Store,
        layout: Packed,
        *,
        order: Order | None = None,
        worker: int = 0,
        workers: int = 1,
    ) -> None:
        if not 0 <= worker < workers:
            raise ConfigError(f"worker must lie in 0 … {workers - 1}, got {worker}")
        layout.check(store)
        self.store = store
        self.layout = layout
        self.order = order or Order()
        self.worker = worker
        self.workers = workers

    def plan(self, epoch: int, start: int = 0) -> Iterator[Int64[np.ndarray, "r"]]:
        """The examples of each batch of this worker, from its batch number ``start`` on."""
        windows = self.order.windows(len(self.store), epoch)
        for number, batches in enumerate(_rounds(self.layout.cut(windows, self.store), self.workers)):
            if number >= start:
                yield batches[self.worker]


def padding_share(batches: Batches) -> float:
    """The share of the positions of the first epoch's batches that hold no token."""
    store, layout = batches.store, batches.layout
    plan = list(batches.plan(0))
    real = sum(int((store.lengths(field, rows) + 2).sum()) for rows in plan for field in store.fields)
    total = len(plan) * (layout.source + layout.draft + layout.target)
    return 1 - real / total if total else 0.0


def _rounds(batches: Iterator[np.ndarray], workers: int) -> Iterator[list[np.ndarray]]:
    """One batch for each worker at a time; in the last round the largest are halved until all have one."""
    waiting: list[np.ndarray] = []
    for batch in batches:
        waiting.append(batch)
        if len(waiting) == workers:
            yield waiting
            waiting = []
    if not waiting:
        return
    while len(waiting) < workers:
        largest = max(range(len(waiting)), key=lambda i: len(waiting[i]))
        whole = waiting[largest]
        waiting[largest] = whole[0::2]
        waiting.append(whole[1::2])
    yield waiting
