"""Triton kernels of attention between short sequences. Launched only where there is a CUDA device.

One program serves one head of one row: the keys and values of the row fit into its registers, so the softmax
is whole, nothing is accumulated across programs, and the backward pass needs nothing but q, k, v and do.
Kernels made for long sequences spend most of their time on rows of 30 tokens with what is absent here.
"""

from typing import no_type_check

import torch
from torch import Tensor

from levt.edits.kernels import kernel, tl
from levt.policy import long_kernels

WHOLE = 128
"""Most keys of a row that one program holds at a time; rows with more are for ``long_kernels``."""


@kernel
@no_type_check
def weights(
    q,
    k,
    rows,
    columns,
    length,
    scale,
    CAUSAL: tl.constexpr,
):
    """softmax(q kᵀ · scale) over the columns that may be seen; zero where none may."""
    score = tl.dot(q, tl.trans(k)) * scale
    seen = columns[None, :] < length
    if CAUSAL:
        seen = seen & (columns[None, :] <= rows[:, None])
    score = tl.where(seen, score, -1.0e30)
    p = tl.where(seen, tl.exp(score - tl.max(score, 1)[:, None]), 0.0)
    return p / tl.maximum(tl.sum(p, 1), 1.0e-30)[:, None]


@kernel
@no_type_check
def forward_kernel(
    Q,
    K,
    V,
    O,  # noqa: E741
    q_offsets,
    k_offsets,
    q_t,
    q_h,
    k_t,
    k_h,
    v_t,
    v_h,
    o_t,
    o_h,
    scale,
    CAUSAL: tl.constexpr,
    LOW: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    E: tl.constexpr,
):
    """The output of one head of one row, if it has more than LOW and at most BLOCK_K keys."""
    row, head = tl.program_id(0), tl.program_id(1)
    q_begin, q_end = tl.load(q_offsets + row).to(tl.int64), tl.load(q_offsets + row + 1).to(tl.int64)
    k_begin, k_end = tl.load(k_offsets + row).to(tl.int64), tl.load(k_offsets + row + 1).to(tl.int64)
    k_length = (k_end - k_begin).to(tl.int32)
    if (k_length <= LOW) | (k_length > BLOCK_K):
        return
    e, columns = tl.arange(0, E), tl.arange(0, BLOCK_K)
    real = columns[:, None] < k_length
    k = tl.load(K + (k_begin + columns)[:, None] * k_t + head * k_h + e[None, :], mask=real, other=0.0)
    v = tl.load(V + (k_begin + columns)[:, None] * v_t + head * v_h + e[None, :], mask=real, other=0.0)
    for start in range(0, (q_end - q_begin).to(tl.int32), BLOCK_Q):
        rows = start + tl.arange(0, BLOCK_Q)
        at = q_begin + rows
        asked = (at < q_end)[:, None]
        q = tl.load(Q + at[:, None] * q_t + head * q_h + e[None, :], mask=asked, other=0.0)
        p = weights(q, k, rows, columns, k_length, scale, CAUSAL)
        o = tl.dot(p.to(v.dtype), v)
        tl.store(O + at[:, None] * o_t + head * o_h + e[None, :], o.to(O.dtype.element_ty), mask=asked)


