"""Layouts: attention over packed rows is attention row by row, and what lies in the tail reaches nobody."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import pad, sentences

from levt.policy.attention import PackedPattern, padded_pattern, pattern
from levt.policy.layout import Packed, Padded

lengths = st.lists(st.integers(0, 6), min_size=1, max_size=6)


@settings(max_examples=60)
@given(lengths, st.integers(0, 5), st.integers(0, 3))
def test_packed_places(lengths: list[int], tail: int, slack: int) -> None:
    layout = Packed.of(torch.tensor(lengths), sum(lengths) + tail, max(lengths) + slack + 1)
    rows = [i for i, n in enumerate(lengths) for _ in range(n)]
    assert layout.row.tolist() == rows + [len(lengths)] * tail
    assert layout.positions.tolist() == [i for n in lengths for i in range(n)] + [0] * tail
    assert layout.real.tolist() == [True] * len(rows) + [False] * tail
    assert layout.offsets.diff().tolist() == lengths
    assert layout.last.tolist() == [i == n - 1 for n in lengths for i in range(n)] + [False] * tail
    x = torch.arange(1.0, sum(lengths) + tail + 1)
    wide = layout.spread(x)
    for i, n in enumerate(lengths):
        assert wide[i, :n].tolist() == x[layout.offsets[i] : layout.offsets[i + 1]].tolist()
        assert not wide[i, n:].any()
    assert torch.equal(layout.clean(layout.flatten(wide)), layout.clean(x))


@settings(max_examples=40)
@given(lengths, st.integers(0, 4), st.sampled_from([1, 2, 3]), st.booleans())
def test_packed_attention_is_attention_row_by_row(
    lengths: list[int], tail: int, copies: int, causal: bool
) -> None:
    copies = 1 if causal else copies
    torch.manual_seed(sum(lengths))
    sources = [n if causal else n + 1 for n in lengths]
    asked = [n + i for n in lengths for i in range(copies)]
    queries = Packed.of(torch.tensor(asked), sum(asked) + tail, max(asked) + 1)
    keys = queries if causal else Packed.of(torch.tensor(sources), sum(sources) + tail, max(sources) + 1)
    q = torch.randn(sum(asked) + tail, 2, 4)
    k, v = torch.randn(2, sum(sources) + tail, 2, 4)
    out = pattern(queries, keys, q, causal=causal).attend(q, k, v)
    for r, n in enumerate(asked):
        mine = slice(int(queries.offsets[r]), int(queries.offsets[r]) + n)
        theirs = slice(int(keys.offsets[r // copies]), int(keys.offsets[r // copies + 1]))
        score = torch.einsum("ihe,jhe->hij", q[mine], k[theirs]) / 2
        if causal:
            score = score.masked_fill(torch.ones(n, n).triu(1).bool(), float("-inf"))
        expected = torch.einsum("hij,jhe->ihe", score.softmax(-1), v[theirs])
        torch.testing.assert_close(out[mine], expected, rtol=1e-5, atol=1e-5)
    assert not out[sum(asked) :].any()


def test_nothing_in_the_tail_reaches_a_gradient() -> None:
    layout = Packed.of(torch.tensor([2, 0]), 4, 3)
    x = torch.tensor([1.0, 2.0, float("nan"), float("inf")], requires_grad=True)
    cleaned = layout.clean(x)
    assert cleaned.tolist() == [1, 2, 0, 0]
    (cleaned * torch.tensor([1.0, 1.0, float("nan"), 1.0])).nan_to_num().sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1, 1, 0, 0]


def test_a_row_of_padding_gives_numbers() -> None:
    q = torch.randn(2, 3, 1, 4)
    look = padded_pattern(torch.tensor([[True, True, False], [False] * 3]), causal=False, dtype=q.dtype)
    assert look.attend(q, q, q).isfinite().all()


def test_padded_layout_follows_its_rows() -> None:
    y = pad(sentences(3))
    layout = Padded.of(y)
    picked = layout.select(torch.tensor([2, 0]))
    assert torch.equal(picked.real, y[[2, 0]].ne(0))
    assert layout.positions.tolist() == list(range(y.shape[1]))


def test_groups_of_rows_keep_their_tail() -> None:
    layout = Packed.of(torch.tensor([2, 1, 0, 3]), 8, 3)
    grouped = layout.grouped(2)
    assert grouped.offsets.tolist() == [0, 3, 6]
    assert grouped.row.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert grouped.longest == 6
    assert isinstance(pattern(layout, grouped, torch.zeros(1)), PackedPattern)
