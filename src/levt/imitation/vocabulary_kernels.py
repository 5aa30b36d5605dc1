"""Triton kernels over rows of a large vocabulary: each reads a row once, block by block. Know no network."""

from typing import no_type_check

import torch
from jaxtyping import Float, Int
from torch import Tensor

from levt.edits.kernels import kernel, tl, triton
from levt.imitation.vocabulary_ops import BLOCK

LOW = -1e30
"""Below every score, and still a number."""


@kernel
@no_type_check
def _likelihood(logits, labels, losses, totals, k, stride, smoothing, LOW: tl.constexpr, WIDE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(labels + row)
    if label < 0:
        tl.store(losses + row, 0.0)
        tl.store(totals + row, 0.0)
        return
    lane = tl.arange(0, WIDE)
    peak = tl.full((), LOW, tl.float32)
    mass = tl.zeros([WIDE], tl.float32)
    plain = tl.zeros([WIDE], tl.float32)
    # Every lane keeps sums of its own, which meet once, at the end.
    for start in range(0, k, WIDE):
        column = start + lane
        inside = column < k
        score = tl.load(logits + row * stride + column, mask=inside, other=0.0).to(tl.float32)
        plain += score
        new = tl.maximum(peak, tl.max(tl.where(inside, score, LOW), 0))
        mass = mass * tl.exp(peak - new) + tl.where(inside, tl.exp(score - new), 0.0)
        peak = new
    total = peak + tl.log(tl.sum(mass, 0))
    chosen = tl.load(logits + row * stride + label).to(tl.float32)
    # −(1 − ε) log π(label) − ε/K Σ log π
    loss = total - (1.0 - smoothing) * chosen - smoothing * (tl.sum(plain, 0) / k)
    tl.store(losses + row, loss)
    tl.store(totals + row, total)


@kernel
@no_type_check
def _gradient(logits, labels, totals, weights, out, k, stride, smoothing, WIDE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    inside = column < k
    label = tl.load(labels + row)
    if label < 0:
        tl.store(out + row * k + column, tl.zeros([WIDE], out.dtype.element_ty), mask=inside)
        return
    score = tl.load(logits + row * stride + column, mask=inside, other=0.0).to(tl.float32)
    asked = smoothing / k + tl.where(column == label, 1.0 - smoothing, 0.0)
    slope = (tl.exp(score - tl.load(totals + row)) - asked) * tl.load(weights + row)
    tl.store(out + row * k + column, slope.to(out.dtype.element_ty), mask=inside)


@kernel
@no_type_check
def _sample(
    logits, uniform, tokens, k, stride, parts, FIRST: tl.constexpr, LOW: tl.constexpr, WIDE: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, WIDE)
    peak = tl.full((), LOW, tl.float32)
    total = tl.full((), 0.0, tl.float32)
    chosen = tl.full((), 0, tl.int32)
    # A block is taken with its share of what has been seen so far: in the end each with its share of everything.
    for part in range(0, parts):
        column = part * WIDE + lane
        usable = (column >= FIRST) & (column < k)
        score = tl.load(logits + row * stride + column, mask=usable, other=float("-inf")).to(tl.float32)
        new = tl.maximum(peak, tl.max(score, 0))
        mass = tl.sum(tl.exp(score - new), 0)
        total = total * tl.exp(peak - new) + mass
        chosen = tl.where(tl.load(uniform + row * (parts + 1) + part) * total < mass, part, chosen)
        peak = new
    # Within the block: where the sum of the shares passes a random height.
    column = chosen * WIDE + lane
    usable = (column >= FIRST) & (column < k)
    score = tl.load(logits + row * stride + column, mask=usable, other=float("-inf")).to(tl.float32)
    share = tl.exp(score - tl.max(score, 0))
    height = tl.load(uniform + row * (parts + 1) + parts) * tl.sum(share, 0)
    token = chosen * WIDE + tl.sum((tl.cumsum(share, 0) <= height).to(tl.int32), 0)
    tl.store(tokens + row, tl.minimum(tl.maximum(token, FIRST), k - 1).to(tl.int64))


def likelihood(
    logits: Float[Tensor, "p k"], labels: Int[Tensor, "p"], smoothing: float
) -> tuple[Float[Tensor, "p"], Float[Tensor, "p"]]:
    """−log π(label) with label smoothing for each row, and log Σ exp; both 0 where the label is below 0."""
    p, k = logits.shape
    losses, totals = (torch.empty(p, dtype=torch.float32, device=logits.device) for _ in range(2))
    _likelihood[(p,)](
        logits, labels, losses, totals, k, logits.stride(0), smoothing, LOW=LOW, WIDE=BLOCK, num_warps=8
    )
    return losses, totals


def gradient(
    weights: Float[Tensor, "p"],
    logits: Float[Tensor, "p k"],
    labels: Int[Tensor, "p"],
    totals: Float[Tensor, "p"],
    smoothing: float,
) -> Float[Tensor, "p k"]:
    """The gradient of the sum of the losses, each with its weight."""
    p, k = logits.shape
    out = torch.empty(p, k, dtype=logits.dtype, device=logits.device)
    _gradient[(p, triton.cdiv(k, BLOCK))](
        logits, labels, totals, weights, out, k, logits.stride(0), smoothing, WIDE=BLOCK, num_warps=8
    )
    return out


def sample(logits: Float[Tensor, "p v"], uniform: Float[Tensor, "p _"], first: int) -> Int[Tensor, "p"]:
    """A token of each row, none below ``first``; ``uniform`` are random numbers, one a block and one more."""
    p, v = logits.shape
    tokens = torch.empty(p, dtype=torch.long, device=logits.device)
    _sample[(p,)](
        logits, uniform, tokens, v, logits.stride(0), triton.cdiv(v, BLOCK),
        FIRST=first, LOW=LOW, WIDE=BLOCK, num_warps=8,
    )  # fmt: skip
    return tokens