@kernel
@no_type_check
def backward_kernel(
    Q,
    K,
    V,
    dO,
    dQ,
    dK,
    dV,
    q_offsets,
    k_offsets,
    q_t,
    q_h,
    k_t,
    k_h,
    v_t,
    v_h,
    o_t,
    o_h,
    d_t,
    d_h,
    scale,
    CAUSAL: tl.constexpr,
    LOW: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    E: tl.constexpr,
):
    """The gradients of one head of one row of this size; those of q, k and v have the same strides."""
    row, head = tl.program_id(0), tl.program_id(1)
    q_begin, q_end = tl.load(q_offsets + row).to(tl.int64), tl.load(q_offsets + row + 1).to(tl.int64)
    k_begin, k_end = tl.load(k_offsets + row).to(tl.int64), tl.load(k_offsets + row + 1).to(tl.int64)
    k_length = (k_end - k_begin).to(tl.int32)
    if (k_length <= LOW) | (k_length > BLOCK_K):
        return
    e, columns = tl.arange(0, E), tl.arange(0, BLOCK_K)
    real = columns[:, None] < k_length
    k = tl.load(K + (k_begin + columns)[:, None] * k_t + head * k_h + e[None, :], mask=real, other=0.0)
    v = tl.load(V + (k_begin + columns)[:, None] * v_t + head * v_h + e[None, :], mask=real, other=0.0)
    dk, dv = tl.zeros((BLOCK_K, E), tl.float32), tl.zeros((BLOCK_K, E), tl.float32)
    for start in range(0, (q_end - q_begin).to(tl.int32), BLOCK_Q):
        rows = start + tl.arange(0, BLOCK_Q)
        at = q_begin + rows
        asked = (at < q_end)[:, None]
        q = tl.load(Q + at[:, None] * q_t + head * q_h + e[None, :], mask=asked, other=0.0)
        do = tl.load(dO + at[:, None] * o_t + head * o_h + e[None, :], mask=asked, other=0.0)
        p = weights(q, k, rows, columns, k_length, scale, CAUSAL)
        dv += tl.dot(tl.trans(p.to(do.dtype)), do)
        dp = tl.dot(do, tl.trans(v))
        # Σ_j p_ij dp_ij is what other kernels keep the output for.
        ds = (p * (dp - tl.sum(p * dp, 1)[:, None]) * scale).to(q.dtype)
        dq = tl.dot(ds, k)
        dk += tl.dot(tl.trans(ds), q)
        tl.store(dQ + at[:, None] * d_t + head * d_h + e[None, :], dq.to(dQ.dtype.element_ty), mask=asked)
    at = (k_begin + columns)[:, None] * d_t + head * d_h + e[None, :]
    tl.store(dK + at, dk.to(dK.dtype.element_ty), mask=real)
    tl.store(dV + at, dv.to(dV.dtype.element_ty), mask=real)


def sizes(longest_k: int) -> list[tuple[int, int]]:
    """Sizes of rows, (more keys than, at most): each has its own launch, whose tile is no larger than needed.

    The longest row decides about the last size alone; most rows are much shorter.
    """
    longest_k = min(longest_k, WHOLE)
    tops = [32, 64, WHOLE]
    tops = [top for top in tops if top < longest_k] + [next(top for top in tops if top >= longest_k)]
    return list(zip([-1, *tops], tops, strict=False))


def long_grid(k: Tensor, longest_k: int) -> tuple[int, int, int]:
    """Programs of ``long_kernels``: places that may lie in a long row, heads, blocks of a row."""
    return -(-k.shape[0] // (WHOLE + 1)), k.shape[1], -(-longest_k // long_kernels.BLOCK)


def forward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_offsets: Tensor,
    k_offsets: Tensor,
    k_rows: Tensor,
    longest_k: int,
    causal: bool,
) -> Tensor:
    """Launch the forward kernels; places in no row are left unwritten."""
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    grid = (q_offsets.shape[0] - 1, q.shape[1])
    strides = [s for x in (q, k, v, out) for s in x.stride()[:2]]
    for low, top in sizes(longest_k):
        forward_kernel[grid](
            q, k, v, out, q_offsets, k_offsets, *strides, q.shape[2] ** -0.5, causal, low, 64 if top == 64 else 32,
            top, q.shape[2],
        )  # fmt: skip
    if longest_k > WHOLE:
        long_kernels.forward_kernel[long_grid(k, longest_k)](
            q, k, v, out, k_rows, q_offsets, k_offsets, grid[0], *strides, q.shape[2] ** -0.5, causal, WHOLE,
            long_kernels.BLOCK, q.shape[2], num_warps=4 if q.shape[2] <= 64 else 8,
        )  # fmt: skip
    return out


def backward(
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
    """Launch the backward kernels; places in no row are left unwritten."""
    dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
    grid = (q_offsets.shape[0] - 1, q.shape[1])
    strides = [s for x in (q, k, v, do, dq) for s in x.stride()[:2]]
    for low, top in sizes(longest_k):
        backward_kernel[grid](
            q, k, v, do, dq, dk, dv, q_offsets, k_offsets, *strides, q.shape[2] ** -0.5, causal, low,
            64 if top == 64 else 32, top, q.shape[2], num_warps=4 if top <= 64 else 8,
        )  # fmt: skip
    if longest_k > WHOLE:
        rest = (
            k_rows, q_offsets, k_offsets, grid[0], *strides, q.shape[2] ** -0.5, causal, WHOLE, long_kernels.BLOCK,
            q.shape[2],
        )  # fmt: skip
        log_sum, mean = (torch.empty(q.shape[:2], dtype=torch.float32, device=q.device) for _ in range(2))
        places, warps = long_grid(k, longest_k), 4 if q.shape[2] <= 64 else 8
        long_kernels.query_kernel[places](q, k, v, do, dq, log_sum, mean, *rest, num_warps=warps)
        long_kernels.key_kernel[places](q, k, v, do, dk, dv, log_sum, mean, *rest, num_warps=warps)
    return dq, dk, dv
