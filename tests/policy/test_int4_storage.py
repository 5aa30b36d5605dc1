"""Weights stored as half bytes: no choice of a scale is better than the one made, and tables of tokens keep bytes."""

from pathlib import Path

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from levt.policy.few_bits import GROUP, REACHES, from_halves, halves, to_halves
from levt.policy.weights import packed, read_weights, stored_tensors, write_weights


class Network(nn.Module):
    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.target_tokens = nn.Embedding(50, 64)
        self.wide, self.odd = nn.Linear(64, 24), nn.Linear(20, 6)


def nearest(w: Tensor, scale: Tensor) -> Tensor:
    """What a group becomes with a scale, by trying all sixteen values of every weight."""
    values = torch.arange(-8, 8) * scale
    return values[(w.unsqueeze(-1) - values).abs().argmin(-1)]


@given(seed=st.integers(0, 10**6), size=st.sampled_from([1e-6, 0.02, 1.0, 300.0]))
def test_no_scale_on_offer_comes_closer(seed: int, size: float) -> None:
    torch.manual_seed(seed)
    w = torch.randn(3, 2 * GROUP) * size * torch.rand(3, 1)
    w[0, :GROUP] = 0
    q, scale = to_halves(w)
    found = from_halves(q, scale)
    assert (q.shape, scale.shape) == ((3, GROUP), (3, 2))
    assert torch.equal(found[0, :GROUP], torch.zeros(GROUP))
    for row in range(3):
        for group in range(2):
            part = slice(group * GROUP, (group + 1) * GROUP)
            one, got = w[row, part], found[row, part]
            tried = [(sign * one.abs().max() / reach).half().float() for reach in REACHES for sign in (1, -1)]
            least = min(((nearest(one, t) - one).square().sum() for t in tried), default=torch.tensor(0.0))
            assert (got - one).square().sum() <= least * 1.001 + 1e-20


def test_what_four_bits_can_say_comes_back_as_it_was() -> None:
    values = (torch.arange(GROUP) % 16 - 8).float()
    w = torch.stack([values * 0.25, -values * 2.0])
    assert torch.equal(from_halves(*to_halves(w)), w)


def test_tables_of_tokens_and_odd_widths_keep_bytes(tmp_path: Path) -> None:
    model, read = Network(0), Network(1)
    stored = packed(stored_tensors(model), "int4")
    assert stored["target_tokens.weight"].dtype == stored["odd.weight"].dtype == torch.int8
    assert (stored["wide.weight"].dtype, stored["wide.weight"].shape) == (torch.uint8, (24, 32))
    assert not halves(20)
    assert halves(64)
    write_weights(tmp_path / "w", model, "int4")
    assert read_weights(tmp_path / "w", read, "int4") == []
    for name, tensor in stored_tensors(model).items():
        off = float((stored_tensors(read)[name] - tensor).norm() / tensor.norm())
        assert off == 0 if tensor.dim() == 1 else off < (0.12 if name == "wide.weight" else 0.01)


def test_another_way_of_storing_is_told(tmp_path: Path) -> None:
    write_weights(tmp_path / "w", Network(0), "int8")
    problems = "\n".join(read_weights(tmp_path / "w", Network(1), "int4"))
    assert "the tensor wide.weight must be uint8, is int8" in problems


def test_every_byte_holds_two_weights() -> None:
    """The first in its low half, each 8 too large; every 32 weights have their scale."""
    q = torch.arange(256, dtype=torch.uint8).reshape(4, 64)
    scale = torch.linspace(-2, 2, 16).reshape(4, 4).half()
    found = from_halves(q, scale)
    for row in range(4):
        for column in range(128):
            byte = 64 * row + column // 2
            weight = (byte & 15 if column % 2 == 0 else byte >> 4) - 8
            assert found[row, column] == weight * scale[row, column // 32].float()
