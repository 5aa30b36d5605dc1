"""``levt distill`` and ``levt chain`` as a user calls them, killed at any moment and run again."""

import filecmp
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runs import finish, kill, start, toy, wait_for

import levt
from levt.cli import main
from levt.data.preparation import Preparation
from levt.data.prepare import prepare
from levt.data.read import corpora
from levt.data.store import Store
from levt.training.log import read_log


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a toy teacher in ``ar/best``, and a corpus ``other`` of another vocabulary."""
    found = toy(tmp_path_factory.mktemp("toy"))
    pair = corpora([found / "train.tgt", found / "train.src"])
    prepare(found / "other", {"train": pair}, Preparation(vocabulary=290))
    before = Path.cwd()
    os.chdir(found)
    try:
        main(["train", "toy.py:ar"])
    finally:
        os.chdir(before)
    return found


def same(one: Path, two: Path) -> bool:
    names = [sorted(p.relative_to(top) for p in top.rglob("*") if p.is_file()) for top in (one, two)]
    return names[0] == names[1] and all(filecmp.cmp(one / n, two / n, shallow=False) for n in names[0])


def pieces(work: Path) -> Callable[[int], bool]:
    return lambda number: len(list(work.glob("0*.json"))) >= number


def test_typical_call(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    main("distill ar/best corpus --out typical --beam 2 --json".split())  # noqa: SIM905
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert report["examples"] == 80
    assert "typical: 80 examples" in shown.err
    for reason, count in report["kept"].items():
        assert f"  {count} kept their reference: {reason}" in shown.err
    assert len(Store.open("typical/train")) == 80
    main("distill ar/best corpus --out typical --beam 2".split())  # noqa: SIM905
    with pytest.raises(SystemExit) as stop:
        main("distill ar/best corpus --out typical --beam 3".split())  # noqa: SIM905
    assert stop.value.code == 2
    assert "error: typical exists already and was not made" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("distill nowhere corpus --out x", "nowhere"),
        ("distill ar/best nowhere --out x", "nowhere"),
        ("distill ar/best corpus --out x --beam 0", "beam must be at least 1, got 0"),
        ("distill ar/best corpus --out x --processes 0", "processes must be at least 1, got 0"),
        ("chain toy.py:ar", "a chain needs two recipes"),
        ("chain toy.py:ar nothing", "unknown recipe 'nothing'"),
        (
            "chain toy.py:ar toy.py:levt --corpus corpus --out x --student.model.max-length 4",
            "longest source of",
        ),
        (
            "chain toy.py:ar toy.py:levt --corpus corpus --out x --student.more other",
            "has another vocabulary",
        ),
    ],
)
def test_mistakes_end_with_a_message(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    call: str,
    message: str,
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as stop:
        main(call.split())
    assert stop.value.code == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert not (folder / "x").exists()


def assert_gone(process: "subprocess.Popen[str]") -> None:
    """Nobody of a process group is left, soon after its first process has died."""
    process.wait()
    try:
        for _ in range(600):
            time.sleep(0.1)
            os.killpg(process.pid, 0)
        raise AssertionError("children outlive their parent")
    except ProcessLookupError:
        pass
    finally:
        kill(process)


@pytest.mark.slow
def test_killed_at_any_moment_it_gives_the_same_corpus(folder: Path) -> None:
    """With kill -9 to all processes, and to the first alone while its children live; then run again."""
    command = "distill ar/best corpus --beam 4 --shard 2 --out"
    finish(start(folder, *command.split(), "uninterrupted"))
    rng = random.Random()
    reached, at = pieces(folder / "killed.work"), 0
    orphans: list[subprocess.Popen[str]] = []
    for processes in ("1", "2", "3"):
        at += rng.randint(2, 8)
        process = start(folder, *command.split(), "killed", "--processes", processes)
        wait_for(process, lambda at=at: reached(at) or (folder / "killed").exists())
        if processes == "2":
            os.kill(process.pid, signal.SIGKILL)  # its children go on to the end of their piece
            orphans.append(process)
        else:
            kill(process)
    assert (folder / "killed.work").exists() != (folder / "killed").exists()
    # Two commands at once share what is left.
    both = [start(folder, *command.split(), "killed") for _ in range(2)]
    for process in both:
        assert "killed: 80 examples" in finish(process)
    for process in orphans:
        assert_gone(process)
    assert same(folder / "uninterrupted", folder / "killed")
    assert not (folder / "killed.work").exists()
    Store.open(folder / "killed" / "train").verify()


@pytest.mark.slow
def test_a_chain_stops_goes_on_and_skips_what_is_done(folder: Path) -> None:
    command = ["chain", "toy.py:ar", "toy.py:levt", "--out", "chain", "--distillation.beam", "1"]
    process = start(folder, *command)
    log = folder / "chain" / "teacher" / "log.jsonl"
    assert wait_for(process, lambda: log.exists() and len(read_log(log)) > 4)
    process.send_signal(signal.SIGTERM)
    said = finish(process)
    assert "stopped; run again to go on" in said
    assert not (folder / "chain" / "corpus").exists()

    said = finish(start(folder, *command))
    for words in ("teacher: training in", "resuming at step", "distilling to", "student: chain/student/best"):
        assert words in said
    assert levt.load(folder / "chain" / "student" / "best").kind == "levt"
    assert len(Store.open(folder / "chain" / "corpus" / "train")) == 80

    said = finish(start(folder, *command))
    assert "teacher: done" in said
    assert "student: done" in said
    assert "step" not in said
    # Another student of the same teacher: only the student is new.
    said = finish(start(folder, *command, "--student.training.max-steps", "33"))
    assert "teacher: done" in said
    assert "resuming at step 30" in said


@pytest.mark.slow
def test_a_chain_of_two_processes(folder: Path) -> None:
    """Both train the teacher, share the decoding and train the student; one of them speaks."""
    command = ["chain", "toy.py:ar", "toy.py:levt", "--out", "both", "--distillation.shard", "5"]
    short = ["--teacher.training.max-steps", "6", "--student.training.max-steps", "6"]
    said = finish(start(folder, *command, *short, processes=2))
    assert said.count("student: both/student/best") == 1
    assert len(Store.open(folder / "both" / "corpus" / "train")) == 80
    assert not (folder / "both" / "corpus.work").exists()
    assert levt.load(folder / "both" / "student" / "best").kind == "levt"


def test_a_chain_decides_where_everything_lies(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("--teacher.corpus", "--teacher.out", "--student.corpus", "--student.out"):
        with pytest.raises(SystemExit):
            main(["chain", "multi30k-ar", "multi30k-levt", flag, "elsewhere"])
        said = capsys.readouterr().err
        assert f"error: {flag} cannot be chosen" in said
        assert "hint: --corpus and --out" in said


def test_help_of_a_chain(capsys: pytest.CaptureFixture[str]) -> None:
    main(["chain", "--help"])
    assert "usage: levt chain TEACHER STUDENT" in capsys.readouterr().out
