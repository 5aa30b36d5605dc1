"""Who does the pieces of some work: this process, or several of its own. Knows neither models nor texts.

Each process opens the work once, which loads the model, and then takes a piece that nobody holds until all are
finished. One that is killed loses the piece it holds, and another takes it.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.queues import SimpleQueue
from typing import Protocol, runtime_checkable

import torch

from levt.data.children import helps, mourn, starting
from levt.errors import ConfigError, LevtError
from levt.recipes.distillation import Progress
from levt.recipes.shards import Pieces, trouble_told

Doing = Callable[[int], None]
"""Does a piece and finishes it."""


@runtime_checkable
class Work(Protocol):
    """Something done piece by piece. It travels to other processes and machines by pickle."""

    @property
    def pieces(self) -> Pieces:
        """The pieces."""
        ...

    def open(self, device: str | None) -> Doing:
        """Load what is needed, once for each process."""
        ...


@runtime_checkable
class Runner(Protocol):
    """Sees to it that work is done."""

    def __call__(self, work: Work, progress: Progress) -> None:
        """Finish all pieces."""
        ...


@dataclass(frozen=True, kw_only=True)
class Local:
    """This process, or several of its own; other commands may help."""

    processes: int = 1
    """How many."""
    device: str | None = None
    """Where the model runs; None: a GPU where there is one, in turns where there are several."""

    def __post_init__(self) -> None:
        if self.processes < 1:
            raise ConfigError(
                f"processes must be at least 1, got {self.processes}", hint="leave it out for one"
            )

    def __call__(self, work: Work, progress: Progress) -> None:
        """Finish all pieces."""
        pieces, telling = work.pieces, Telling(work.pieces, progress)
        telling.now()
        if not pieces.left:
            return
        if self.processes == 1:
            do = work.open(device_of_this_process(self.device))
            for piece in pieces.claimed():
                do(piece)
                telling.sometimes()
        else:
            _run_children(work, self.processes, self.device, telling)
        telling.now()


class Telling:
    """Tells how much is done; where counting takes long, because there are many pieces, less often."""

    def __init__(self, pieces: Pieces, progress: Progress) -> None:
        self.pieces, self.progress = pieces, progress
        self.next = 0.0

    def now(self) -> None:
        """Count, and tell."""
        begun = time.monotonic()
        self.progress(self.pieces.done, self.pieces.count)
        end = time.monotonic()
        self.next = end + 50 * (end - begun)

    def sometimes(self) -> None:
        """The same, unless it would take more than a fiftieth of the time."""
        if time.monotonic() >= self.next:
            self.now()


def _run_children(work: Work, processes: int, device: str | None, telling: Telling) -> None:
    context = get_context("spawn")
    threads = max(1, (os.cpu_count() or 1) // processes)
    trouble: SimpleQueue[LevtError] = context.SimpleQueue()
    children = [
        context.Process(
            target=_child, args=(work, device_of_child(device, number), threads, trouble), daemon=True
        )
        for number in range(processes)
    ]
    try:
        with starting():
            for child in children:
                child.start()
        while any(child.is_alive() for child in children):
            wait([child.sentinel for child in children if child.is_alive()], timeout=0.3)
            telling.sometimes()
            if any(child.exitcode for child in children):
                break
        if not trouble.empty():
            raise trouble.get()
        if any(child.exitcode for child in children):
            mourn()
            raise LevtError(
                "a process that decoded has died",
                hint="run the command again, it goes on; fewer --processes need less memory",
            )
    finally:
        for child in children:
            if child.is_alive():
                child.terminate()


def _child(work: Work, device: str | None, threads: int, trouble: "SimpleQueue[LevtError]") -> None:
    """What each process does; it does not outlive the one that started it."""
    helps()
    torch.set_num_threads(threads)
    try:
        with trouble_told(work.pieces.folder):
            do = work.open(device)
            for piece in work.pieces.claimed():
                do(piece)
    except LevtError as error:
        trouble.put(error)
        sys.exit(2)


def device_of_this_process(device: str | None) -> str | None:
    """The device asked for; under torchrun each process has a GPU of its own, where there are any."""
    rank = os.environ.get("LOCAL_RANK")
    return f"cuda:{rank}" if device is None and rank is not None and torch.cuda.is_available() else device


def device_of_child(device: str | None, number: int) -> str | None:
    """The device asked for; where none is, the processes take turns with the GPUs."""
    gpus = torch.cuda.device_count() if device is None else 0
    return f"cuda:{number % gpus}" if gpus > 1 else device
