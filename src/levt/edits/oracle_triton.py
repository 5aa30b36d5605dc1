"""The oracle's alignment on CUDA as one Triton kernel, one program per pair; compiled on first use.

The kernel reads rows by offset and length, so padded and packed batches go through the same code.
"""

from typing import no_type_check

import torch
import triton
import triton.language as tl
from jaxtyping import Int
from torch import Tensor

from levt.text.specials import PAD


@triton.jit
@no_type_check
def _larger(a, b):
    return tl.maximum(a, b)


@triton.jit
@no_type_check
def _align(y, y_start, y_length, target, t_start, t_length, match, table, rows, LANES: tl.constexpr):
    pair = tl.program_id(0).to(tl.int64)
    n, t = tl.load(y_length + pair), tl.load(t_length + pair)
    y += tl.load(y_start + pair)
    match += tl.load(y_start + pair)
    target += tl.load(t_start + pair)
    # Row i of the table holds L[i][1…t]; one spare entry in front of each row stands for L[i][0] = 0.
    table += pair * rows * (LANES + 1) + 1
    lane = tl.arange(0, LANES)
    inside = lane < t
    wanted = tl.load(target + lane, mask=inside, other=-1)

    current = tl.zeros([LANES], tl.int32)
    tl.store(table - 1 + lane, tl.zeros([LANES], tl.int16))
    tl.store(table + LANES - 1, tl.zeros([], tl.int16))
    tl.debug_barrier()
    for i in range(n):
        before = tl.load(table + lane - 1).to(tl.int32)
        ahead = tl.where(tl.load(y + i) == wanted, before + 1, current)
        current = tl.associative_scan(ahead, 0, _larger)
        table += LANES + 1
        tl.store(table + lane, current.to(tl.int16))
        tl.store(table - 1, tl.zeros([], tl.int16))
        tl.debug_barrier()

    k = tl.max(current, 0)
    j = t
    for back in range(n):
        here = tl.load(table + lane).to(tl.int32)
        table -= LANES + 1
        above = tl.load(table + lane).to(tl.int32)
        # L[i-1][j] = k  ⟺  row i-1 reaches k within the first j columns.
        first_above = tl.sum((above < k).to(tl.int32), 0)
        first = tl.sum((here < k).to(tl.int32), 0)
        free = (k == 0) | (first_above < j)
        tl.store(match + n - 1 - back, tl.where(free, -1, first))
        j = tl.where(free, j, first)
        k = tl.where(free, k, k - 1)


def align_rows(
    y: Int[Tensor, "y_total"],
    y_start: Int[Tensor, "b"],
    y_length: Int[Tensor, "b"],
    target: Int[Tensor, "t_total"],
    t_start: Int[Tensor, "b"],
    t_length: Int[Tensor, "b"],
    *,
    longest: int,
    longest_target: int,
) -> Int[Tensor, "y_total"]:
    """Align row i of ``y`` with row i of ``target``; positions outside every row get -1."""
    match = torch.full_like(y, -1)
    pairs = y_start.shape[0]
    if not pairs or not longest_target:
        return match
    lanes = max(32, triton.next_power_of_2(longest_target))
    table = torch.empty(pairs * (longest + 1) * (lanes + 1), dtype=torch.int16, device=y.device)
    _align[(pairs,)](
        y, y_start, y_length, target, t_start, t_length, match, table, longest + 1, LANES=lanes,
        num_warps=1 if lanes <= 256 else 4,
    )  # fmt: skip
    return match


def align_triton(y: Int[Tensor, "b n"], target: Int[Tensor, "b t"]) -> Int[Tensor, "b n"]:
    """``align_reference`` (leftmost) for a padded batch on CUDA."""
    (b, n), t = y.shape, target.shape[1]
    row = torch.arange(b, device=y.device)
    return align_rows(
        y.reshape(-1), row * n, y.ne(PAD).sum(1), target.reshape(-1), row * t, target.ne(PAD).sum(1),
        longest=n, longest_target=t,
    ).view(b, n)  # fmt: skip
