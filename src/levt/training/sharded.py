"""Weights of which every process holds a part: PyTorch's FSDP2, with our optimiser on the parts.

``fully_shard`` gathers the weights of a block when it is run and scatters the sum of its gradients when it has
been learnt from; between steps a process has 1 / processes of weights, gradients, moments and moving average. Adam
is elementwise, so it works on the local parts as on plain tensors; only the norm of the gradient needs everybody.
"""

from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor

from levt.policy.blocks import Block
from levt.training.config import TrainingConfig
from levt.training.parallel import World
from levt.training.weights import Weights, adamw, check_shapes, decay_at, slices_of, view, with_average


class ShardedWeights(Weights):
    """A part of all weights in each process. ``objective`` holds the model, and is what is called in a step."""

    captures = False

    def __init__(
        self, objective: nn.Module, model: nn.Module, config: TrainingConfig, dtype: torch.dtype, world: World
    ) -> None:
        self.config, self.world = config, world
        self.names = [name for name, _ in model.named_parameters()]
        self.slices, self.size = slices_of(model.named_parameters())
        device = next(model.parameters()).device
        # FSDP gives the mean of the gradients; ours is their sum, as losses are means over the global batch.
        self.loss_scale = float(world.size)
        self.mesh = init_device_mesh(device.type, (world.size,))
        # Inputs are token numbers and counts of decisions, which must not be rounded.
        policy = MixedPrecisionPolicy(
            param_dtype=dtype, reduce_dtype=torch.float32, cast_forward_inputs=False
        )
        for module in [m for m in objective.modules() if isinstance(m, Block)]:
            fully_shard(module, mesh=self.mesh, mp_policy=policy)
        fully_shard(objective, mesh=self.mesh, mp_policy=policy)

        # Parameters, which are also DTensors: torch's annotations know only the one.
        self.spread: list[DTensor] = [cast(DTensor, parameter) for parameter in model.parameters()]
        self.parts = [nn.Parameter(cast(DTensor, p.detach()).to_local()) for p in self.spread]
        self.averages = [p.data.clone() for p in self.parts] if config.ema else None
        self.rate = torch.zeros((), device=device)
        self.norm = torch.zeros((), device=device)
        self.bad = torch.zeros((), device=device)
        self.bad_steps = torch.zeros((), device=device)
        for part in self.parts:
            part.grad = torch.zeros_like(part)
        self.optimiser = adamw(self.parts, self.rate, self.bad, config)

    def hold(self, module: nn.Module) -> bool:
        """Whether every weight of a module is one of those that are spread."""
        spread = {id(parameter) for parameter in self.spread}
        return all(id(parameter) in spread for parameter in module.parameters())

    def reduce(self, world: World) -> None:
        """Nothing is left to do: the backward pass has scattered the sums."""

    @torch.no_grad()
    def step(self) -> None:
        """Clip, update, average, and forget the gradient."""
        gradients = []
        for spread, part in zip(self.spread, self.parts, strict=True):
            gradient = spread.grad
            # A layer above an early exit has no gradient; its weights decay all the same.
            part.grad = gradient.to_local() if isinstance(gradient, DTensor) else torch.zeros_like(part)
            gradients.append(part.grad)
        square = torch.stack(torch._foreach_norm(gradients)).square().sum()
        self.world.add_up(square)
        self.norm.copy_(square.sqrt())
        self.bad.copy_(~self.norm.isfinite())
        self.bad_steps.add_(self.bad)
        if self.config.clip:
            torch._foreach_mul_(gradients, (self.config.clip / (self.norm + 1e-6)).clamp(max=1.0))
        self.optimiser.step()
        if self.averages is not None:
            weight = 1 - decay_at(self._count, self.config.ema)
            for average, part in zip(self.averages, self.parts, strict=True):
                average.lerp_(part.data, weight)
        for spread, part in zip(self.spread, self.parts, strict=True):
            spread.grad = part.grad = None

    @property
    def _count(self) -> Tensor:
        """Steps taken, the same for all parameters."""
        count: Tensor = self.optimiser.state[self.parts[0]]["step"]
        return count

    def _like(self, spread: DTensor, part: Tensor) -> DTensor:
        """A part as what it is of the whole."""
        return DTensor.from_local(
            part, self.mesh, spread.placements, run_check=False, shape=spread.shape, stride=spread.stride()
        )

    def _kinds(self) -> dict[str, list[Tensor]]:
        """Everything elementwise that must survive a restart, the parts of this process."""
        moments = [self.optimiser.state[part] for part in self.parts]
        found: dict[str, list[Tensor]] = {"master": [part.data for part in self.parts]}
        found |= {kind: [m[kind] for m in moments] for kind in ("exp_avg", "exp_avg_sq")}
        return found if self.averages is None else {**found, "average": self.averages}

    def whole(self, *, averaged: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Every fp32 weight by name, gathered one after another."""
        parts = self.averages if averaged and self.averages is not None else self.masters()
        for name, spread, part in zip(self.names, self.spread, parts, strict=True):
            yield name, self._like(spread, part).full_tensor()

    def masters(self) -> list[Tensor]:
        """The parts of this process."""
        return [part.data for part in self.parts]

    def tensors(self) -> dict[str, Tensor]:
        """Everything that must survive a restart, with its place in the whole."""
        found: dict[str, Tensor] = {"step": self._count.reshape(1), "bad_steps": self.bad_steps.reshape(1)}
        for kind, parts in self._kinds().items():
            for name, spread, part in zip(self.names, self.spread, parts, strict=True):
                found[f"{kind}.{name}"] = self._like(spread, part)
        return found

    @torch.no_grad()
    def restore(self, state: dict[str, Tensor]) -> None:
        """Take from flat vectors what belongs to this process."""
        state = with_average(state)
        wanted: dict[str, tuple[int, ...]] = dict.fromkeys(self._kinds(), (self.size,))
        check_shapes({**wanted, "step": (1,), "bad_steps": (1,)}, state)
        for kind, parts in self._kinds().items():
            for name, part in zip(self.names, parts, strict=True):
                chunks = view(state[kind], self.slices[name]).chunk(self.world.size)
                if self.world.rank < len(chunks):
                    part.copy_(chunks[self.world.rank])
        self._count.copy_(state["step"][0])
        self.bad_steps.copy_(state["bad_steps"][0])
        self.restored()

    @torch.no_grad()
    def restored(self) -> None:
        """All parameters have taken the same number of steps."""
        for part in self.parts:
            state: dict[str, Any] = self.optimiser.state[part]
            state["step"].copy_(self._count)
