"""Weights stored as bytes: close to what they were, the same ever after, and damage is named."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from levt.policy.weights import SCALE, packed, read_weights, stored_tensors, write_weights


def network(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    made = nn.Sequential(nn.Linear(24, 48), nn.LayerNorm(48), nn.Linear(48, 7))
    with torch.no_grad():
        made[0].weight[3] = 0
        made[0].weight[4] *= 1000
    return made


def test_every_row_keeps_its_own_precision(tmp_path: Path) -> None:
    model, read = network(), network(1)
    write_weights(tmp_path / "w", model, "int8")
    assert read_weights(tmp_path / "w", read, "int8") == []
    for name, tensor in stored_tensors(model).items():
        found = stored_tensors(read)[name]
        if tensor.dim() == 2:
            step = tensor.abs().amax(1, keepdim=True) / 127
            assert ((found - tensor).abs() <= 0.5001 * step).all(), "half a step at most, row by row"
            assert (found - tensor).abs().max() > 0
        else:
            assert torch.equal(found, tensor)
    assert torch.equal(read.get_parameter("0.weight")[3], torch.zeros(24))


def test_storing_again_changes_nothing(tmp_path: Path) -> None:
    first, second = network(1), network(2)
    write_weights(tmp_path / "a", network(), "int8")
    read_weights(tmp_path / "a", first, "int8")
    write_weights(tmp_path / "b", first, "int8")
    read_weights(tmp_path / "b", second, "int8")
    for a, b in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.allclose(a, b, rtol=1e-6, atol=0)
    old, new = load_file(tmp_path / "a"), load_file(tmp_path / "b")
    assert all(torch.equal(old[name], new[name]) for name in old if old[name].dtype == torch.int8)


def test_a_quarter_of_the_size() -> None:
    tensors = {"w": torch.randn(64, 512)}
    whole, small = (sum(t.nbytes for t in packed(tensors, dtype).values()) for dtype in ("float32", "int8"))
    assert small < 0.26 * whole


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda t: t.pop("0.weight" + SCALE), "the tensor 0.weight.scale is missing"),
        (
            lambda t: t.update({"0.weight": t["0.weight"].float()}),
            "the tensor 0.weight must be int8, is float32",
        ),
        (lambda t: t.update({"0.weight" + SCALE: torch.ones(3)}), "must have the shape (48,), has (3,)"),
        (lambda t: t.update({"1.weight" + SCALE: torch.ones(48)}), "1.weight.scale is not part of the model"),
    ],
)
def test_damage_is_named_and_the_network_left_alone(tmp_path: Path, damage: object, problem: str) -> None:
    tensors = packed(stored_tensors(network()), "int8")
    damage(tensors)  # type: ignore[operator]
    save_file(tensors, tmp_path / "w")
    model, before = network(1), network(1)
    assert problem in "\n".join(read_weights(tmp_path / "w", model, "int8"))
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), before.parameters(), strict=True))
