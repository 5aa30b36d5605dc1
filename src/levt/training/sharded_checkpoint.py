"""Checkpoints that every process writes a part of, in the background, and any number of processes can read.

They go through ``torch.distributed.checkpoint``, which knows where each part lies in the whole, with its safetensors
storage: the places are JSON in the heads of the files. (Its usual storage keeps them in a pickle, which could run
anything when it is read.) A checkpoint has its name only when all parts are written and synced to the disk.
"""

import importlib
import shutil
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import torch.distributed as dist
from safetensors import SafetensorError
from torch import Tensor
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import async_save
from torch.torch_version import TorchVersion

from levt.data.folder import sync
from levt.errors import ConfigError, LevtError
from levt.policy.atomic import replace_folder
from levt.training.checkpoint import Record, checksum, damaged
from levt.training.parallel import World
from levt.training.weights import Weights

PATTERN = "shard-*.safetensors"


class CheckpointFailed(LevtError):
    """A checkpoint that could not be written."""


class ShardedWriter:
    """Writes one checkpoint at a time while training goes on."""

    def __init__(self, world: World) -> None:
        storage()
        self.world = world
        # A group of its own: its talk in the background must not mix with that of the steps.
        self.group = dist.new_group(backend="gloo")
        self.executor = ThreadPoolExecutor(1, "levt-checkpoint")
        self.pending: Future[None] | None = None

    def begin(self, folder: Path, record: Record, weights: Weights, after: Callable[[], None]) -> None:
        """Copy the weights to the host, begin to write them, and come back; ``after`` it the first has more to do."""
        self.wait()
        partial = folder.with_name(f".{folder.name}.part")
        if self.world.first:
            shutil.rmtree(partial, ignore_errors=True)  # from a run that was killed at this very place
            partial.mkdir(parents=True)
        self.world.barrier()
        writer = storage().HuggingFaceStorageWriter(str(partial), save_distributed=True)
        started = async_save(weights.tensors(), storage_writer=writer, process_group=self.group)
        written: Future[Any] = started if isinstance(started, Future) else started.upload_completion
        self.pending = self.executor.submit(self._finish, written, partial, folder, record, after)

    def _finish(
        self, written: Future[Any], partial: Path, folder: Path, record: Record, after: Callable[[], None]
    ) -> None:
        """Give the checkpoint its name, once everybody has written."""
        try:
            written.result()
            if not self.world.first:
                return
            parts = sorted(partial.glob(PATTERN))
            shards = {path.name: path.stat().st_size for path in parts}
            sums = {path.name: checksum(path) for path in parts}
            replace(record, shards=shards, sums=sums).write(partial)
            sync(partial)
            replace_folder(partial, folder)
            shutil.rmtree(partial, ignore_errors=True)  # an older one of the same step
            after()
        except (Exception, CheckpointException) as error:  # torch's own is no Exception
            reason = str(error).strip().splitlines() or [type(error).__name__]
            raise CheckpointFailed(
                f"the checkpoint {folder} could not be written: {reason[-1]}",
                hint="is there room on the disk? run again to go on from the checkpoint before it",
            ) from error

    def wait(self) -> None:
        """Wait until what was begun is done; what went wrong with it is raised here."""
        if self.pending is not None:
            pending, self.pending = self.pending, None
            pending.result()

    def close(self) -> None:
        """Wait, and make an end."""
        try:
            self.wait()
        finally:
            self.executor.shutdown()


@torch.no_grad()
def read_shards(folder: Path, weights: Weights, world: World) -> None:
    """Fill the weights, however they are spread over processes now, from the parts of a checkpoint."""
    reader = storage().HuggingFaceStorageReader(str(folder))
    wanted = weights.tensors()
    try:
        known = reader.read_metadata().state_dict_metadata
        begin = {name for name in wanted if name.startswith("average.") and name not in known}
        asked: dict[str, Tensor] = {name: tensor for name, tensor in wanted.items() if name not in begin}
        with warnings.catch_warnings():
            # One process may read alone; torch finds that remarkable.
            warnings.filterwarnings("ignore", message="torch.distributed is disabled")
            load(asked, storage_reader=reader, no_dist=world.size == 1)
    except (
        CheckpointException,
        SafetensorError,
        RuntimeError,
        ValueError,
        LookupError,
        OSError,
    ) as error:
        raise damaged(folder, error) from error
    for name in begin:  # a run that had no moving average begins one
        wanted[name].copy_(wanted[name.replace("average.", "master.", 1)])
    weights.restored()


def storage() -> ModuleType:
    """Torch's safetensors storage; an older torch can keep the places of the parts only in a pickle."""
    if TorchVersion(torch.__version__) < "2.9":
        raise ConfigError(
            f"sharded checkpoints need torch 2.9 or newer, this is {torch.__version__}",
            hint="upgrade torch, or use --training.sharding replicate",
        )
    return importlib.import_module("torch.distributed.checkpoint.hf_storage")
