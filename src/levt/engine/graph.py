"""Work that is captured as a CUDA graph when it is first run, and the buckets of shapes for which it is."""

import gc
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

WIDTHS = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
"""Widths of sources and states."""
HEIGHTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Numbers of rows."""
FEW = 8
"""Up to so many rows, the time is that of the launches, however wide they are."""


def bucket(size: int, sizes: Sequence[int], most: int) -> int:
    """The smallest of the sizes that is enough, at most ``most``.

    >>> bucket(17, WIDTHS, 1024), bucket(60, WIDTHS, 61)
    (24, 61)
    """
    return min(next((s for s in sizes if s >= size), most), most)


class Graph:
    """Some work that is captured when it is first run, and replayed ever after; without CUDA it just runs."""

    def __init__(self, work: Callable[[], None], *, capture: bool, pool: Any = None) -> None:
        """Graphs of one pool share their memory: they must run one after another, and leave nothing in it."""
        self.work, self.capture, self.pool = work, capture, pool
        self._graph: torch.cuda.CUDAGraph | None = None

    @property
    def fresh(self) -> bool:
        """Whether capturing is still to be done."""
        return self.capture and self._graph is None

    def prepare(self) -> None:
        """Capture; the work is run once before, so that every library has made its workspaces."""
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.work()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        # An old graph that is cleared away in the middle of a capture spoils it.
        collecting = gc.isenabled()
        gc.disable()
        try:
            with torch.cuda.graph(graph, pool=self.pool):
                self.work()
        finally:
            if collecting:
                gc.enable()
        self._graph = graph

    def run(self) -> None:
        """Do the work, without waiting for it."""
        if not self.capture:
            self.work()
            return
        if self._graph is None:
            self.prepare()
        assert self._graph is not None
        self._graph.replay()


def new_pool(*, capture: bool) -> Any:
    """Memory for graphs that run one after another."""
    return torch.cuda.graph_pool_handle() if capture else None


def current(device: torch.device) -> AbstractContextManager[Any]:
    """Make a device the current one for a while: streams, events, graphs and kernels are always of that one."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()
