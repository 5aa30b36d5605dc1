"""The log: JSON lines that a killed run does not spoil."""

import json
from pathlib import Path

import pytest

from levt.training.log import Log, read_log


def test_records_and_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Log(tmp_path / "run") as log:
        log.record("train", 1, loss=2.5, broken=float("nan"))
        log.progress("step 1  [loss] 2.5")
        log.say("[bold]as it is")
    assert read_log(tmp_path / "run" / "log.jsonl") == [
        {"event": "train", "step": 1, "loss": 2.5, "broken": None}
    ]
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "step 1  [loss] 2.5\n[bold]as it is\n"


def test_a_resumed_run_forgets_what_comes_again(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        for step in range(1, 8):
            log.record("train", step, loss=float(step))
    # Killed while it wrote the eighth.
    with (tmp_path / "log.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"event": "train", "st')
    with Log(tmp_path, resumed_at=4) as log:
        log.record("train", 5, loss=50.0)
    found = [(r["step"], r["loss"]) for r in read_log(tmp_path / "log.jsonl")]
    assert found == [(1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0), (5, 50.0)]
    lines = (tmp_path / "log.jsonl").read_text("utf-8").splitlines()
    assert len([json.loads(line) for line in lines]) == 5


def test_only_one_of_many_speaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Log(tmp_path / "run", speaks=False) as log:
        log.record("train", 1, loss=1.0)
        log.progress("x")
        log.say("y")
    assert not (tmp_path / "run").exists()
    assert capsys.readouterr().err == ""


def test_damaged_lines_cost_no_other(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"step": 1}\n{"st\xff\n5\n\0\0\n{"step": 2}\n{"step": 3}\n{"ste')
    assert read_log(path) == [{"step": 1}, {"step": 2}, {"step": 3}]
    with Log(tmp_path, resumed_at=2):
        assert read_log(path) == [{"step": 1}, {"step": 2}]
