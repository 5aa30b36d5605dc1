"""The oracle on CUDA as one Triton kernel, one program per pair; compiled on first use.

The kernel reads rows by offset and length, so padded and packed batches go through the same code. It gives
the alignment and, for padded batches, the edits as well: a launch costs more than the work it starts.
"""

from typing import no_type_check

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from levt.edits.kernels import kernel, tl, triton
from levt.text.specials import PAD


@kernel
@no_type_check
def _larger(a, b):
    return tl.maximum(a, b)


@kernel
@no_type_check
def _align(
    y,
    y_start,
    y_length,
    target,
    t_start,
    t_length,
    match,
    drop,
    counts,
    table,
    n_wide,
    t_wide,
    rows,
    PADDED: tl.constexpr,
    PAD_ID: tl.constexpr,
    WIDE: tl.constexpr,
    LANES: tl.constexpr,
):
    pair = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, LANES)
    if PADDED:
        # Rows of equal width: lengths are counted here, and every place of the results is written.
        place = tl.arange(0, WIDE)
        here = pair * n_wide + place
        n = tl.sum((tl.load(y + here, mask=place < n_wide, other=PAD_ID) != PAD_ID).to(tl.int32), 0)
        wanted = tl.load(target + pair * t_wide + lane, mask=lane < t_wide, other=PAD_ID)
        t = tl.sum((wanted != PAD_ID).to(tl.int32), 0)
        wanted = tl.where(lane < t, wanted, -1)
        tl.store(match + here, tl.full([WIDE], -1, tl.int64), mask=(place >= n) & (place < n_wide))
        tl.store(drop + here, tl.zeros([WIDE], tl.int1), mask=(place >= n) & (place < n_wide))
        gaps = pair * (n_wide - 1) + place
        tl.store(counts + gaps, tl.zeros([WIDE], tl.int64), mask=place < n_wide - 1)
        y += pair * n_wide
        match += pair * n_wide
        drop += pair * n_wide
        counts += pair * (n_wide - 1)
    else:
        n, t = tl.load(y_length + pair).to(tl.int32), tl.load(t_length + pair).to(tl.int32)
        y += tl.load(y_start + pair)
        match += tl.load(y_start + pair)
        wanted = tl.load(target + tl.load(t_start + pair) + lane, mask=lane < t, other=-1)

    # Row i of the table holds L[i][1…t]; one spare entry in front of each row stands for L[i][0] = 0.
    table += pair * rows * (LANES + 1) + 1
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

    # Walk back: `k` pairs are still to be kept, within the first `j` target tokens.
    k = tl.max(current, 0)
    j = t
    later = t
    for back in range(n):
        i = n - 1 - back
        row = tl.load(table + lane).to(tl.int32)
        table -= LANES + 1
        above = tl.load(table + lane).to(tl.int32)
        # L[i-1][j] = k  ⟺  row i-1 reaches k within the first j columns.
        first_above = tl.sum((above < k).to(tl.int32), 0)
        first = tl.sum((row < k).to(tl.int32), 0)
        free = (k == 0) | (first_above < j)
        tl.store(match + i, tl.where(free, -1, first))
        if PADDED:
            tl.store(drop + i, free)
            # The gap behind the k-th kept token: what lies between its partner and that of the next one.
            tl.store(counts + k - 1, later - first - 1, mask=(free == 0) & (k <= n_wide - 1) & (later < t))
            later = tl.where(free, later, first)
        j = tl.where(free, j, first)
        k = tl.where(free, k, k - 1)


def _launch(pairs: int, longest: int, longest_target: int, tensors: tuple[Tensor, ...], padded: bool) -> None:
    lanes = max(32, triton.next_power_of_2(longest_target))
    table = torch.empty(pairs * (longest + 1) * (lanes + 1), dtype=torch.int16, device=tensors[0].device)
    _align[(pairs,)](
        *tensors, table, longest, longest_target, longest + 1,
        PADDED=padded, PAD_ID=PAD, WIDE=max(32, triton.next_power_of_2(longest)), LANES=lanes,
        num_warps=1 if lanes <= 256 else 4,
    )  # fmt: skip


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
    if pairs and longest_target:
        tensors = (y, y_start, y_length, target, t_start, t_length, match, match, match)
        _launch(pairs, longest, longest_target, tensors, padded=False)
    return match


def edits_triton(
    y: Int[Tensor, "b n"], target: Int[Tensor, "b t"]
) -> tuple[Int[Tensor, "b n"], Bool[Tensor, "b n"], Int[Tensor, "b g"]]:
    """Alignment, drop* and counts* of a padded batch with boundaries, in one launch."""
    (b, n), t = y.shape, target.shape[1]
    y, target = y.contiguous(), target.contiguous()
    match, drop = torch.empty_like(y), torch.empty_like(y, dtype=torch.bool)
    counts = y.new_empty(b, n - 1)
    if y.numel() and target.numel():
        # A kernel runs on the current device, wherever its tensors are.
        with torch.cuda.device_of(y):  # type: ignore[no-untyped-call]
            _launch(b, n, t, (y, y, y, target, y, y, match, drop, counts), padded=True)
        return match, drop, counts
    return match.fill_(-1), drop.copy_(y.ne(PAD)), counts.zero_()


def align_triton(y: Int[Tensor, "b n"], target: Int[Tensor, "b t"]) -> Int[Tensor, "b n"]:
    """``align_reference`` (leftmost) for a padded batch on CUDA."""
    return edits_triton(y, target)[0]
