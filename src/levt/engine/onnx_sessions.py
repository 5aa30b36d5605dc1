"""Graphs that run: sessions of ONNX Runtime, made when they are first needed. Knows no network.

The number of threads is that of torch, at most the cores this process may use (its affinity and its control group
counted, a core with two hardware threads once), or LEVT_THREADS.
"""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from levt.engine.onnx_folder import Graphs
from levt.engine.onnx_graph import Array
from levt.engine.onnx_linear import MIDDLE, POSITIVE, STEPS
from levt.errors import ConfigError, MissingExtra

THREADS = "LEVT_THREADS"
PRODUCTS = ("avx512_vnni", "avx_vnni", "amx_int8", "asimddp", "i8mm")
"""Flags of processors that multiply bytes without overflow on the way."""
COARSE = {
    STEPS: np.asarray([1 / 63], np.float32),
    POSITIVE: np.asarray([1 / 127], np.float32),
    MIDDLE: np.asarray([64], np.uint8),
}
"""For all others: rows are rounded to 7 bits, 0 … 127, of which two products with weights fit into 16 bits."""


def runtime() -> Any:
    """ONNX Runtime, where it is installed, and silent: by itself it reports what it is used for to its makers."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # it looks once, when it is first imported
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtra("onnxruntime", "onnx") from error
    return onnxruntime


def thread_count() -> int:
    """How many threads a session gets: as many as torch does, at most one per core."""
    given = os.environ.get(THREADS)
    if given is None:
        return min(torch.get_num_threads(), physical_cores(), allowed_cores())
    if not given.isdecimal() or int(given) < 1:
        raise ConfigError(
            f"{THREADS} must be a whole number of at least 1, got {given!r}",
            hint=f"unset {THREADS} for one per core",
        )
    return int(given)


def physical_cores() -> int:
    """Cores that this process may run on; two hardware threads of one core count once."""
    try:
        cpus = os.sched_getaffinity(0)
    except AttributeError:  # not Linux
        return max((os.cpu_count() or 2) // 2, 1)
    cores = set()
    for cpu in cpus:
        shared = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            cores.add(shared.read_text().strip())
        except OSError:
            cores.add(str(cpu))
    return len(cores)


def allowed_cores(limit: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Cores that the control group of this process grants it, rounded up; many where it sets no limit."""
    try:
        quota, period = limit.read_text().split()
        return max(-(-int(quota) // int(period)), 1)
    except (OSError, ValueError):
        return 1 << 16


@cache
def multiplies_bytes() -> bool:
    """Whether the processor has exact products of bytes.

    Older ones of x86 add two products of bytes in 16 bits, which overflow.
    """
    try:
        flags = Path("/proc/cpuinfo").read_text().lower()
    except OSError:
        return False
    return any(flag in flags for flag in PRODUCTS)


class Sessions:
    """The sessions of a folder of graphs."""

    def __init__(self, graphs: Graphs, *, threads: int | None = None, exact: bool | None = None) -> None:
        """``exact`` says whether the processor multiplies bytes exactly (None: look)."""
        self.graphs, self.threads = graphs, threads or thread_count()
        self._rounding = {} if (multiplies_bytes() if exact is None else exact) else COARSE
        self._open: dict[str, tuple[Any, list[str], list[str]]] = {}

    def open(self, graph: str) -> tuple[Any, list[str], list[str]]:
        """The session of a graph, and the names of its inputs and outputs."""
        if graph not in self._open:
            ort = runtime()
            options = ort.SessionOptions()
            options.intra_op_num_threads = self.threads
            options.log_severity_level = 3
            # Each graph has threads of its own: those of a graph that has ended must not spin beside the next.
            options.add_session_config_entry("session.force_spinning_stop", "1")
            # Shapes differ from call to call: a plan of the memory for every one of them would only grow.
            options.enable_mem_pattern = False
            made = ort.InferenceSession(
                str(self.graphs.path(graph)), options, providers=["CPUExecutionProvider"]
            )
            free = {value.name for value in made.get_overridable_initializers()}
            inputs = [value.name for value in made.get_inputs()] + [n for n in self._rounding if n in free]
            self._open[graph] = made, inputs, [value.name for value in made.get_outputs()]
        return self._open[graph]

    def open_all(self) -> None:
        """Open every graph now."""
        for chain in self.graphs.chains.values():
            for graph in chain:
                self.open(graph)

    def run(self, graph: str, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs of a graph by their names; feeds that it has no use for are left out."""
        session, inputs, outputs = self.open(graph)
        given = {**feeds, **self._rounding}
        found: list[Array] = session.run(outputs, {name: given[name] for name in inputs})
        return dict(zip(outputs, found, strict=True))
