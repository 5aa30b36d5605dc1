"""Attention between packed sequences, most of them short, as an operator that autograd and the compiler know."""

from typing import Any

import torch
from torch import Tensor

from levt.edits.kernels import HAVE_TRITON

LONGEST = 70
"""Where rows have more keys than this on average, the general kernel is better: it is 8 % behind at 60, ahead at 80."""


def fits(q: Tensor, k: Tensor, rows: int) -> bool:
    """Whether the kernels can serve these queries and keys, and are the better ones."""
    e, half = q.shape[-1], q.dtype in (torch.bfloat16, torch.float16)
    return HAVE_TRITON and q.is_cuda and half and k.shape[0] <= LONGEST * rows and e in (16, 32, 64, 128)


@torch.library.custom_op("levt::short_attention", mutates_args=())
def short_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_offsets: Tensor,
    k_offsets: Tensor,
    k_rows: Tensor,
    longest_k: int,
    causal: bool,
) -> Tensor:
    """Row by row ``softmax(q kᵀ / √e) v`` on ``[t h e]``, keys in ``k_rows``; places in no row are left unwritten."""
    from levt.policy import short_kernels

    q, k, v = (x if x.stride(-1) == 1 else x.contiguous() for x in (q, k, v))
    return short_kernels.forward(q, k, v, q_offsets, k_offsets, k_rows, longest_k, causal)


@short_attention.register_fake
def _(q: Tensor, *_: Any) -> Tensor:
    return torch.empty(q.shape, dtype=q.dtype, device=q.device)


@torch.library.custom_op("levt::short_attention_backward", mutates_args=())
def short_attention_backward(
    do: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_offsets: Tensor,
    k_offsets: Tensor,
    k_rows: Tensor,
    longest_k: int,
    causal: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of q, k and v; places in no row are left unwritten."""
    from levt.policy import short_kernels

    do, q, k, v = (x if x.stride(-1) == 1 else x.contiguous() for x in (do, q, k, v))
    return short_kernels.backward(do, q, k, v, q_offsets, k_offsets, k_rows, longest_k, causal)


@short_attention_backward.register_fake
def _(do: Tensor, q: Tensor, k: Tensor, v: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
    dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
    return dq, dk, dv


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:6])
    ctx.rest = inputs[6:]


def _differentiate(ctx: Any, do: Tensor) -> tuple[Tensor | None, ...]:
    gradients = short_attention_backward(do, *ctx.saved_tensors, *ctx.rest)
    return (*gradients, None, None, None, None, None)


short_attention.register_autograd(_differentiate, setup_context=_save)
