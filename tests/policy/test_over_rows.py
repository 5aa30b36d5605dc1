"""An LSTM over packed rows is one over each row by itself."""

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from levt.policy.layout import Packed, Padded
from levt.policy.over_rows import Begin, last_of, mirrored, over_rows

LENGTHS = st.lists(st.integers(0, 6), min_size=1, max_size=6)


def lstm() -> nn.LSTM:
    torch.manual_seed(0)
    return nn.LSTM(3, 4, batch_first=True)


def batch(lengths: list[int], tail: int) -> tuple[Tensor, Packed, Begin]:
    torch.manual_seed(1)
    layout = Packed.of(torch.tensor(lengths), sum(lengths) + tail, 8)
    x = torch.randn(sum(lengths) + tail, 3, requires_grad=True)
    begin = torch.randn(1, len(lengths), 4), torch.randn(1, len(lengths), 4)
    return x, layout, begin


def rows(x: Tensor, lengths: list[int]) -> list[Tensor]:
    return list(x[: sum(lengths)].split(lengths))


@settings(max_examples=30)
@given(LENGTHS, st.integers(0, 3), st.booleans())
def test_each_row_by_itself(lengths: list[int], tail: int, starts: bool) -> None:
    net, (x, layout, begin) = lstm(), batch(lengths, tail)
    found = over_rows(net, x, layout, begin if starts else None)
    for i, (row, state) in enumerate(zip(rows(x, lengths), rows(found, lengths), strict=True)):
        if len(row):
            first = (begin[0][:, i : i + 1], begin[1][:, i : i + 1]) if starts else None
            torch.testing.assert_close(state, net(row[None], first)[0][0])
    assert not found[sum(lengths) :].any()


@settings(max_examples=30)
@given(LENGTHS, st.integers(0, 3))
def test_captured_steps_run_padded_to_the_same_end(lengths: list[int], tail: int) -> None:
    assume(any(lengths))
    net, (x, layout, begin) = lstm(), batch(lengths, tail)
    weight = torch.randn(x.shape[0], 4)

    def run() -> tuple[Tensor, Tensor]:
        found = over_rows(net, x, layout, begin)
        (gradient,) = torch.autograd.grad((found * weight).sum(), x)
        return found, gradient

    plain = run()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("levt.policy.over_rows.is_captured", lambda x: True)
        padded = run()
    for one, other in zip(plain, padded, strict=True):
        torch.testing.assert_close(one, other)


@settings(max_examples=30)
@given(LENGTHS, st.integers(0, 3))
def test_mirrors_and_ends(lengths: list[int], tail: int) -> None:
    x, layout, _ = batch(lengths, tail)
    turned = mirrored(x, layout)
    assert torch.equal(mirrored(turned, layout), x)
    wide = layout.spread(x)[:-1]
    padded = Padded(torch.arange(8) < torch.tensor(lengths)[:, None])
    assert torch.equal(layout.spread(turned)[:-1], mirrored(wide, padded))
    for i, (row, other) in enumerate(zip(rows(x, lengths), rows(turned, lengths), strict=True)):
        assert torch.equal(other, row.flip(0))
        if len(row):
            assert torch.equal(last_of(x, layout)[i], row[-1])
            assert torch.equal(last_of(wide, padded)[i], row[-1])
