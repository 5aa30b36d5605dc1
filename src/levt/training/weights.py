"""All weights of a model as one vector, with its gradient, its optimiser state and its moving average.

The parameters of the model become views into a flat working vector (bf16 or fp32) and their gradients into
another; the master copy is fp32. So clipping, averaging over workers, the optimiser step, the moving average
and the copy back are one kernel each, whatever the number of layers, and all of it can be captured.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from levt.errors import ModelError, raise_all
from levt.training.config import TrainingConfig
from levt.training.parallel import World

ALIGN = 128
"""Parameters begin at multiples of this many numbers: matrix kernels like aligned rows."""

Slices = dict[str, tuple[int, torch.Size]]
"""Where each parameter begins in a flat vector, and its shape."""


def slices_of(named: Iterable[tuple[str, Tensor]]) -> tuple[Slices, int]:
    """The places of parameters in a flat vector, and the size of it."""
    slices: Slices = {}
    size = 0
    for name, parameter in named:
        slices[name] = (size, parameter.shape)
        size += -(-parameter.numel() // ALIGN) * ALIGN
    return slices, size


def view(flat: Float[Tensor, "size"], place: tuple[int, torch.Size]) -> Tensor:
    """One parameter of a flat vector."""
    begin, shape = place
    return flat[begin : begin + shape.numel()].view(shape)


class Weights(ABC):
    """The weights of a model, ready to be optimised: whole in every process, or a part in each."""

    captures: ClassVar[bool]
    """Whether a step can be captured as a CUDA graph."""
    names: list[str]
    rate: Tensor
    """Learning rate of the next step."""
    norm: Tensor
    """Norm of the last gradient."""
    bad_steps: Tensor
    """Steps that were skipped because their gradient was not finite."""
    loss_scale: float = 1.0
    """What a loss is multiplied by, so that the gradient over all processes is a sum."""

    @abstractmethod
    def hold(self, module: nn.Module) -> bool:
        """Whether every weight of a module is one of these."""

    @abstractmethod
    def reduce(self, world: World) -> None:
        """Make the gradient that of all processes."""

    @abstractmethod
    def step(self) -> None:
        """Clip, update, average, copy back, and forget the gradient. Nothing waits for the device."""

    @abstractmethod
    def whole(self, *, averaged: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Every fp32 weight by name, whole; all processes must take part."""

    @abstractmethod
    def masters(self) -> list[Tensor]:
        """What this process holds of the fp32 weights."""

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Everything that must survive a restart, parameter by parameter, as it is spread over the processes."""

    @abstractmethod
    def restore(self, state: dict[str, Tensor]) -> None:
        """Take over flat vectors, as ``FlatWeights.state`` gives them."""

    @abstractmethod
    def restored(self) -> None:
        """To be called when ``tensors`` have been filled from outside."""


class FlatWeights(Weights):
    """All weights in this process."""

    captures = True

    def __init__(self, model: nn.Module, config: TrainingConfig, dtype: torch.dtype) -> None:
        self.config = config
        self.names = [name for name, _ in model.named_parameters()]
        parameters = [p for _, p in model.named_parameters()]
        device = parameters[0].device
        self.slices, size = slices_of(model.named_parameters())
        self.master = nn.Parameter(torch.zeros(size, device=device))
        self.master.grad = torch.zeros(size, device=device)
        # In full precision the model works on the master itself.
        self.apart = dtype != torch.float32
        self.working = torch.zeros(size, dtype=dtype, device=device) if self.apart else self.master.data
        self.gradient = torch.zeros_like(self.working) if self.apart else self.master.grad
        for name, parameter in zip(self.names, parameters, strict=True):
            self._view(self.master.data, name).copy_(parameter.data)
            parameter.data = self._view(self.working, name)
            parameter.grad = self._view(self.gradient, name)
        self.working.copy_(self.master.data)
        self.average = self.master.data.clone() if config.ema else None

        self.rate = torch.zeros((), device=device)
        self.norm = torch.zeros((), device=device)
        self.bad = torch.zeros((), device=device)
        """1 where the last gradient was not finite, so that the step was skipped."""
        self.bad_steps = torch.zeros((), device=device)
        self.optimiser = adamw([self.master], self.rate, self.bad, config)

    def _view(self, flat: Float[Tensor, "size"], name: str) -> Tensor:
        return view(flat, self.slices[name])

    def hold(self, module: nn.Module) -> bool:
        """Whether every weight of a module still lies in the working vector."""
        storage = self.working.untyped_storage().data_ptr()
        return all(p.untyped_storage().data_ptr() == storage for p in module.parameters())

    def reduce(self, world: World) -> None:
        """Add up the gradient over all processes."""
        world.add_up(self.gradient)

    @torch.no_grad()
    def step(self) -> None:
        """Clip, update, average, copy back, and forget the gradient. Nothing waits for the device."""
        assert self.master.grad is not None
        if self.apart:
            self.master.grad.copy_(self.gradient)
        self.norm.copy_(torch.linalg.vector_norm(self.master.grad))
        self.bad.copy_(~self.norm.isfinite())
        self.bad_steps.add_(self.bad)
        if self.config.clip:
            self.master.grad.mul_((self.config.clip / (self.norm + 1e-6)).clamp(max=1.0))
        self.optimiser.step()
        if self.average is not None:
            # The average begins at the first weights; early on it forgets them faster.
            count = self.optimiser.state[self.master]["step"]
            self.average.lerp_(self.master.data, 1 - decay_at(count, self.config.ema))
        if self.apart:
            self.working.copy_(self.master.data)
        self.gradient.zero_()

    def named(self, *, averaged: bool = True) -> dict[str, Tensor]:
        """The fp32 weights by name; the moving average where there is one and ``averaged`` is set."""
        flat = self.average if averaged and self.average is not None else self.master.data
        return {name: self._view(flat, name) for name in self.names}

    def whole(self, *, averaged: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Every fp32 weight by name."""
        yield from self.named(averaged=averaged).items()

    def masters(self) -> list[Tensor]:
        """The fp32 weights as one vector."""
        return [self.master.data]

    def state(self) -> dict[str, Tensor]:
        """Everything that must survive a restart."""
        moments = self.optimiser.state[self.master]
        kept = {
            "master": self.master.data,
            "exp_avg": moments["exp_avg"],
            "exp_avg_sq": moments["exp_avg_sq"],
            "step": moments["step"].reshape(1),
            "bad_steps": self.bad_steps.reshape(1),
        }
        return kept if self.average is None else {**kept, "average": self.average}

    def tensors(self) -> dict[str, Tensor]:
        """The same, parameter by parameter."""
        found: dict[str, Tensor] = {}
        for kind, flat in self.state().items():
            counter = flat.numel() == 1 and kind in ("step", "bad_steps")
            found |= {kind: flat} if counter else {f"{kind}.{n}": self._view(flat, n) for n in self.names}
        return found

    @torch.no_grad()
    def restore(self, state: dict[str, Tensor]) -> None:
        """Take over what ``state`` gave; a run that had no moving average begins one."""
        state = with_average(state)
        wanted = {name: tuple(tensor.shape) for name, tensor in self.state().items()}
        check_shapes(wanted, state)
        for name, tensor in self.state().items():
            tensor.copy_(state[name].to(tensor.device))
        self.restored()

    @torch.no_grad()
    def restored(self) -> None:
        """Work with what the master now is."""
        if self.apart:
            self.working.copy_(self.master.data)
        self.gradient.zero_()


