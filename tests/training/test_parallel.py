"""Several processes learn what one learns from the same global batch, replicated or sharded, and end together."""

import json
from pathlib import Path

import pytest
import torch
import worker
from small_runs import copy_store

from levt.errors import ConfigError
from levt.training.config import TrainingConfig
from levt.training.feed import Position
from levt.training.parallel import World, backend_for
from levt.training.rendezvous import RendezvousFailed
from warm_processes import Found, together


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    copy_store(folder, 700, draft=True)
    return folder


def close(found: Found, wanted: Found) -> None:
    """Losses, norms, gradients and weights as of one process, but for the order in which numbers are added."""
    differences = []
    for name, tensor in wanted.items():
        if name.startswith(("weight.", "average.", "saved.")):
            # Adam divides by the size of a gradient: where that is nothing but rounding, so is the step.
            differences.append((found[name] - tensor).abs().flatten())
        elif name != "held":
            torch.testing.assert_close(found[name], tensor, rtol=1e-4, atol=1e-5)
    assert torch.cat(differences).mean() < 1e-5
    assert torch.cat(differences).max() < 1e-2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "sharding", "sizes"),
    [("levt", "replicate", (2, 4)), ("levt", "shard", (2, 4)), ("ar", "shard", (2,))],
)
def test_many_are_one(store: Path, tmp_path: Path, kind: str, sharding: str, sizes: tuple[int, ...]) -> None:
    """With dropout, sampling, accumulation, clipping, an average; LevT and a sibling."""
    settings = {"micro_batches": 4, "max_steps": 4, "ema": 0.9, "clip": 0.5}
    alone = worker.learn(store, tmp_path / "1", kind, settings)
    weights = sum(t.numel() for n, t in alone.items() if n.startswith("weight."))
    for size in sizes:
        out = tmp_path / str(size)
        found = together(worker.learn, size, store, out, kind, {**settings, "sharding": sharding})
        close(found[0], alone)
        for other in found[1:]:
            assert all(torch.equal(other[n], found[0][n]) for n in other if n != "held")
        # Only the first writes.
        assert sorted(path.name for path in out.iterdir()) == ["checkpoints", "log.jsonl"]
        held = [int(one["held"]) for one in found]
        if sharding == "shard":
            assert sum(held) == weights
            assert max(held) < 1.2 * weights / size
        else:
            assert min(held) >= weights


