"""The processes of a run under torchrun: who am I, and sums over all of us. One process needs none of it."""

import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from jaxtyping import Shaped
from torch import Tensor

from levt.errors import ConfigError, raise_all
from levt.training.rendezvous import RendezvousFailed, agent_store, clean

LAUNCH = "torchrun --nproc-per-node 2 -m levt train …"


@dataclass(frozen=True)
class World:
    """This process among the others."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0

    @classmethod
    def join(cls, device: torch.device, backend: str = "auto") -> "World":
        """The world that torchrun describes in the environment, or a world of one."""
        told = cls.told()
        if told.size == 1:
            return told
        told.gpu(device)  # refused before anybody is spoken to
        if not dist.is_initialized():
            chosen = backend_for(device, backend)
            problems = [
                f"{name} is not set" for name in ("MASTER_ADDR", "MASTER_PORT") if name not in os.environ
            ]
            raise_all(
                RendezvousFailed, f"process {told.rank} of {told.size} cannot find the others", problems,
                hint=f"start it with torchrun: {LAUNCH}",
            )  # fmt: skip
            if device.type == "cuda":
                torch.cuda.set_device(told.local_rank)
            told._meet(chosen)
        return cls(dist.get_rank(), dist.get_world_size(), told.local_rank)

    def _meet(self, backend: str) -> None:
        """Begin to talk to the others."""
        host, port = os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"]
        try:
            if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
                store = clean(agent_store(host, int(port), self.size), self.rank, self.size)
                dist.init_process_group(backend, store=store, rank=self.rank, world_size=self.size)
            else:
                dist.init_process_group(backend)
        except (dist.DistError, RuntimeError, ValueError) as error:
            raise RendezvousFailed(
                f"process {self.rank} of {self.size} cannot find the others at {host}:{port}: {_first_line(error)}",
                hint="all processes need the same --rdzv-endpoint, and the port must be open",
            ) from error

    @classmethod
    def told(cls) -> "World":
        """What the environment says, before anybody is spoken to."""
        names = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
        found = {name: os.environ.get(name, default) for name, default in names.items()}
        problems = [
            f"{n} must be a number from 0 on, got {v!r}" for n, v in found.items() if not v.isdecimal()
        ]
        if not problems:
            rank, size, _ = (int(value) for value in found.values())
            if rank >= size:
                problems.append(f"RANK must be below WORLD_SIZE = {size}, got {rank}")
            elif size > 1 and "RANK" not in os.environ:
                problems.append(f"WORLD_SIZE is {size}, but RANK is not set")
        raise_all(RendezvousFailed, "environment", problems, hint=f"let torchrun set it: {LAUNCH}")
        return cls(*(int(value) for value in found.values()))

    def gpu(self, device: torch.device) -> int:
        """The number of the GPU that this process uses: the one that is named, or the one of its rank.

        >>> World().gpu(torch.device("cuda:1")), World(1, 2, 1).gpu(torch.device("cuda"))
        (1, 1)
        """
        if device.index is None:
            return self.local_rank
        if self.size > 1 and device.type == "cuda":
            raise ConfigError(
                f"{self.size} processes train together, each on a GPU of its own, got device {str(device)!r}",
                hint="--device cuda; CUDA_VISIBLE_DEVICES chooses among GPUs",
            )
        return device.index

    @property
    def first(self) -> bool:
        """True in the process that writes and speaks."""
        return self.rank == 0

    def sum(self, values: Shaped[Tensor, "..."]) -> Shaped[Tensor, "..."]:
        """The sum over all processes of a small tensor on the host."""
        if self.size == 1:
            return values
        device = "cuda" if dist.get_backend() == "nccl" else "cpu"
        moved = values.to(device)
        dist.all_reduce(moved)
        return moved.cpu()

    def add_up(self, gradient: Shaped[Tensor, "..."]) -> None:
        """Replace a gradient by its sum over all processes; losses are already means over the global batch."""
        if self.size > 1:
            dist.all_reduce(gradient)

    def barrier(self) -> None:
        """Wait for everybody."""
        if self.size > 1:
            dist.barrier()

    def lost_in(self, error: BaseException) -> bool:
        """Whether an error says that another process has gone."""
        if self.size == 1:
            return False
        text = str(error).lower()
        gone = ("closed by peer", "reset by peer", "broken pipe", "remote process exited")
        return isinstance(error, dist.DistNetworkError) or any(words in text for words in gone)

    def leave(self) -> None:
        """Take leave of the others."""
        if self.size > 1 and dist.is_initialized():
            dist.destroy_process_group()


def backend_for(device: torch.device, backend: str = "auto") -> str:
    """How the processes of a device talk to each other."""
    if backend == "auto":
        backend = "nccl" if device.type == "cuda" else "gloo"
    if backend == "nccl" and device.type != "cuda":
        raise ConfigError(f"nccl joins GPUs, the device is {device.type}", hint="--training.backend gloo")
    if not dist.is_available() or not dist.is_backend_available(backend):
        raise ConfigError(
            f"this torch cannot use the backend {backend!r}",
            hint="--training.backend gloo, or a torch that is built with it",
        )
    return backend


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