def adamw(
    parameters: list[nn.Parameter], rate: Float[Tensor, ""], bad: Float[Tensor, ""], config: TrainingConfig
) -> torch.optim.AdamW:
    """Torch's fused AdamW, which changes nothing in a step where ``bad`` is 1."""
    optimiser = torch.optim.AdamW(
        parameters, lr=rate, betas=(config.beta1, config.beta2), eps=1e-8, weight_decay=config.weight_decay,
        fused=True, capturable=rate.device.type == "cuda",
    )  # fmt: skip
    # The fused kernel leaves weights and moments alone where this is 1. A first such step makes its state.
    optimiser.found_inf = bad  # type: ignore[attr-defined]
    bad.fill_(1)
    optimiser.step()
    bad.zero_()
    return optimiser


def decay_at(count: Float[Tensor, ""], most: float) -> Float[Tensor, ""]:
    """The decay of the moving average after so many steps: it begins low and rises to ``most``."""
    return ((1 + count) / (10 + count)).clamp(max=most)


def with_average(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """A state in which a moving average, if there is none, begins at the weights."""
    return {"average": state["master"], **state} if "master" in state else state


def check_shapes(wanted: dict[str, tuple[int, ...]], state: dict[str, Tensor]) -> None:
    """Refuse flat vectors of another model."""
    problems = [
        f"{name} must have the shape {shape}, is "
        + (str(tuple(state[name].shape)) if name in state else "missing")
        for name, shape in wanted.items()
        if name not in state or tuple(state[name].shape) != shape
    ]
    raise_all(
        ModelError,
        "the weights of the checkpoint",
        problems,
        hint="use another --out folder, or the settings of that run",
    )
