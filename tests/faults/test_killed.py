"""kill -9 at random moments: what is run again ends as if nothing had been."""

import os
import signal
import time
from collections.abc import Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest
from fault_runs import command, contents, distillation, kill, killed_at_random, write_lines

import levt
from levt.cli import main
from levt.data.preparation import Preparation
from levt.data.prepare import prepare
from levt.data.read import corpora
from levt.errors import LevtError, StoreError
from levt.policy.inspection import inspect_folder
from levt.serving.batches import Batches, Item
from levt.serving.client import Client, Patience
from tiny_models import TOKENIZERS, save_tiny
from warm_processes import begin


@pytest.mark.fault(
    "kill -9", "prepare, four random moments", "no corpus until it is whole; run again, the same bytes"
)
def test_prepare(tmp_path: Path) -> None:
    files = [str(write_lines(tmp_path / f"train.{side}", 6_000, seed)) for seed, side in enumerate("ab")]
    TOKENIZERS.target.save(tmp_path / "tokenizer.json")
    call = ["prepare", "--train", *files, "--tokenizer", str(tmp_path / "tokenizer.json"), "--out"]
    begun = time.monotonic()
    main([*call, str(tmp_path / "whole")])
    spread = time.monotonic() - begun
    out = tmp_path / "out"
    for _ in range(4):
        killed_at_random(
            [*call, str(out)],
            tmp_path / "log",
            times=1,
            begun=(tmp_path / ".out.partial").exists,
            spread=spread,
        )
        if out.exists():
            break
    if not out.exists():
        main([*call, str(out)])
    assert contents(out) == contents(tmp_path / "whole")
    assert not (tmp_path / ".out.partial").exists()


@pytest.mark.fault(
    "kill -9",
    "one of the processes of prepare",
    "an error that says so; nothing is left; run again, it is done",
)
def test_a_process_of_prepare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [write_lines(tmp_path / f"train.{side}", 2_000, seed) for seed, side in enumerate("ab")]
    monkeypatch.setattr("levt.data.split.CHUNK", 50)
    before = set(children())
    splits = {"train": corpora(files)}

    def shoot(stage: str, done: int, total: int) -> None:
        # The pool starts its processes with the first chunk; they take a while to begin.
        for pid in set(children()) - before:
            if b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)

    with pytest.raises(StoreError, match="a process that prepared has died"):
        prepare(
            tmp_path / "out", splits, Preparation(), tokenizer=TOKENIZERS.target, processes=2, progress=shoot
        )
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / ".out.partial").exists()
    prepare(tmp_path / "out", splits, Preparation(), tokenizer=TOKENIZERS.target)


def children() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


@pytest.mark.fault(
    "kill -9",
    "distill, random moments",
    "finished pieces are kept; run again, the corpus of an uninterrupted run",
)
def test_distill(tmp_path: Path) -> None:
    call = distillation(tmp_path, 30, shard=2)
    main([*call, str(tmp_path / "whole")])
    out, work = tmp_path / "out", tmp_path / "out.work"
    for at in (2, 6, 11):
        killed_at_random(
            [*call, str(out)], tmp_path / "log", times=1, spread=0.05,
            begun=lambda at=at: len(list(work.glob("0*.json"))) >= at or out.exists(),
        )  # fmt: skip
        assert work.exists() != out.exists()
    main([*call, str(out)])
    assert contents(out) == contents(tmp_path / "whole")
    assert not work.exists()


@pytest.mark.fault(
    "kill -9",
    "translate on shards, random moments",
    "finished shards are not redone, half-written ones not counted; run again, the same lines",
)
def test_translate_on_shards(tmp_path: Path) -> None:
    model = save_tiny(tmp_path / "model", seed=3)
    source = write_lines(tmp_path / "big.txt", 40)
    call = ["translate", "--model", str(model), "--input", str(source), "--shard-lines", "2", "--device", "cpu",
            "--max-iterations", "2", "--output"]  # fmt: skip
    main([*call, str(tmp_path / "whole")])
    out = tmp_path / "out"
    for at in (2, 7, 13):
        killed_at_random(
            [*call, str(out)], tmp_path / "log", times=1, spread=0.05,
            begun=lambda at=at: len(list(out.glob("*.txt"))) >= at,
        )  # fmt: skip
    finished = {path.name: path.stat().st_mtime_ns for path in out.glob("*.txt")}
    noted = [name for name in finished if (out / ".levt" / f"{name}.json").exists()]
    assert len(noted) >= len(finished) - 3  # each kill may fall between a shard and its note
    main([*call, str(out)])
    assert contents(out) == contents(tmp_path / "whole")
    assert {name: (out / name).stat().st_mtime_ns for name in noted} == {
        name: finished[name] for name in noted
    }
    lines = [line for path in sorted(out.glob("*.txt")) for line in path.read_text("utf-8").split("\n")[:-1]]
    assert len(lines) == 40


@pytest.mark.fault(
    "kill -9", "convert onnx, random moments", "no folder, or a whole one; run again, it is made"
)
def test_convert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    monkeypatch.setenv("LEVT_THREADS", "1")
    model, out = save_tiny(tmp_path / "model", seed=3), tmp_path / "out"
    call = ["convert", "onnx", str(model), "--out", str(out)]
    for _ in range(3):
        killed_at_random(
            call,
            tmp_path / "log",
            times=1,
            spread=0.3,
            begun=lambda: any(tmp_path.glob(".out.*")) or out.exists(),
        )
        assert not out.exists() or not inspect_folder(out).problems
    main(call)
    assert not inspect_folder(out).problems
    texts = [levt.load(folder, engine=engine, device="cpu").translate("A dog.").text
             for folder, engine in ((out, "onnx"), (model, "torch"))]  # fmt: skip
    assert texts[0] == texts[1]


@pytest.mark.fault(
    "kill -9",
    "serve, with requests on their way",
    "clients get an error, and the same answer from the next server",
)
def test_serve(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    model, log = save_tiny(tmp_path / "model", seed=3), tmp_path / "log"
    expected = levt.load(model, device="cpu").translate("the dog runs").text
    call = ["serve", str(model), "--device", "cpu", "--port", "0"]

    def started() -> tuple[ForkServerProcess, str]:
        log.write_bytes(b"")
        process = begin(command, call, log)
        end = time.monotonic() + 120
        while "listens on" not in log.read_text("utf-8") and time.monotonic() < end:
            time.sleep(0.02)
        return process, next(word for word in log.read_text("utf-8").split() if word.startswith("http://"))

    def answers(address: str, count: int) -> Iterator[str]:
        with Client(address, patience=Patience(retries=0)) as client:
            many = Batches(client, {}, size=4).translate(Item(text="the dog runs") for _ in range(count))
            yield from (one.text for one in many)

    process, address = started()
    try:
        many = answers(address, 10_000)
        assert next(many) == expected
        kill(process)
        with pytest.raises(LevtError, match=r"127\.0\.0\.1"):
            list(many)
        process, address = started()
        assert list(answers(address, 1)) == [expected]
    finally:
        kill(process)
