"""The steps of ``static_edits`` as Triton kernels, so that an iteration costs four launches beside the network.

One program serves one row (or one gap, or one place); same decisions, same ties: of equal scores the first wins.
"""

from typing import no_type_check

from jaxtyping import Float, Int
from torch import Tensor

from levt.edits.kernels import kernel, tl, triton
from levt.engine.static_edits import Controls, Frame
from levt.text.specials import BOS, EOS, PAD, PLH, SPECIALS


@kernel
@no_type_check
def _delete(
    logits,
    y,
    locked,
    glued,
    drop,
    drop_logp,
    after,
    min_edit,
    n,
    l_b,
    l_n,
    l_k,
    BOS_ID: tl.constexpr,
    EOS_ID: tl.constexpr,
    PAD_ID: tl.constexpr,
    WIDE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, WIDE)
    inside = place < n
    here = row * n + place
    token = tl.load(y + here, mask=inside, other=PAD_ID)
    lock = tl.load(locked + here, mask=inside, other=0).to(tl.int32) != 0
    glue = tl.load(glued + here, mask=inside, other=0)
    keep_logit = tl.load(logits + row * l_b + place * l_n, mask=inside, other=0.0).to(tl.float32)
    drop_logit = tl.load(logits + row * l_b + place * l_n + l_k, mask=inside, other=0.0).to(tl.float32)
    bold = tl.load(min_edit + row)
    needed = tl.log(1.0 + bold) - tl.log(1.0 - bold)
    odds = drop_logit - keep_logit
    real = token != PAD_ID
    inner = real & (token != BOS_ID) & (token != EOS_ID)
    gone = (odds > needed) & inner & (~lock)
    sure = tl.where(gone, odds, -odds)
    # log σ(x) = min(x, 0) − log(1 + e^{−|x|})
    logp = tl.minimum(sure, 0.0) - tl.log(1.0 + tl.exp(-tl.abs(sure)))
    kept = real & (~gone)
    to = tl.cumsum(kept.to(tl.int32), 0) - 1
    length = tl.sum(kept.to(tl.int32), 0)
    tl.debug_barrier()
    tl.store(drop + here, gone, mask=inside)
    tl.store(drop_logp + here, logp, mask=inside)
    there = row * n + to
    tl.store(y + there, token, mask=kept)
    tl.store(after + there, token, mask=kept)
    tl.store(locked + there, lock, mask=kept)
    tl.store(glued + there, glue, mask=kept)
    tail = inside & (place >= length)
    blank = tl.zeros([WIDE], tl.int64) + PAD_ID
    tl.store(y + here, blank, mask=tail)
    tl.store(after + here, blank, mask=tail)
    none = tl.zeros([WIDE], tl.int32) != 0
    tl.store(locked + here, none, mask=tail)
    tl.store(glued + here, none, mask=tail)


@kernel
@no_type_check
def _count(
    logits,
    y,
    glued,
    counts,
    counts_logp,
    penalty,
    min_edit,
    max_count,
    n,
    k,
    l_b,
    l_g,
    l_k,
    PAD_ID: tl.constexpr,
    WIDE: tl.constexpr,
):
    row, gap = tl.program_id(0).to(tl.int64), tl.program_id(1)
    lane = tl.arange(0, WIDE)
    inside = lane < k
    score = tl.load(logits + row * l_b + gap * l_g + lane * l_k, mask=inside, other=float("-inf")).to(
        tl.float32
    )
    penalised = tl.where(lane == 0, score - tl.load(penalty + row), score)
    best = tl.argmax(penalised, 0)
    zero = tl.sum(tl.where(lane == 0, penalised, 0.0), 0)
    others = tl.where(lane == 0, float("-inf"), penalised)
    top = tl.max(others, 0)
    odds = top + tl.log(tl.sum(tl.exp(others - top), 0)) - zero
    bold = tl.load(min_edit + row)
    needed = tl.log(1.0 + bold) - tl.log(1.0 - bold)
    is_open = tl.load(y + row * n + gap + 1) != PAD_ID
    is_open = is_open & (tl.load(glued + row * n + gap + 1).to(tl.int32) == 0)
    chosen = tl.where(is_open & ((odds > needed) | (bold == 0.0)), best, 0)
    chosen = tl.minimum(chosen, tl.load(max_count + row).to(tl.int32))
    peak = tl.max(score, 0)
    total = peak + tl.log(tl.sum(tl.exp(score - peak), 0))
    tl.store(counts + row * n + gap, chosen.to(tl.int64))
    tl.store(counts_logp + row * n + gap, tl.sum(tl.where(lane == chosen, score, 0.0), 0) - total)


@kernel
@no_type_check
def _insert(
    y,
    locked,
    glued,
    counts,
    lengths,
    limit,
    n,
    PAD_ID: tl.constexpr,
    PLH_ID: tl.constexpr,
    WIDE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, WIDE)
    inside = place < n
    here = row * n + place
    token = tl.load(y + here, mask=inside, other=PAD_ID)
    lock = tl.load(locked + here, mask=inside, other=0)
    glue = tl.load(glued + here, mask=inside, other=0)
    count = tl.load(counts + here, mask=place < n - 1, other=0).to(tl.int32)
    real = token != PAD_ID
    length = tl.sum(real.to(tl.int32), 0)
    # Gaps are served from the left, first within the limit of the request, then within the row.
    room = tl.maximum(tl.load(limit + row).to(tl.int32) - length, 0)
    served = tl.minimum(tl.cumsum(count, 0), room)
    wanted = tl.max(served, 0)
    served = tl.minimum(served, tl.maximum(n - length, 0))
    tl.store(lengths + row, (length + wanted).to(tl.int64))
    tl.debug_barrier()
    # What was opened before a place: the sum up to the gap on its left, kept in memory to be read one to the left.
    tl.store(counts + here, served.to(tl.int64), mask=inside)
    tl.debug_barrier()
    before = tl.load(counts + here - 1, mask=inside & (place > 0), other=0).to(tl.int32)
    tl.debug_barrier()
    tl.store(counts + here, (served - before).to(tl.int64), mask=inside)
    total = length + tl.max(served, 0)
    hole = tl.where(place < total, PLH_ID, PAD_ID).to(tl.int64)
    none = tl.zeros([WIDE], tl.int32) != 0
    tl.store(y + here, hole, mask=inside)
    tl.store(locked + here, none, mask=inside)
    tl.store(glued + here, none, mask=inside)
    tl.debug_barrier()
    there = row * n + place + before
    tl.store(y + there, token, mask=real)
    tl.store(locked + there, lock, mask=real)
    tl.store(glued + there, glue, mask=real)