@pytest.mark.slow
def test_every_kind_can_be_sharded(store: Path, tmp_path: Path) -> None:
    alone = worker.every_kind(store, tmp_path / "1", {})
    found, _ = together(worker.every_kind, 2, store, tmp_path / "2", {"sharding": "shard"})
    assert len(alone) >= 2 * len(worker.KINDS)
    for name, values in alone.items():
        torch.testing.assert_close(found[name], values, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_process_without_an_example_keeps_up(tmp_path: Path) -> None:
    """One example for two processes, as in the last round of an epoch: the other has an empty lesson."""
    copy_store(tmp_path / "store", 1, draft=True)
    alone = worker.every_kind(tmp_path / "store", tmp_path / "1", {"micro_batches": None})
    settings = {"micro_batches": None, "sharding": "shard"}
    found, _ = together(worker.every_kind, 2, tmp_path / "store", tmp_path / "2", settings)
    for name, values in alone.items():
        torch.testing.assert_close(found[name], values, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_half_precision(store: Path, tmp_path: Path) -> None:
    """Weights are kept in single precision and rounded for the passes, in parts as in whole."""
    settings = {"micro_batches": 2, "max_steps": 3, "precision": "bf16"}
    alone = worker.learn(store, tmp_path / "1", "ar", settings)
    one, two = together(worker.learn, 2, store, tmp_path / "2", "ar", {**settings, "sharding": "shard"})
    assert all(torch.equal(one[name], two[name]) for name in two if name != "held")
    for name in ("token", "gradient_norm"):
        torch.testing.assert_close(one[name], alone[name], rtol=0.02, atol=0.0)
    exact = worker.learn(store, tmp_path / "exact", "ar", {**settings, "precision": "fp32"})
    assert not torch.equal(one["token"], exact["token"])
    weights = [tensor for name, tensor in one.items() if name.startswith("weight.")]
    assert all(tensor.dtype == torch.float32 for tensor in weights)
    assert any(not torch.equal(tensor, tensor.bfloat16().float()) for tensor in weights)


@pytest.mark.slow
@pytest.mark.parametrize("sharding", ["replicate", "shard"])
def test_all_end_together(store: Path, tmp_path: Path, sharding: str) -> None:
    one, two = together(worker.end_together, 2, store, tmp_path, sharding)
    assert all(torch.equal(one[name], two[name]) for name in one), "both have the same weights, to the bit"
    assert one["patience"].item() == 6
    assert one["minutes"][1].item() == 1


def test_micro_batches_are_shared_out() -> None:
    assert [TrainingConfig(micro_batches=12).shared_by(n).accumulate for n in (1, 2, 3, 4)] == [12, 6, 4, 3]
    assert TrainingConfig(accumulate=3).shared_by(4).accumulate == 3
    with pytest.raises(ConfigError, match="12 micro-batches cannot be shared by 5 processes"):
        TrainingConfig(micro_batches=12).shared_by(5)
    with pytest.raises(ConfigError, match="set only one, got 12 and 2"):
        TrainingConfig(micro_batches=12, accumulate=2)


def test_a_place_in_the_data_for_another_number_of_workers() -> None:
    """Nothing is left out, and fewer than a round is seen again."""
    for before in (1, 2, 3, 4):
        for now in (1, 2, 3, 5):
            for batch in range(20):
                seen = Position(1, batch).shared_by(now, before=before).batch * now
                assert batch * before - now < seen <= batch * before


def test_alone_needs_no_process_group() -> None:
    world = World()
    assert world.first
    values = torch.tensor([1.0, 2.0])
    assert world.sum(values) is values
    world.add_up(values)
    world.barrier()
    world.leave()
    assert values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"RANK": "one", "WORLD_SIZE": "2"}, "RANK must be a number from 0 on, got 'one'"),
        ({"RANK": "0", "WORLD_SIZE": "-2"}, "WORLD_SIZE must be a number from 0 on, got '-2'"),
        ({"RANK": "2", "WORLD_SIZE": "2"}, "RANK must be below WORLD_SIZE = 2, got 2"),
        ({"WORLD_SIZE": "2"}, "WORLD_SIZE is 2, but RANK is not set"),
        ({"RANK": "1", "WORLD_SIZE": "2"}, "MASTER_PORT is not set"),
        (
            {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "x"},
            "cannot find the others at 127.0.0.1:x",
        ),
    ],
)
def test_a_missing_rendezvous_is_told(
    monkeypatch: pytest.MonkeyPatch, told: dict[str, str], message: str
) -> None:
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(RendezvousFailed, match=message) as caught:
        World.join(torch.device("cpu"))
    assert caught.value.hint


def test_unknown_or_unfit_backends_are_refused() -> None:
    assert backend_for(torch.device("cpu")) == "gloo"
    with pytest.raises(ConfigError, match="nccl joins GPUs, the device is cpu") as caught:
        backend_for(torch.device("cpu"), "nccl")
    assert "--training.backend gloo" in str(caught.value)


@pytest.mark.parametrize(
    ("device", "alone", "second"), [("cuda", 0, 1), ("cuda:1", 1, None), ("cuda:0", 0, None)]
)
def test_the_gpu_that_is_named_or_that_of_the_rank(device: str, alone: int, second: int | None) -> None:
    where = torch.device(device)
    assert World().gpu(where) == alone
    if second is not None:
        assert World(1, 2, 1).gpu(where) == second
        return
    with pytest.raises(ConfigError, match=f"2 processes train together, .* got device '{device}'") as caught:
        World(1, 2, 1).gpu(where)
    assert "--device cuda" in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"sharding": "shard"}, "there is one process, and nothing to share its weights with"),
        ({"sharding": "half"}, "sharding must be one of replicate, shard, got 'half'"),
        ({"schedule": "cosin"}, "schedule must be one of inverse-sqrt, cosine, linear, got 'cosin'"),
        ({"backend": "carrier pigeon"}, "backend must be one of auto, nccl, gloo, got 'carrier pigeon'"),
    ],
)
def test_bad_settings_are_refused(store: Path, tmp_path: Path, setting: dict[str, str], message: str) -> None:
    """In a process without the tests' check of types, which would be first."""
    [found] = together(worker.refusal, 1, store, tmp_path, setting)
    kind, said = json.loads(bytes(found["said"].tolist()))
    assert kind == "ConfigError"
    assert message in said
    assert setting != {"sharding": "shard"} or "hint: --training.sharding replicate" in said


def test_what_says_that_another_process_has_gone() -> None:
    gone = [
        RuntimeError("Read error [::1]:5828: Connection reset by peer"),
        torch.distributed.DistNetworkError("x"),
    ]
    two = World(0, 2)
    assert all(two.lost_in(error) for error in gone)
    assert not two.lost_in(RuntimeError("shapes do not match"))
    assert not any(World().lost_in(error) for error in gone)
