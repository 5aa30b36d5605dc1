"""Triton kernels of attention for the few long rows among many short ones. Launched only where there is a CUDA device.

A row is parted among programs, each with one head and a block of queries, which takes the keys a block at a time: the
softmax is gathered on the way (a running maximum m and total), and the backward pass has two kernels, one for each
side. A kernel made for batches of long rows would have short rows pay for the longest one.

Long rows are found by their places: of every LOW + 1 neighbouring places one is looked at, so each row with more than
LOW keys is met, and there are few programs that have nothing to do.
"""

from typing import no_type_check

from levt.edits.kernels import kernel, tl

BLOCK = 64
"""Queries and keys of a tile."""


@kernel
@no_type_check
def scores(
    q,
    k,
    rows,
    columns,
    length,
    scale,
    CAUSAL: tl.constexpr,
):
    """Scores q kᵀ · scale, very negative where nothing may be seen."""
    seen = columns[None, :] < length
    if CAUSAL:
        seen = seen & (columns[None, :] <= rows[:, None])
    return tl.where(seen, tl.dot(q, tl.trans(k)) * scale, -1.0e30)


@kernel
@no_type_check
def tile(
    X,
    begin,
    places,
    length,
    x_t,
    x_h,
    head,
    e,
):
    """Some places of one head of a row; zero behind its end."""
    at = X + (begin + places)[:, None] * x_t + head * x_h + e[None, :]
    return tl.load(at, mask=(places < length)[:, None], other=0.0)


@kernel
@no_type_check
def long_row(
    k_rows,
    q_offsets,
    k_offsets,
    count,
    LOW: tl.constexpr,
):
    """The row that this program serves: where its queries and keys begin, and how many there are.

    There are none where it has no more than LOW keys, or where an earlier program serves it.
    """
    place = tl.program_id(0).to(tl.int64) * (LOW + 1)
    row = tl.load(k_rows + place)
    real = row < count
    q_begin, k_begin = tl.load(q_offsets + row).to(tl.int64), tl.load(k_offsets + row).to(tl.int64)
    q_length = (tl.load(q_offsets + row + 1, mask=real, other=0) - q_begin).to(tl.int32)
    k_length = (tl.load(k_offsets + row + 1, mask=real, other=0) - k_begin).to(tl.int32)
    served = (k_length > LOW) & (place <= k_begin + LOW)
    return q_begin, k_begin, tl.where(served, q_length, 0), tl.where(served, k_length, 0)


@kernel
@no_type_check
def forward_kernel(
    Q,
    K,
    V,
    O,  # noqa: E741
    k_rows,
    q_offsets,
    k_offsets,
    count,
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
    BLOCK: tl.constexpr,
    E: tl.constexpr,
):
    """The output of one head of some queries of one row, if it has more than LOW keys."""
    head, e = tl.program_id(1), tl.arange(0, E)
    q_begin, k_begin, q_length, k_length = long_row(k_rows, q_offsets, k_offsets, count, LOW)
    for start in range(tl.program_id(2) * BLOCK, q_length, tl.num_programs(2) * BLOCK):
        rows = start + tl.arange(0, BLOCK)
        q = tile(Q, q_begin, rows, q_length, q_t, q_h, head, e)
        m, total = tl.full((BLOCK,), -1.0e30, tl.float32), tl.zeros((BLOCK,), tl.float32)
        o = tl.zeros((BLOCK, E), tl.float32)
        for first in range(0, tl.minimum(k_length, start + BLOCK) if CAUSAL else k_length, BLOCK):
            columns = first + tl.arange(0, BLOCK)
            k = tile(K, k_begin, columns, k_length, k_t, k_h, head, e)
            v = tile(V, k_begin, columns, k_length, v_t, v_h, head, e)
            score = scores(q, k, rows, columns, k_length, scale, CAUSAL)
            above = tl.maximum(m, tl.max(score, 1))
            p, shrink = tl.exp(score - above[:, None]), tl.exp(m - above)
            m, total = above, total * shrink + tl.sum(p, 1)
            o = o * shrink[:, None] + tl.dot(p.to(v.dtype), v)
        at = O + (q_begin + rows)[:, None] * o_t + head * o_h + e[None, :]
        tl.store(at, (o / total[:, None]).to(O.dtype.element_ty), mask=(rows < q_length)[:, None])


