"""Work done by a cluster of Ray: one model per worker, pieces by way of Ray Data. Knows neither models nor texts.

What travels through Ray are numbers of pieces. A worker reads its piece from the file system that all machines share
and leaves the finished one there, whole or not at all. So a worker, or the whole cluster, may die at any moment: Ray
gives the piece to another, and a piece that is done twice is the same file twice.
"""

import logging
import os
import pickle
import socket
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from levt.errors import ConfigError, LevtError, MissingExtra
from levt.recipes.distillation import Progress
from levt.recipes.shards import trouble_told
from levt.recipes.workers import Doing, Work

MEMORY = 100_000_000
"""Bytes of the object store of a cluster that we start: numbers of pieces need no more."""

WAIT = 10.0
"""Seconds in which a cluster must let us in."""
BLOCKS = 10_000
"""Most tasks that Ray is given; of more pieces several go together. One that is repeated skips what it had finished."""


@dataclass(frozen=True, kw_only=True)
class OnRay:
    """A cluster of Ray: the one we are connected to, the one at an address, or one started for the occasion."""

    address: str | None = None
    """Where the cluster is; None: RAY_ADDRESS where that is set, else this machine alone."""
    workers: int | None = None
    """How many; None: one per GPU of the cluster, or per ``cpus`` of its CPUs where it has no GPU."""
    device: str | None = None
    """Where the model runs; None: a GPU where the cluster has any."""
    cpus: int = 1
    """CPUs of a worker."""

    def __post_init__(self) -> None:
        for name in ("workers", "cpus"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise ConfigError(
                    f"{name} must be at least 1, got {value}", hint="leave it out for what the cluster has"
                )

    def __call__(self, work: Work, progress: Progress) -> None:
        """Finish all pieces."""
        pieces = work.pieces
        progress(done := pieces.done, pieces.count)
        if not (left := pieces.left):
            return
        with _cluster(self.address) as ray:
            have = ray.cluster_resources()
            gpus = int(have.get("GPU", 0)) if self.device is None or self.device.startswith("cuda") else 0
            most = gpus or max(1, int(have.get("CPU", 1)) // self.cpus)
            workers = min(self.workers or most, len(left))
            # The model is loaded once per actor. One that dies is started again by Ray Data, and its pieces are
            # repeated. Two pieces are at each actor, no more: the rest waits until there is room.
            blocks = min(len(left), BLOCKS)
            rows = ray.data.from_items([{"piece": piece} for piece in left], override_num_blocks=blocks)
            rows = rows.map_batches(
                _Worker,
                fn_constructor_args=(work, self.device if gpus else "cpu", self.cpus),
                batch_size=1,
                compute=ray.data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=2),
                num_cpus=self.cpus,
                num_gpus=1 if gpus else 0,
            )
            for row in rows.iter_rows():
                if row["problem"]:
                    raise pickle.loads(row["problem"])
                done += pieces.examples(int(row["piece"]))
                progress(done, pieces.count)
        if left := pieces.left:
            raise LevtError(
                f"{len(left)} of {pieces.number} shards that Ray has finished are not in {pieces.folder}",
                hint="all machines of the cluster must see this folder under the same name",
            )


class _Worker:
    """An actor: opens the work with its first piece, so that trouble with it is told like any other."""

    def __init__(self, work: Work, device: str | None, threads: int) -> None:
        self.work, self.device, self.threads = work, device, threads
        self.do: Doing | None = None

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Do the pieces of a batch; a problem that the user can put right is an answer, anything else an error."""
        problem = b""
        try:
            if self.do is None:
                import torch

                torch.set_num_threads(self.threads)
                self.do = self.work.open(self.device)
            for piece in batch["piece"]:
                if not self.work.pieces.finished(int(piece)):
                    with trouble_told(self.work.pieces.folder):
                        self.do(int(piece))
        except LevtError as error:
            problem = pickle.dumps(error)
        return {
            "piece": [int(piece) for piece in batch["piece"]],
            "problem": [problem] * len(batch["piece"]),
        }


@contextmanager
def _cluster(address: str | None) -> Iterator[Any]:
    """Ray with its Data module, connected; what we have started is shut down at the end, and only that."""
    # Ray reports by the network how it is used unless told not to, before it is imported.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # With this, Ray does in our version what it says it will do in a later one, and warns of nothing.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # What the parts of Ray have to say to each other is in its log files.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise MissingExtra("ray", "ray") from error
    with warnings.catch_warnings():
        # Ray's own defaults set what Ray deprecates.
        warnings.filterwarnings("ignore", r"`use_\w+` is deprecated", DeprecationWarning)
        context = ray.data.DataContext.get_current()
    log = logging.getLogger("ray.data")
    before, level = context.enable_progress_bars, log.level
    ours = not ray.is_initialized()
    try:
        log.setLevel(logging.ERROR)
        if ours:
            _connect(ray, address or os.environ.get("RAY_ADDRESS") or "local")
        context.enable_progress_bars = False
        yield ray
    finally:
        context.enable_progress_bars = before
        log.setLevel(level)
        if ours:
            ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    started = {
        "include_dashboard": False,
        "object_store_memory": MEMORY,
        "num_cpus": max(2, os.cpu_count() or 1),
    }
    try:
        _check_there(address)
        with _silent():
            ray.init(address=address, **quiet, **(started if address == "local" else {}))
    except (OSError, ValueError, RuntimeError) as error:
        raise LevtError(
            f"there is no cluster of Ray at {address}: {(str(error) or repr(error)).splitlines()[0]}",
            hint="`ray start --head` starts one; without --ray-address this machine works alone",
        ) from error


def _check_there(address: str) -> None:
    """Raise OSError where nobody listens at HOST:PORT; Ray itself would try for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit() and "/" not in address:
        socket.create_connection((host.strip("[]"), int(port)), timeout=WAIT).close()


@contextmanager
def _silent() -> Iterator[None]:
    """Nothing on stderr for a moment: Ray says there, whatever it is told, how its log is set up."""
    sys.stderr.flush()
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)
