"""benchmarks/refinement.py at toy size: every table is there, and terms appear whatever the model is."""

import runpy
import sys
from pathlib import Path

import pytest

from tiny_models import save_tiny

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "refinement.py"


def test_every_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test.en").write_text("the yellow house\na small dog runs\n", "utf-8")
    (tmp_path / "test.de").write_text("das gelbe Haus steht\nein kleiner Hund läuft\n", "utf-8")
    student, teacher = save_tiny(tmp_path / "student"), save_tiny(tmp_path / "teacher", "autoregressive")
    flags = [student, tmp_path / "test.en", tmp_path / "test.de", "--teacher", teacher, "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *map(str, flags)])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    page = capsys.readouterr().out
    for words in (
        "2 sentences", "from nothing", "teacher, beam 4", "draft, 10% wrong", "draft, 30% wrong", "min_edit 0.9",
        "words it lacked", "batch 64", "nrefs:1", "tok:tercom",
    ):  # fmt: skip
        assert words in page, words
    [present] = [line for line in page.splitlines() if line.startswith("| present % ")]
    assert present.count("100.00") == 2, present