@kernel
@no_type_check
def query_kernel(
    Q,
    K,
    V,
    dO,
    dQ,
    L,
    D,
    k_rows,
    q_offsets,
    k_offsets,
    count,
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
    BLOCK: tl.constexpr,
    E: tl.constexpr,
):
    """The gradient of the queries, and for the other kernel L = log Σ_j exp s_ij and D = Σ_j p_ij dp_ij of each."""
    head, e = tl.program_id(1), tl.arange(0, E)
    q_begin, k_begin, q_length, k_length = long_row(k_rows, q_offsets, k_offsets, count, LOW)
    for start in range(tl.program_id(2) * BLOCK, q_length, tl.num_programs(2) * BLOCK):
        rows = start + tl.arange(0, BLOCK)
        q = tile(Q, q_begin, rows, q_length, q_t, q_h, head, e)
        do = tile(dO, q_begin, rows, q_length, o_t, o_h, head, e)
        m, total = tl.full((BLOCK,), -1.0e30, tl.float32), tl.zeros((BLOCK,), tl.float32)
        d, dq = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK, E), tl.float32)
        end = tl.minimum(k_length, start + BLOCK) if CAUSAL else k_length
        for first in range(0, end, BLOCK):
            columns = first + tl.arange(0, BLOCK)
            k = tile(K, k_begin, columns, k_length, k_t, k_h, head, e)
            v = tile(V, k_begin, columns, k_length, v_t, v_h, head, e)
            score = scores(q, k, rows, columns, k_length, scale, CAUSAL)
            above = tl.maximum(m, tl.max(score, 1))
            p, shrink = tl.exp(score - above[:, None]), tl.exp(m - above)
            m, total = above, total * shrink + tl.sum(p, 1)
            d = d * shrink + tl.sum(p * tl.dot(do, tl.trans(v)), 1)
        d, m = d / total, m + tl.log(total)
        for first in range(0, end, BLOCK):
            columns = first + tl.arange(0, BLOCK)
            k = tile(K, k_begin, columns, k_length, k_t, k_h, head, e)
            v = tile(V, k_begin, columns, k_length, v_t, v_h, head, e)
            p = tl.exp(scores(q, k, rows, columns, k_length, scale, CAUSAL) - m[:, None])
            ds = (p * (tl.dot(do, tl.trans(v)) - d[:, None]) * scale).to(q.dtype)
            dq += tl.dot(ds, k)
        real = rows < q_length
        at = (q_begin + rows) * tl.num_programs(1) + head
        tl.store(L + at, m, mask=real)
        tl.store(D + at, d, mask=real)
        at = dQ + (q_begin + rows)[:, None] * d_t + head * d_h + e[None, :]
        tl.store(at, dq.to(dQ.dtype.element_ty), mask=real[:, None])


@kernel
@no_type_check
def key_kernel(
    Q,
    K,
    V,
    dO,
    dK,
    dV,
    L,
    D,
    k_rows,
    q_offsets,
    k_offsets,
    count,
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
    BLOCK: tl.constexpr,
    E: tl.constexpr,
):
    """The gradients of keys and values."""
    head, e = tl.program_id(1), tl.arange(0, E)
    q_begin, k_begin, q_length, k_length = long_row(k_rows, q_offsets, k_offsets, count, LOW)
    for first in range(tl.program_id(2) * BLOCK, k_length, tl.num_programs(2) * BLOCK):
        columns = first + tl.arange(0, BLOCK)
        k = tile(K, k_begin, columns, k_length, k_t, k_h, head, e)
        v = tile(V, k_begin, columns, k_length, v_t, v_h, head, e)
        dk, dv = tl.zeros((BLOCK, E), tl.float32), tl.zeros((BLOCK, E), tl.float32)
        for start in range(first if CAUSAL else 0, q_length, BLOCK):
            rows = start + tl.arange(0, BLOCK)
            q = tile(Q, q_begin, rows, q_length, q_t, q_h, head, e)
            do = tile(dO, q_begin, rows, q_length, o_t, o_h, head, e)
            at, real = (q_begin + rows) * tl.num_programs(1) + head, rows < q_length
            # Where there is no query, do is zero; its L only must not make p infinite.
            m, d = tl.load(L + at, mask=real, other=0.0), tl.load(D + at, mask=real, other=0.0)
            p = tl.exp(scores(q, k, rows, columns, k_length, scale, CAUSAL) - m[:, None])
            dv += tl.dot(tl.trans(p.to(do.dtype)), do)
            ds = (p * (tl.dot(do, tl.trans(v)) - d[:, None]) * scale).to(q.dtype)
            dk += tl.dot(tl.trans(ds), q)
        at, real = (k_begin + columns)[:, None] * d_t + head * d_h + e[None, :], columns < k_length
        tl.store(dK + at, dk.to(dK.dtype.element_ty), mask=real[:, None])
        tl.store(dV + at, dv.to(dV.dtype.element_ty), mask=real[:, None])
