"""Clocks that jump: nothing that is kept or resumed depends on what time it is."""

import os
import time
from pathlib import Path

import pytest
from fault_runs import contents, distillation, write_lines

from levt.cli import main
from tiny_models import save_tiny

YEAR = 365 * 24 * 3600


def age(folder: Path, seconds: float) -> None:
    """Let all files be from another time."""
    for path in folder.rglob("*"):
        os.utime(path, (time.time() + seconds,) * 2)


@pytest.mark.fault(
    "the clock jumps a year", "between two runs of distill", "finished pieces count; the same corpus"
)
@pytest.mark.fault(
    "the clock jumps a year",
    "between two runs of translate on shards",
    "finished shards count; the same lines",
)
@pytest.mark.parametrize("seconds", [YEAR, -YEAR])
def test_a_jump_between_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], seconds: float
) -> None:
    model, distill = save_tiny(tmp_path / "model", seed=3), distillation(tmp_path, 8, shard=2)
    translate = ["translate", "--model", str(model), "--input", str(write_lines(tmp_path / "big.txt", 8)),
                 "--shard-lines", "2", "--device", "cpu", "--max-iterations", "1", "--output"]  # fmt: skip
    main([*distill, str(tmp_path / "distilled")])
    main([*translate, str(tmp_path / "translated")])

    class Stop(Exception):
        pass

    def stop(*_: object) -> None:
        raise Stop

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("levt.recipes.distil.assemble", stop)
        patched.setattr("levt.recipes.line_shards.LineShards.close", stop)
        for call, out in ((distill, "a"), (translate, "b")):
            with pytest.raises(Stop):
                main([*call, str(tmp_path / out)])
    (tmp_path / "a.work" / "00001.json").unlink()
    (tmp_path / "b" / ".levt" / "big-00001.txt.json").unlink()
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + seconds)
    age(tmp_path / "a.work", -seconds)
    age(tmp_path / "b", -seconds)
    monkeypatch.setattr(time, "time", lambda: now() - seconds)
    main([*distill, str(tmp_path / "a")])
    capsys.readouterr()
    main([*translate, str(tmp_path / "b")])
    assert "done before: 6 lines" in capsys.readouterr().err
    assert contents(tmp_path / "a") == contents(tmp_path / "distilled")
    assert contents(tmp_path / "b") == contents(tmp_path / "translated")
