"""The pieces of ``step_ops`` as Triton kernels: one launch each, two for the choice of extensions.

At one token a step everything is launches; what a launch computes hardly counts. Of equal scores the first wins.
"""

from typing import no_type_check

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from levt.edits.kernels import kernel, tl, triton
from levt.engine.step_ops import Hypotheses
from levt.text.specials import BOS, EOS, PAD, PLH, UNK

CHUNK = 1024
"""Tokens of the vocabulary that one program looks at."""


@kernel
@no_type_check
def _attend_step(
    qkv,
    kv,
    origin,
    position,
    out,
    w,
    scale,
    kv_2,
    kv_r,
    kv_h,
    kv_w,
    H: tl.constexpr,
    E: tl.constexpr,
    EP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    lane = tl.arange(0, EP)
    inside = lane < E
    here = tl.load(position)
    at = qkv + row * 3 * H * E + head * E + lane
    q = tl.load(at, mask=inside, other=0.0).to(tl.float32) * scale
    k = tl.load(at + H * E, mask=inside, other=0.0)
    v = tl.load(at + 2 * H * E, mask=inside, other=0.0)
    mine = kv + row * kv_r + head * kv_h + here * kv_w + lane
    tl.store(mine, k, mask=inside)
    tl.store(mine + kv_2, v, mask=inside)
    # The new token itself, from registers; then what came before, block by block.
    peak = tl.sum(q * k.to(tl.float32), 0)
    total = tl.full((), 1.0, tl.float32)
    seen = v.to(tl.float32)
    column = tl.arange(0, BLOCK)
    for start in range(0, here, BLOCK):
        place = start + column
        before = place < here
        rows = tl.load(origin + row * w + place, mask=before, other=0)
        before_at = kv + rows[:, None] * kv_r + head * kv_h + place[:, None] * kv_w + lane[None, :]
        both = before[:, None] & inside[None, :]
        keys = tl.load(before_at, mask=both, other=0.0).to(tl.float32)
        values = tl.load(before_at + kv_2, mask=both, other=0.0).to(tl.float32)
        score = tl.where(before, tl.sum(q[None, :] * keys, 1), float("-inf"))
        new = tl.maximum(peak, tl.max(score, 0))
        weight = tl.exp(score - new)
        fade = tl.exp(peak - new)
        total = total * fade + tl.sum(weight, 0)
        seen = seen * fade + tl.sum(weight[:, None] * values, 0)
        peak = new
    tl.store(out + row * H * E + head * E + lane, (seen / total).to(out.dtype.element_ty), mask=inside)


@kernel
@no_type_check
def _attend_memory(
    q,
    kv,
    real,
    out,
    s,
    copies,
    scale,
    q_r,
    kv_b,
    kv_s,
    kv_2,
    kv_h,
    H: tl.constexpr,
    E: tl.constexpr,
    EP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    source = row // copies
    lane = tl.arange(0, EP)
    inside = lane < E
    asked = tl.load(q + row * q_r + head * E + lane, mask=inside, other=0.0).to(tl.float32) * scale
    column = tl.arange(0, BLOCK)
    peak, total = -1e30, 0.0
    seen = tl.zeros([EP], tl.float32)
    for start in range(0, s, BLOCK):
        place = start + column
        there = place < s
        shown = tl.load(real + source * s + place, mask=there, other=0).to(tl.int32) != 0
        at = kv + source * kv_b + place[:, None] * kv_s + head * kv_h + lane[None, :]
        both = there[:, None] & inside[None, :]
        keys = tl.load(at, mask=both, other=0.0).to(tl.float32)
        values = tl.load(at + kv_2, mask=both, other=0.0).to(tl.float32)
        score = tl.where(shown, tl.sum(asked[None, :] * keys, 1), float("-inf"))
        new = tl.maximum(peak, tl.max(score, 0))
        weight = tl.exp(score - new)
        fade = tl.exp(peak - new)
        total = total * fade + tl.sum(weight, 0)
        seen = seen * fade + tl.sum(weight[:, None] * values, 0)
        peak = new
    # A source of nothing but padding gives nothing.
    seen = seen / tl.where(total == 0.0, 1.0, total)
    tl.store(out + row * H * E + head * E + lane, seen.to(out.dtype.element_ty), mask=inside)


@kernel
@no_type_check
def _add_norm(x, inner, weight, bias, total, normed, d, eps, WIDE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, WIDE)
    inside = lane < d
    one = tl.load(x + row * d + lane, mask=inside, other=0.0)
    other = tl.load(inner + row * d + lane, mask=inside, other=0.0)
    # As torch adds: rounded to the precision of the stream before it is normalised.
    both = (one.to(tl.float32) + other.to(tl.float32)).to(x.dtype.element_ty)
    tl.store(total + row * d + lane, both, mask=inside)
    both = both.to(tl.float32)
    mean = tl.sum(both, 0) / d
    apart = tl.where(inside, both - mean, 0.0)
    rate = tl.rsqrt(tl.sum(apart * apart, 0) / d + eps)
    w = tl.load(weight + lane, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(bias + lane, mask=inside, other=0.0).to(tl.float32)
    tl.store(normed + row * d + lane, (apart * rate * w + b).to(x.dtype.element_ty), mask=inside)


@kernel
@no_type_check
def _best_of_chunk(
    logits,
    position,
    limit,
    peaks,
    sums,
    tops,
    columns,
    v,
    k,
    chunks,
    PAD_ID: tl.constexpr,
    BOS_ID: tl.constexpr,
    EOS_ID: tl.constexpr,
    UNK_ID: tl.constexpr,
    PLH_ID: tl.constexpr,
    C: tl.constexpr,
    WIDE: tl.constexpr,
):
    row, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    lane = tl.arange(0, WIDE)
    column = chunk * WIDE + lane
    score = tl.load(logits + row * v + column, mask=column < v, other=float("-inf")).to(tl.float32)
    classes = tl.where(column == PLH_ID, float("-inf"), score)
    peak = tl.max(classes, 0)
    # A chunk without any class would give a number that is none.
    shift = tl.where(peak == float("-inf"), 0.0, peak)
    tl.store(peaks + row * chunks + chunk, shift)
    tl.store(sums + row * chunks + chunk, tl.sum(tl.exp(classes - shift), 0))
    last = tl.load(position) >= tl.load(limit + row // k) - 2
    never = (column == PAD_ID) | (column == BOS_ID) | (column == UNK_ID) | (column == PLH_ID)
    never = never | (last & (column != EOS_ID))
    usable = tl.where(never | (score != score), float("-inf"), score)
    here = (row * chunks + chunk) * C
    for i in tl.static_range(C):
        best = tl.argmax(usable, 0)
        top = tl.max(usable, 0)
        tl.store(tops + here + i, top)
        tl.store(columns + here + i, (chunk * WIDE + best).to(tl.int64))
        usable = tl.where(lane == best, float("-inf"), usable)


@kernel
@no_type_check
def _advance(
    peaks,
    sums,
    tops,
    columns,
    tokens,
    so_far,
    origin,
    position,
    values,
    places,
    v,
    w,
    b,
    chunks,
    EOS_ID: tl.constexpr,
    K: tl.constexpr,
    KP: tl.constexpr,
    C: tl.constexpr,
    CHUNKS: tl.constexpr,
    FOUND: tl.constexpr,
    WIDE: tl.constexpr,
):
    source = tl.program_id(0).to(tl.int64)
    here = tl.load(position)
    # log Z of each hypothesis, from the parts of its chunks.
    slot = tl.arange(0, KP)
    part = tl.arange(0, CHUNKS)
    known = (slot[:, None] < K) & (part[None, :] < chunks)
    at = (source * K + slot[:, None]) * chunks + part[None, :]
    peak = tl.load(peaks + at, mask=known, other=float("-inf"))
    total = tl.load(sums + at, mask=known, other=0.0)
    top = tl.max(peak, 1)
    top = tl.where(slot < K, top, 0.0)
    mass = tl.sum(tl.where(known, total * tl.exp(peak - top[:, None]), 0.0), 1)
    mass = tl.where(slot < K, mass, 1.0)
    base = tl.load(so_far + source * K + slot, mask=slot < K, other=0.0) - top - tl.log(mass)
    # All candidates of all hypotheses, in the order of their places.
    number = tl.arange(0, FOUND)
    there = number < K * chunks * C
    owner = number // (chunks * C)
    score = tl.load(tops + source * K * chunks * C + number, mask=there, other=float("-inf"))
    column = tl.load(columns + source * K * chunks * C + number, mask=there, other=0)
    offset = tl.sum(tl.where(owner[:, None] == slot[None, :], base[None, :], 0.0), 1)
    score = score + offset
    score = tl.where(there & (score == score) & (score < float("inf")), score, float("-inf"))
    place = owner.to(tl.int64) * v + column
    # Those that do not end go on, in order; the others fill up what is left, without weight.
    go = 0
    stay = 0
    chosen = tl.zeros([KP], tl.int64)
    weight = tl.zeros([KP], tl.float32) + float("-inf")
    spare = tl.zeros([KP], tl.int64)
    for i in tl.static_range(C):
        best = tl.argmax(score, 0)
        value = tl.max(score, 0)
        which = tl.sum(tl.where(number == best, place, 0), 0)
        tl.store(values + (here * b + source) * C + i, value)
        tl.store(places + (here * b + source) * C + i, which)
        ends = (which % v == EOS_ID) | (value == float("-inf"))
        mine = (slot == go) & (ends == 0)
        chosen = tl.where(mine, which, chosen)
        weight = tl.where(mine, value, weight)
        spare = tl.where((slot == stay) & ends, which, spare)
        go += tl.where(ends, 0, 1)
        stay += tl.where(ends, 1, 0)
        # Removed for good, unlike one that is merely impossible.
        score = tl.where(number == best, float("-inf"), score)
    wanting = slot >= go
    from_spare = tl.sum(tl.where((slot[:, None] - go) == slot[None, :], spare[None, :], 0), 1)
    chosen = tl.where(wanting, from_spare, chosen)
    held = slot < K
    mine = source * K + slot
    parent = source * K + chosen // v
    wide = tl.arange(0, WIDE)
    inside = held[:, None] & (wide[None, :] < w)
    old = tl.load(origin + parent[:, None] * w + wide[None, :], mask=inside, other=0)
    tl.debug_barrier()
    tl.store(tokens + mine, chosen % v, mask=held)
    tl.store(so_far + mine, weight, mask=held)
    new = tl.where(wide[None, :] <= here, old, mine[:, None])
    tl.store(origin + mine[:, None] * w + wide[None, :], new, mask=inside)


def attend_step(
    qkv: Float[Tensor, "r p"],
    kv: Float[Tensor, "2 r h w e"],
    origin: Int[Tensor, "r w"],
    position: Int[Tensor, "1"],
) -> Float[Tensor, "r d"]:
    """As ``step_ops.attend_step``."""
    _, r, h, w, e = kv.shape
    out = torch.empty(r, h * e, dtype=qkv.dtype, device=qkv.device)
    _attend_step[(r, h)](
        qkv, kv, origin, position, out, w, e**-0.5, *kv.stride()[:4],
        H=h, E=e, EP=triton.next_power_of_2(e), BLOCK=32, num_warps=2,
    )  # fmt: skip
    return out


def attend_memory(
    q: Float[Tensor, "r d"], kv: Float[Tensor, "b s 2 h e"], real: Bool[Tensor, "b s"]
) -> Float[Tensor, "r d"]:
    """As ``step_ops.attend_memory``."""
    b, s, _, h, e = kv.shape
    out = q.new_empty(q.shape)
    _attend_memory[(q.shape[0], h)](
        q, kv, real, out, s, q.shape[0] // b, e**-0.5, q.stride(0), *kv.stride()[:4],
        H=h, E=e, EP=triton.next_power_of_2(e), BLOCK=32, num_warps=2,
    )  # fmt: skip
    return out


def add_norm(
    x: Float[Tensor, "r d"],
    inner: Float[Tensor, "r d"],
    weight: Float[Tensor, "d"],
    bias: Float[Tensor, "d"],
    eps: float,
) -> tuple[Float[Tensor, "r d"], Float[Tensor, "r d"]]:
    """As ``step_ops.add_norm``."""
    r, d = x.shape
    total, normed = torch.empty_like(x), torch.empty_like(x)
    _add_norm[(r,)](
        x, inner, weight, bias, total, normed, d, eps, WIDE=triton.next_power_of_2(d), num_warps=4
    )
    return total, normed


def advance(state: Hypotheses, logits: Float[Tensor, "r v"]) -> None:
    """As ``step_ops.advance``."""
    (b, k), (r, v), w = state.so_far.shape, logits.shape, state.origin.shape[1]
    c, chunks = state.values.shape[2], triton.cdiv(v, CHUNK)
    parts = torch.empty(2, r, chunks, device=logits.device)
    tops = torch.empty(r, chunks, c, device=logits.device)
    columns = torch.empty(r, chunks, c, dtype=torch.long, device=logits.device)
    _best_of_chunk[(r, chunks)](
        logits, state.position, state.limit, parts[0], parts[1], tops, columns, v, k, chunks,
        PAD_ID=PAD, BOS_ID=BOS, EOS_ID=EOS, UNK_ID=UNK, PLH_ID=PLH, C=c, WIDE=CHUNK, num_warps=4,
    )  # fmt: skip
    _advance[(b,)](
        parts[0], parts[1], tops, columns, state.tokens, state.so_far, state.origin, state.position,
        state.values, state.places, v, w, b, chunks, EOS_ID=EOS, K=k, KP=triton.next_power_of_2(max(c, k)), C=c,
        CHUNKS=triton.next_power_of_2(chunks), FOUND=triton.next_power_of_2(k * chunks * c),
        WIDE=triton.next_power_of_2(w), num_warps=4,
    )  # fmt: skip
    state.position.add_(1)
