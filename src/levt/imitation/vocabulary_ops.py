"""What ``vocabulary_kernels`` does, as operators that autograd and the compiler know."""

from typing import Any

import torch
from torch import Tensor

from levt.edits.kernels import HAVE_TRITON

LEAST = 2048
"""Classes from which on the kernels pay."""
BLOCK = 4096
"""Classes that a kernel looks at together."""


def fits(logits: Tensor) -> bool:
    """Whether the kernels can serve these logits."""
    return HAVE_TRITON and logits.is_cuda and logits.shape[1] >= LEAST and logits.stride(1) == 1


@torch.library.custom_op("levt::likelihood", mutates_args=())
def likelihood(logits: Tensor, labels: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """The loss of each row of ``[p k]``, and what its gradient needs."""
    from levt.imitation import vocabulary_kernels

    return vocabulary_kernels.likelihood(logits, labels, smoothing)


@likelihood.register_fake
def _(logits: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    rows = torch.empty(logits.shape[0], dtype=torch.float32, device=logits.device)
    return rows, torch.empty_like(rows)


@torch.library.custom_op("levt::likelihood_backward", mutates_args=())
def likelihood_backward(
    weights: Tensor, logits: Tensor, labels: Tensor, totals: Tensor, smoothing: float
) -> Tensor:
    """The gradient of the logits, where each row has its weight."""
    from levt.imitation import vocabulary_kernels

    return vocabulary_kernels.gradient(weights, logits, labels, totals, smoothing)


@likelihood_backward.register_fake
def _(weights: Tensor, logits: Tensor, *_: Any) -> Tensor:
    return torch.empty(logits.shape, dtype=logits.dtype, device=logits.device)


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    logits, labels, ctx.smoothing = inputs
    ctx.save_for_backward(logits, labels, output[1])


def _differentiate(ctx: Any, weights: Tensor, _: Tensor | None) -> tuple[Tensor | None, ...]:
    return likelihood_backward(weights.contiguous(), *ctx.saved_tensors, ctx.smoothing), None, None


likelihood.register_autograd(_differentiate, setup_context=_save)


@torch.library.custom_op("levt::sample", mutates_args=())
def sample(logits: Tensor, uniform: Tensor, first: int) -> Tensor:
    """A token of each row of ``[p v]``, none below ``first``; ``uniform`` are random numbers, ``[p blocks+1]``."""
    from levt.imitation import vocabulary_kernels

    return vocabulary_kernels.sample(logits, uniform, first)


@sample.register_fake
def _(logits: Tensor, *_: Any) -> Tensor:
    return torch.empty(logits.shape[0], dtype=torch.long, device=logits.device)
