"""Lessons made ahead of time in the background, each as one vector ready to be copied to the device."""

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int32
from torch import Tensor

from levt.data.batches import Batches
from levt.imitation.lessons import Lessons


@dataclass(frozen=True)
class Position:
    """Where the data stand: the next batch to be made, one for each worker."""

    epoch: int = 0
    batch: int = 0

    def shared_by(self, workers: int, *, before: int) -> "Position":
        """The same place for another number of workers; fewer than ``workers`` batches may be seen again.

        >>> Position(2, 6).shared_by(4, before=2), Position(2, 5).shared_by(3, before=2)
        (Position(epoch=2, batch=3), Position(epoch=2, batch=3))
        """
        return Position(self.epoch, self.batch * before // workers)


@dataclass(frozen=True)
class Micro:
    """One micro-batch on the host."""

    buffer: Int32[Tensor, "size"]
    """All arrays of the lesson one after another, pinned where a GPU will fetch them."""
    decisions: np.ndarray
    """How many decisions each loss counts."""
    tokens: int
    """Target tokens, boundaries included, padding not."""
    after: Position
    """Where the data stand once it is used."""


class Feed:
    """The micro-batches of one worker from a position on, in order. Close it, or use it in a ``with``."""

    def __init__(
        self, lessons: Lessons, batches: Batches, *, seed: int, start: Position, ahead: int = 8
    ) -> None:
        self.lessons, self.batches, self.seed, self.start = lessons, batches, seed, start
        self.pin = torch.cuda.is_available()
        self.sizes: dict[str, int] = {}
        """Names and sizes of the arrays, in the order in which they lie in a buffer."""
        example = next(batches.plan(0))
        self.sizes = {n: len(a) for n, a in lessons.make(example, np.random.default_rng(0))[0].items()}
        self._queue: queue.Queue[Micro | BaseException] = queue.Queue(ahead)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="levt-feed", daemon=True)
        self._thread.start()

    def _micros(self) -> Iterator[Micro]:
        position = self.start
        while True:
            for rows in self.batches.plan(position.epoch, position.batch):
                # What is random in a lesson depends on its place in the epoch alone: a resumed run draws the
                # same, and so do several workers who share the batches of one.
                place = position.batch * self.batches.workers + self.batches.worker
                draw = np.random.default_rng([self.seed, position.epoch, place, 0])
                arrays, decisions = self.lessons.make(rows, draw)
                buffer = torch.from_numpy(np.concatenate(list(arrays.values())))
                position = Position(position.epoch, position.batch + 1)
                tokens = int(arrays["target_lengths"].sum())
                yield Micro(buffer.pin_memory() if self.pin else buffer, decisions, tokens, position)
            position = Position(position.epoch + 1, 0)

    def _run(self) -> None:
        try:
            for micro in self._micros():
                if not self._handed_over(micro):
                    return
        except BaseException as error:  # handed to the thread that waits for data
            self._handed_over(error)

    def _handed_over(self, item: Micro | BaseException) -> bool:
        """Put something into the queue as soon as there is room; False if nobody wants it any more."""
        while not self._stop.is_set():
            try:
                self._queue.put(item, timeout=0.2)
                return True
            except queue.Full:
                continue
        return False

    def next(self) -> Micro:
        """The next micro-batch."""
        item = self._queue.get()
        if isinstance(item, BaseException):
            raise item
        return item

    @property
    def waiting(self) -> int:
        """Micro-batches that are ready: 0 says that the data are the bottleneck."""
        return self._queue.qsize()

    def close(self) -> None:
        """Stop making lessons."""
        self._stop.set()
        self._thread.join()

    def __enter__(self) -> "Feed":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
