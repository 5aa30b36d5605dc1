"""Attention over groups of rows of similar length is attention over all of them padded to the longest."""

import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from levt.policy.attention import PackedPattern
from levt.policy.layout import Packed
from levt.policy.row_groups import row_groups

LENGTH = st.integers(0, 5) | st.integers(0, 60)


def tensors(count: int, seed: int) -> Tensor:
    return torch.randn(count, 2, 4, generator=torch.Generator().manual_seed(seed), requires_grad=True)


def found(pattern: PackedPattern, q: Tensor, k: Tensor, v: Tensor, *, grouped: bool) -> list[Tensor]:
    """The result and the gradients of some number of it."""
    out = pattern.attend(q, k, v) if grouped else pattern.by_padding(q, k, v)
    weight = torch.randn(out.shape, generator=torch.Generator().manual_seed(9))
    return [out, *torch.autograd.grad((out * weight).sum(), (q, k, v))]


@settings(max_examples=40)
@given(st.lists(st.tuples(LENGTH, LENGTH), min_size=1, max_size=8), st.integers(0, 3), st.integers(1, 3))
def test_as_with_padding(pairs: list[tuple[int, int]], tail: int, copies: int) -> None:
    """Also where several neighbouring rows of queries look at one row of keys."""
    asked = [n for n, _ in pairs for _ in range(copies)]
    seen = [s for _, s in pairs]
    assume(any(n and s for n, s in pairs))
    queries = Packed.of(torch.tensor(asked), sum(asked) + tail, 60).grouped(copies)
    keys = Packed.of(torch.tensor(seen), sum(seen) + tail, 60)
    q, k, v = tensors(sum(asked) + tail, 0), tensors(sum(seen) + tail, 1), tensors(sum(seen) + tail, 2)
    pattern = PackedPattern(queries, keys)
    for one, other in zip(
        found(pattern, q, k, v, grouped=True), found(pattern, q, k, v, grouped=False), strict=True
    ):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


@settings(max_examples=40)
@given(st.lists(LENGTH, min_size=1, max_size=8), st.integers(0, 3))
def test_looking_backwards(lengths: list[int], tail: int) -> None:
    assume(any(lengths))
    rows = Packed.of(torch.tensor(lengths), sum(lengths) + tail, 60)
    q, k, v = (tensors(sum(lengths) + tail, seed) for seed in range(3))
    pattern = PackedPattern(rows, rows, causal=True)
    for one, other in zip(
        found(pattern, q, k, v, grouped=True), found(pattern, q, k, v, grouped=False), strict=True
    ):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


@settings(max_examples=40)
@given(st.lists(st.integers(1, 300), min_size=1, max_size=60))
def test_little_is_padding(lengths: list[int]) -> None:
    rows = Packed.of(torch.tensor(lengths), sum(lengths), 300)
    groups = row_groups(rows, rows)
    places = torch.cat([group.queries[group.kept] for group in groups])
    assert sorted(places.tolist()) == list(range(sum(lengths)))
    for group in groups:
        assert group.queries.shape[1] <= max(8, 1.5 * int(group.kept.sum(1).min()) + 1)


def test_where_there_is_no_row_the_gradient_is_zero_and_not_cut_off() -> None:
    """A process with nothing to learn from still takes part when gradients are added up."""
    nothing = Packed.of(torch.tensor([0, 0]), 4, 60)
    given = [tensors(4, seed) for seed in range(3)]
    out, *gradients = found(PackedPattern(nothing, nothing), *given, grouped=True)
    assert not out.any()
    assert not any(gradient.any() for gradient in gradients)
