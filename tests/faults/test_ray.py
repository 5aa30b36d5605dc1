"""A cluster of Ray: two nodes, a worker killed in the middle of a shard, and the output of a single process."""

import os
import signal
import socket
import sys
import time
from pathlib import Path

import pytest
from fault_runs import command, contents, corpus, kill, write_lines

from levt.cli import main
from levt.errors import ConfigError, LevtError, MissingExtra
from levt.recipes.answering import Answering
from levt.recipes.line_shards import LineShards, LineWork
from levt.recipes.ray_workers import OnRay
from levt.recipes.shard_plan import plan
from tiny_models import save_tiny
from warm_processes import begin


def on_two_nodes(calls: list[list[str]], log: Path) -> None:
    """Commands on a cluster of two nodes, in a process of its own; what it has not started it leaves running."""
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_BACKEND_LOG_LEVEL="fatal", RAY_DEDUP_LOGS="0")
    import ray
    from ray.cluster_utils import Cluster

    # A node of one CPU has no room for anything beside the worker, and waits for ever.
    size = {"num_cpus": 2, "object_store_memory": 80_000_000, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=size)
    try:
        cluster.add_node(**size)
        for call in calls:
            command([*call, "--ray-address", cluster.address], log, leads=False)
            assert not ray.is_initialized()
        assert cluster.remaining_processes_alive()
    finally:
        cluster.shutdown()


@pytest.mark.slow
@pytest.mark.fault(
    "kill -9",
    "a worker of Ray, in the middle of a shard",
    "another does its shard; the output of a single process",
)
def test_a_worker_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    log = tmp_path / "log"
    model, teacher = (
        save_tiny(tmp_path / "model", seed=3),
        save_tiny(tmp_path / "teacher", "autoregressive", max_length=32),
    )
    translate = ["translate", "--model", str(model), "--input", str(write_lines(tmp_path / "big.txt", 240)),
                 "--shard-lines", "20", "--output"]  # fmt: skip
    distill = ["distill", str(teacher), str(corpus(tmp_path, 12)), "--shard", "2", "--beam", "1", "--out"]
    main([*translate, str(tmp_path / "lines"), "--device", "cpu"])
    main([*distill, str(tmp_path / "corpus-1"), "--device", "cpu"])
    ray = ["--engine", "ray", "--processes", "2"]
    calls = [[*translate, str(tmp_path / "lines-ray"), *ray], [*distill, str(tmp_path / "corpus-ray"), *ray]]
    process = begin(on_two_nodes, calls, log)
    try:
        # A half-written shard has the number of its process at the end of its name.
        notes, killed = tmp_path / "lines-ray" / ".levt", None
        end = time.monotonic() + 500
        while killed is None and process.is_alive() and time.monotonic() < end:
            if len(list(notes.glob("big*.json"))) >= 2 and (half := next(notes.glob(".big*.txt.*"), None)):
                killed = int(half.name.rpartition(".")[2])
                os.kill(killed, signal.SIGKILL)
            time.sleep(0.002)
        process.join(500)
        said = log.read_text("utf-8")
        assert process.exitcode == 0, said
        assert killed is not None, said
    finally:
        kill(process)
    assert contents(tmp_path / "lines-ray") == contents(tmp_path / "lines")
    assert contents(tmp_path / "corpus-ray") == contents(tmp_path / "corpus-1")
    assert "lines-ray: 240 lines in 12 shards" in said
    # It is quiet: Ray has nothing to say that is not ours.
    assert [
        line for line in said.splitlines() if line.startswith("[20") or "WARN" in line or "INFO" in line
    ] == []


def test_what_cannot_be_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = LineWork(
        answering=Answering(verb="translate", model="nothing"),
        pieces=LineShards(tmp_path / "out", plan([str(write_lines(tmp_path / "a", 3))], lines=2), {}),
    )
    with pytest.raises(ConfigError, match="workers must be at least 1, got 0"):
        OnRay(workers=0)
    pytest.importorskip("ray")
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(LevtError, match=f"there is no cluster of Ray at {address}"):
            OnRay(address=address)(work, lambda done, total: None)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"levt\[ray\]"):
        OnRay()(work, lambda done, total: None)
    assert issubclass(MissingExtra, LevtError)
