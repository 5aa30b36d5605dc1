"""The processes of a run under torchrun: who am I, and sums over all of us. One process needs none of it."""

import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from jaxtyping import Shaped
from torch import Tensor


@dataclass(frozen=True)
class World:
    """This process among the others."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0

    @classmethod
    def join(cls, device: torch.device) -> "World":
        """The world that torchrun describes in the environment, or a world of one."""
        if "RANK" not in os.environ or int(os.environ.get("WORLD_SIZE", "1")) == 1:
            return cls()
        if not dist.is_initialized():
            dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        return cls(dist.get_rank(), dist.get_world_size(), int(os.environ.get("LOCAL_RANK", "0")))

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

    def leave(self) -> None:
        """Take leave of the others."""
        if self.size > 1 and dist.is_initialized():
            dist.destroy_process_group()