@kernel
@no_type_check
def _choose(at, v, FIRST: tl.constexpr, PLH_ID: tl.constexpr, WIDE: tl.constexpr):
    """The best token that is no special symbol, and its log-probability."""
    lane = tl.arange(0, WIDE)
    best, which, peak, total = float("-inf"), 0, float("-inf"), 0.0
    for start in range(0, v, WIDE):
        column = start + lane
        score = tl.load(at + column, mask=column < v, other=float("-inf")).to(tl.float32)
        usable = tl.where(column >= FIRST, score, float("-inf"))
        top = tl.max(usable, 0)
        first = tl.argmax(usable, 0)
        which = tl.where(top > best, start + first, which)
        best = tl.maximum(top, best)
        # log π is over everything but <plh>, which was never a target.
        score = tl.where(column == PLH_ID, float("-inf"), score)
        new = tl.maximum(peak, tl.max(score, 0))
        total = total * tl.exp(peak - new) + tl.sum(tl.exp(score - new), 0)
        peak = new
    return tl.maximum(which, FIRST).to(tl.int64), best - (peak + tl.log(total))


@kernel
@no_type_check
def _fill(
    logits,
    y,
    fill_logp,
    n,
    v,
    l_b,
    l_n,
    FIRST: tl.constexpr,
    PLH_ID: tl.constexpr,
    WIDE: tl.constexpr,
):
    row, place = tl.program_id(0).to(tl.int64), tl.program_id(1)
    here = row * n + place
    if tl.load(y + here) != PLH_ID:
        tl.store(fill_logp + here, 0.0)
        return
    token, logp = _choose(logits + row * l_b + place * l_n, v, FIRST, PLH_ID, WIDE)
    tl.store(y + here, token)
    tl.store(fill_logp + here, logp)


@kernel
@no_type_check
def _fill_places(
    logits,
    places,
    y,
    fill_logp,
    v,
    l_p,
    FIRST: tl.constexpr,
    PLH_ID: tl.constexpr,
    WIDE: tl.constexpr,
):
    number = tl.program_id(0).to(tl.int64)
    here = tl.load(places + number)
    if here < 0:
        return
    token, logp = _choose(logits + number * l_p, v, FIRST, PLH_ID, WIDE)
    tl.store(y + here, token)
    tl.store(fill_logp + here, logp)


def delete_step(frame: Frame, logits: Float[Tensor, "b n 2"], controls: Controls) -> None:
    """As ``static_edits.delete_step``."""
    b, n = frame.y.shape
    _delete[(b,)](
        logits, frame.y, frame.locked, frame.glued, frame.drop, frame.drop_logp, frame.after, controls.min_edit,
        n, *logits.stride(), BOS_ID=BOS, EOS_ID=EOS, PAD_ID=PAD, WIDE=triton.next_power_of_2(n), num_warps=1,
    )  # fmt: skip


def insert_step(frame: Frame, logits: Float[Tensor, "b g k"], controls: Controls) -> None:
    """As ``static_edits.insert_step``."""
    (b, n), k = frame.y.shape, logits.shape[2]
    _count[(b, n - 1)](
        logits, frame.y, frame.glued, frame.counts, frame.counts_logp, controls.empty_gap_penalty,
        controls.min_edit, controls.max_count, n, k, *logits.stride(), PAD_ID=PAD,
        WIDE=triton.next_power_of_2(k), num_warps=1,
    )  # fmt: skip
    _insert[(b,)](
        frame.y, frame.locked, frame.glued, frame.counts, frame.length, controls.limit, n,
        PAD_ID=PAD, PLH_ID=PLH, WIDE=triton.next_power_of_2(n), num_warps=1,
    )  # fmt: skip


def fill_step(frame: Frame, logits: Float[Tensor, "b n v"]) -> None:
    """As ``static_edits.fill_step``; the logits of one place lie side by side."""
    b, n = frame.y.shape
    _fill[(b, n)](
        logits, frame.y, frame.fill_logp, n, logits.shape[2], logits.stride(0), logits.stride(1),
        FIRST=len(SPECIALS), PLH_ID=PLH, WIDE=4096, num_warps=8,
    )  # fmt: skip


def fill_places(frame: Frame, logits: Float[Tensor, "p v"], places: Int[Tensor, "p"]) -> None:
    """As ``static_edits.fill_places``."""
    frame.fill_logp.zero_()
    _fill_places[(places.shape[0],)](
        logits, places, frame.y, frame.fill_logp, logits.shape[1], logits.stride(0),
        FIRST=len(SPECIALS), PLH_ID=PLH, WIDE=4096, num_warps=8,
    )  # fmt: skip
