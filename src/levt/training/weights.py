"""All weights of a model as one vector, with its gradient, its optimiser state and its moving average.

The parameters of the model become views into a flat working vector (bf16 or fp32) and their gradients into
another; the master copy is fp32. So clipping, averaging over workers, the optimiser step, the moving average
and the copy back are one kernel each, whatever the number of layers, and all of it can be captured.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from levt.errors import ModelError, raise_all
from levt.training.config import TrainingConfig

ALIGN = 128
"""Parameters begin at multiples of this many numbers: matrix kernels like aligned rows."""


class FlatWeights:
    """The weights of a model, ready to be optimised."""

    def __init__(self, model: nn.Module, config: TrainingConfig, dtype: torch.dtype) -> None:
        self.config = config
        self.names = [name for name, _ in model.named_parameters()]
        parameters = [p for _, p in model.named_parameters()]
        device = parameters[0].device
        self.slices: dict[str, tuple[int, torch.Size]] = {}
        size = 0
        for name, parameter in zip(self.names, parameters, strict=True):
            self.slices[name] = (size, parameter.shape)
            size += -(-parameter.numel() // ALIGN) * ALIGN
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
        self.optimiser = torch.optim.AdamW(
            [self.master], lr=self.rate, betas=(config.beta1, config.beta2), eps=1e-8,
            weight_decay=config.weight_decay, fused=True, capturable=device.type == "cuda",
        )  # fmt: skip
        # The fused kernel leaves weights and moments alone where this is 1. A first such step makes its state.
        self.optimiser.found_inf = self.bad  # type: ignore[attr-defined]
        self.bad.fill_(1)
        self.optimiser.step()
        self.bad.zero_()

    def _view(self, flat: Float[Tensor, "size"], name: str) -> Tensor:
        begin, shape = self.slices[name]
        return flat[begin : begin + shape.numel()].view(shape)

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
            decay = ((1 + count) / (10 + count)).clamp(max=self.config.ema)
            self.average.lerp_(self.master.data, (1 - decay).to(self.average.dtype))
        if self.apart:
            self.working.copy_(self.master.data)
        self.gradient.zero_()

    def named(self, *, averaged: bool = True) -> dict[str, Tensor]:
        """The fp32 weights by name; the moving average where there is one and ``averaged`` is set."""
        flat = self.average if averaged and self.average is not None else self.master.data
        return {name: self._view(flat, name) for name in self.names}

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

    @torch.no_grad()
    def restore(self, state: dict[str, Tensor]) -> None:
        """Take over what ``state`` gave; a run that had no moving average begins one."""
        state = {"average": state["master"], **state} if "master" in state else state
        problems = [
            f"{name} must have the shape {tuple(tensor.shape)}, is "
            + (str(tuple(state[name].shape)) if name in state else "missing")
            for name, tensor in self.state().items()
            if name not in state or state[name].shape != tensor.shape
        ]
        raise_all(ModelError, "the weights of the checkpoint", problems)
        for name, tensor in self.state().items():
            tensor.copy_(state[name].to(tensor.device))
        if self.apart:
            self.working.copy_(self.master.data)
        self.gradient.zero_()
