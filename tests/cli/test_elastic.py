"""``torchrun --max-restarts``: one of two processes is killed, and the run ends as if nothing had been."""

import os
import signal
from pathlib import Path

import pytest
import torch
from cli_runs import RECIPES, finish, start, toy
from safetensors.torch import load_file
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from levt.cli import main
from levt.training.checkpoint import checkpoints
from levt.training.log import read_log
from warm_processes import Found, begin, together

DEADLY = """
import os
import signal

from levt.training.sharded import ShardedWeights
from levt.training.weights import FlatWeights

if os.environ["RANK"] == "1" and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
    for kind in (FlatWeights, ShardedWeights):

        def step(weights, original=kind.step, made=[0]):
            original(weights)
            made[0] += 1
            if made[0] == 8:
                open("died", "w").close()
                os.kill(os.getpid(), signal.SIGKILL)

        kind.step = step
"""
"""In the first life of the second process, its eighth step is its last."""


def trained(folder: Path, *command: str) -> Found:
    """The same run without torchrun's agent, which nobody kills."""
    os.chdir(folder)
    main(["train", *command])
    return {}


def agent(folder: Path, *command: str) -> None:
    """What torchrun does, but that the processes have imported everything when they begin."""
    config = LaunchConfig(
        min_nodes=1, max_nodes=1, nproc_per_node=2, max_restarts=2, run_id="test", rdzv_backend="c10d",
        rdzv_endpoint="localhost:0", start_method="fork", monitor_interval=0.05,
    )  # fmt: skip
    elastic_launch(config, trained)(folder, *command)


def test_a_killed_process_costs_nothing_but_time(tmp_path: Path) -> None:
    folder = toy(tmp_path)
    (folder / "deadly.py").write_text(RECIPES + DEADLY, encoding="utf-8")
    settings = ["--training.max-steps", "12"]
    together(trained, 2, folder, "toy.py:levt", "--out", "whole", *settings)
    process = begin(agent, folder, "deadly.py:levt", "--out", "killed", *settings)
    process.join(timeout=120)
    process.kill()
    process.join()
    assert process.exitcode == 0
    assert_same(folder)


@pytest.mark.fault(
    "kill -9",
    "one of two processes under torchrun",
    "torchrun starts them again; the same losses and weights to the bit",
)
@pytest.mark.slow
def test_the_same_with_torchrun_and_weights_in_parts(tmp_path: Path) -> None:
    folder = toy(tmp_path)
    (folder / "deadly.py").write_text(RECIPES + DEADLY, encoding="utf-8")
    settings = ["--training.sharding", "shard", "--training.max-steps", "12"]
    killed = start(folder, "train", "deadly.py:levt", "--out", "killed", *settings, processes=2, restarts=2)
    together(trained, 2, folder, "toy.py:levt", "--out", "whole", *settings)
    said = finish(killed)
    assert f"exitcode: -{int(signal.SIGKILL)}" in said
    assert "resuming at step" in said
    assert_same(folder)


def assert_same(folder: Path) -> None:
    """One was killed, and both have logged the same, and have the same weights, to the bit."""
    assert (folder / "died").exists()
    runs = [folder / "whole", folder / "killed"]
    names = ("event", "step", "delete", "placeholder", "token", "learning_rate", "score", "best")
    logs = [
        [{name: r[name] for name in names if name in r} for r in read_log(run / "log.jsonl")] for run in runs
    ]
    assert logs[0] == logs[1]
    assert [r["step"] for r in logs[0] if r["event"] == "train"] == list(range(1, 13))
    for file in sorted(checkpoints(runs[0])[-1].glob("*.safetensors")):
        one, two = load_file(file), load_file(checkpoints(runs[1])[-1] / file.name)
        assert one.keys() == two.keys()
        assert all(torch.equal(one[name], two[name]) for name in one)
