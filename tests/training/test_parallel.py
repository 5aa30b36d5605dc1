"""Two processes learn what one learns from the same global batch, and end together."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from small_runs import copy_store

from levt.training.parallel import World

WORKER = Path(__file__).with_name("worker.py")


def launch(store: Path, out: Path, size: int) -> list[dict[str, torch.Tensor]]:
    """Run the worker in so many processes, as torchrun would."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    world = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(size)}
    started = [
        subprocess.Popen(
            [sys.executable, str(WORKER), str(store), str(out)],
            env={**os.environ, **world, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stderr=subprocess.PIPE,
        )
        for rank in range(size)
    ]
    try:
        for process in started:
            _, trouble = process.communicate(timeout=180)
            assert process.returncode == 0, trouble.decode()
    finally:
        for process in started:
            process.kill()
            process.wait()
    return [load_file(out / f"rank{rank}-of-{size}.safetensors") for rank in range(size)]


@pytest.mark.slow
def test_two_processes_are_one(tmp_path: Path) -> None:
    copy_store(tmp_path / "store", draft=True)
    for size in (1, 2):
        (tmp_path / str(size)).mkdir()
    [alone] = launch(tmp_path / "store", tmp_path / "1", 1)
    one, two = launch(tmp_path / "store", tmp_path / "2", 2)
    assert all(torch.equal(one[name], two[name]) for name in one), "both have the same weights, to the bit"
    for name in ("stepped.master", "stepped.norms", "stepped.sums", "trained.master"):
        torch.testing.assert_close(one[name], alone[name], rtol=1e-4, atol=1e-5)
    assert one["patience"].item() == alone["patience"].item() == 6
    assert one["minutes"][1].item() == 1
    # Only the first writes.
    assert sorted(path.name for path in (tmp_path / "2" / "trained").iterdir()) == [
        "checkpoints",
        "log.jsonl",
    ]


def test_alone_needs_no_process_group() -> None:
    world = World()
    assert world.first
    values = torch.tensor([1.0, 2.0])
    assert world.sum(values) is values
    world.add_up(values)
    world.barrier()
    world.leave()
    assert values.tolist() == [1.0, 2.0]
