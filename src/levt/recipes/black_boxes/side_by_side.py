"""Several black boxes of the same kind in processes of their own, answers in order. Knows no files."""

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from levt.data.children import INTERRUPTED, at_ctrl_c, helps, mourn, starting
from levt.errors import LevtError
from levt.recipes.black_boxes import BlackBox, NoAnswer

Opener = Callable[[], BlackBox]

_opener: Opener | None = None
"""What opens the black box of a worker process: with its first lines, so that they are answered by what goes wrong."""
_box: BlackBox | None = None
"""That black box."""


def translated(
    chunks: Iterable[list[str]], opened: Opener, processes: int = 1
) -> Iterator[tuple[list[str], list[str]]]:
    """Each chunk of lines with its answers, in order; more than one process needs an ``opened`` that can travel.

    Where the chunks end in trouble, what came before it is answered first.
    """
    if processes == 1:
        box = opened()
        for chunk in chunks:
            yield chunk, box.translate(chunk)
        return
    # Not forked: threads of the libraries that models use do not survive it.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, initializer=_opens, initargs=(opened,))
    waiting: deque[tuple[list[str], Future[list[str]]]] = deque()
    trouble: list[LevtError] = []
    try:
        for chunk in _until(trouble, chunks):
            with starting():
                waiting.append((chunk, pool.submit(_translate, chunk)))
            # Some in advance, not the whole corpus.
            if len(waiting) > 2 * processes:
                asked, answer = waiting.popleft()
                yield asked, answer.result()
        while waiting:
            asked, answer = waiting.popleft()
            yield asked, answer.result()
        if trouble:
            raise trouble[0]
    except BrokenProcessPool:
        mourn()
        raise NoAnswer(
            "a process of the black box has died",
            hint="try it with one process: its own error will show; or there was too little memory",
        ) from None
    finally:
        # Not one by one: of a pool that breaks meanwhile, cancelled answers would never let go.
        pool.shutdown(cancel_futures=True)


def _until(trouble: list[LevtError], chunks: Iterable[list[str]]) -> Iterator[list[str]]:
    """The chunks up to the trouble that they end in, which is noted."""
    try:
        yield from chunks
    except LevtError as error:
        trouble.append(error)


def _opens(opened: Opener) -> None:
    global _opener
    helps()
    _opener = opened


def _translate(lines: list[str]) -> list[str]:
    global _box
    assert _opener is not None
    try:
        if _box is None:
            _box = _opener()
            # From now on there may be a command to be ended first.
            at_ctrl_c(lambda: sys.exit(INTERRUPTED))
        return _box.translate(lines)
    except SystemExit:  # the pool would take it for an answer, and give out the next lines
        os._exit(INTERRUPTED)
