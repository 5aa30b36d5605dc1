"""All weights as one vector: it is the model, it learns as torch's own optimiser does, it skips what is broken."""

from typing import Any

import pytest
import torch
from small_runs import config, network
from torch import nn

from levt.errors import ModelError
from levt.training.weights import ALIGN, FlatWeights

FP32, BF16 = torch.float32, torch.bfloat16


class Tied(nn.Module):
    """Two layers that share a weight, one of odd size."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(3, 5)
        self.two = nn.Linear(3, 5)
        self.two.weight = self.one.weight
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.one(x) + self.two(x) * self.scale).pow(2).mean()


def pair(dtype: torch.dtype = FP32, **fields: Any) -> tuple[Tied, FlatWeights]:
    torch.manual_seed(0)
    model = Tied()
    weights = FlatWeights(model, config(**fields), dtype)
    weights.rate.fill_(0.01)
    return model, weights


def test_parameters_and_gradients_are_views() -> None:
    model, weights = pair()
    assert sorted(weights.names) == ["one.bias", "one.weight", "scale", "two.bias"]
    assert model.one.weight is model.two.weight
    assert all(begin % ALIGN == 0 for begin, _ in weights.slices.values())
    model(torch.ones(2, 3)).backward()
    for name, parameter in model.named_parameters():
        begin, shape = weights.slices[name]
        flat = slice(begin, begin + shape.numel())
        assert torch.equal(weights.gradient[flat].view(shape), parameter.grad)
        assert torch.equal(weights.working[flat].view(shape), parameter)
    weights.working.fill_(7.0)
    assert (model.scale == 7).all()
    assert (model.two.weight == 7).all()


def test_building_it_changes_no_weight() -> None:
    torch.manual_seed(0)
    plain = Tied()
    model, weights = pair()
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, dict(plain.named_parameters())[name])
    assert weights.optimiser.state[weights.master]["step"] == 0
    assert not weights.optimiser.state[weights.master]["exp_avg_sq"].any()


@pytest.mark.parametrize("clip", [0.0, 0.05])
def test_steps_as_torch_s_own_optimiser(clip: float) -> None:
    torch.manual_seed(0)
    plain = Tied()
    own = torch.optim.AdamW(plain.parameters(), lr=0.01, betas=(0.9, 0.98), eps=1e-8, weight_decay=0.1)
    model, weights = pair(clip=clip, weight_decay=0.1, beta2=0.98)
    for step in range(5):
        x = torch.randn(4, 3, generator=torch.Generator().manual_seed(step))
        for one in (plain, model):
            one(x).backward()
        norm = torch.nn.utils.clip_grad_norm_(plain.parameters(), clip or float("inf"))
        own.step()
        own.zero_grad()
        weights.step()
        torch.testing.assert_close(weights.norm, norm)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(parameter, dict(plain.named_parameters())[name])
    assert not weights.gradient.any()


@pytest.mark.parametrize("dtype", [FP32, BF16])
@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_a_step_that_is_not_finite_changes_nothing(dtype: torch.dtype, broken: float) -> None:
    model, weights = pair(dtype, ema=0.5)

    def learn() -> None:
        model(torch.ones(2, 3).to(dtype)).backward()
        weights.step()

    learn()
    before = {name: tensor.clone() for name, tensor in weights.state().items() if name != "average"}
    weights.gradient[3] = broken
    weights.step()
    assert weights.bad_steps == 1
    after = weights.state()
    for name in ("master", "exp_avg", "exp_avg_sq", "step"):
        assert torch.equal(before[name], after[name]), name
    assert not weights.gradient.any()
    learn()
    assert weights.bad_steps == 1
    assert not torch.equal(before["master"], weights.master)
    assert all(tensor.isfinite().all() for tensor in weights.state().values())


def test_small_steps_are_not_lost_in_half_precision() -> None:
    """The master remembers what bf16 cannot: many steps of a thousandth move a weight of 2."""
    model, weights = pair(BF16, clip=0.0, weight_decay=0.0)
    weights.rate.fill_(1e-3)
    assert model.scale.dtype == BF16
    begin, _ = weights.slices["scale"]
    for _ in range(40):
        weights.gradient[begin] = 1.0
        weights.step()
    assert weights.master.data[begin].item() == pytest.approx(2 - 0.04, abs=2e-3)
    assert model.scale.item() == pytest.approx(1.96, abs=8e-3)
    assert weights.named()["scale"].dtype == FP32


def test_the_moving_average() -> None:
    model, weights = pair(ema=0.9)
    wanted = weights.master.data.clone()
    for count in range(1, 40):
        model(torch.ones(2, 3)).backward()
        weights.step()
        decay = min(0.9, (1 + count) / (10 + count))
        wanted = decay * wanted + (1 - decay) * weights.master.data
    torch.testing.assert_close(weights.average, wanted)
    torch.testing.assert_close(weights.named()["scale"], wanted[weights.slices["scale"][0]])
    own = weights.named(averaged=False)["scale"]
    torch.testing.assert_close(own, model.scale.detach())
    assert (own - weights.named()["scale"]).abs() > 1e-4


@pytest.mark.parametrize("dtype", [FP32, BF16])
def test_restoring_goes_on_to_the_bit(dtype: torch.dtype) -> None:
    def learn(model: Tied, weights: FlatWeights, steps: range) -> None:
        for step in steps:
            x = torch.randn(4, 3, generator=torch.Generator().manual_seed(step)).to(dtype)
            model(x).backward()
            weights.step()

    model, weights = pair(dtype, ema=0.9)
    learn(model, weights, range(6))
    kept = {name: tensor.clone() for name, tensor in weights.state().items()}
    learn(model, weights, range(6, 12))
    again, other = pair(dtype, ema=0.9)
    with torch.no_grad():
        again.scale.fill_(-3)
    other.gradient.fill_(9)
    other.restore(kept)
    assert not other.gradient.any()
    learn(again, other, range(6, 12))
    for name, tensor in weights.state().items():
        assert torch.equal(tensor, other.state()[name]), name
    assert torch.equal(model.scale, again.scale)


def test_restoring_what_does_not_fit() -> None:
    _, weights = pair(ema=0.9)
    state = {name: tensor.clone() for name, tensor in weights.state().items()}
    del state["average"]
    weights.restore(state)  # a run that had no average begins one
    assert torch.equal(weights.state()["average"], weights.master.data)
    with pytest.raises(ModelError, match=r"master must have the shape .* is \(3,\)"):
        weights.restore({**state, "master": torch.zeros(3)})
    del state["exp_avg"]
    with pytest.raises(ModelError, match=r"exp_avg must have the shape .* is missing"):
        weights.restore(state)


def test_a_real_network_keeps_its_ties() -> None:
    model = network("levt")
    weights = FlatWeights(model, config(), FP32)
    assert sum(shape.numel() for _, shape in weights.slices.values()) == sum(
        parameter.numel() for parameter in model.parameters()
    )
