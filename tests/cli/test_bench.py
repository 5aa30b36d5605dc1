"""``levt bench``: a table of what was measured, last and alone on stdout."""

import sys
from pathlib import Path

import pytest
import torch

from levt.cli import main
from tiny_models import save_tiny


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LEVT_THREADS", "1")
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    return save_tiny(tmp_path / "model", seed=1)


def bench(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[list[list[str]], str]:
    main(["bench", *map(str, args), "--seconds", "0.01", "--device", "cpu"])
    said = capsys.readouterr()
    return [line.split() for line in said.out.splitlines()], said.err


def test_engines_side_by_side(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    table, said = bench(capsys, model, "--engine", "torch", "onnx", "--batch", 1, 2, "--threads", 1)
    assert [row[:2] for row in table[1:]] == [["torch", "1"], ["onnx", "1"], ["torch", "2"], ["onnx", "2"]]
    for row in table[1:]:
        p50, p95, p99 = map(float, row[4:7])
        assert 0 < p50 <= p95 <= p99
        assert int(row[2]) >= 5
    assert "1 thread," in said
    assert "16 texts" in said


def test_own_texts(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("A dog.\n\nTwo cats.\n", encoding="utf-8")
    table, said = bench(capsys, model, "--input", lines, "--batch", 3, "--max-iterations", 1)
    assert "2 texts" in said
    assert len(table) == 2
    assert float(table[1][8]) == 1.0


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--batch", "0"], "batch must be at least 1, got 0"),
        (["--seconds", "-1"], "seconds must be above 0"),
        (["--seconds", "nan"], "seconds must be above 0"),
        (["--threads", "-2"], "threads must be at least 1"),
        (["--threads", "0"], "threads must be at least 1"),
        (["--engine", "steam"], "engine must be one of"),
        (["--engine"], "engine must be named"),
    ],
)
def test_wrong_flags(model: Path, capsys: pytest.CaptureFixture[str], flags: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["bench", str(model), *flags])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_quality_beside_speed(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, reference = tmp_path / "source", tmp_path / "reference"
    source.write_text("A dog runs.\nTwo boats.\n", encoding="utf-8")
    reference.write_text("Ein Hund läuft.\nZwei Boote.\n", encoding="utf-8")
    table, _ = bench(
        capsys, model, "--input", source, "--reference", reference, "--batch", 2, "--delete-exit", 1
    )
    assert table[0][-1] == "BLEU"
    assert 0 <= float(table[1][-1]) <= 100
    source.write_text("A dog runs.\n\nTwo boats.\n", encoding="utf-8")  # a blank line goes with its reference
    reference.write_text("Ein Hund läuft.\n\nZwei Boote.\n", encoding="utf-8")
    again, said = bench(
        capsys, model, "--input", source, "--reference", reference, "--batch", 2, "--delete-exit", 1
    )
    assert again[1][-1] == table[1][-1]
    assert "2 texts" in said
    reference.write_text("Ein Hund läuft.\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        bench(capsys, model, "--input", source, "--reference", reference)
    assert f"1  {reference}" in capsys.readouterr().err


def test_what_bleu_lacks_is_said_before_anything_is_measured(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "texts").write_text("A dog runs.\n", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(SystemExit):
        bench(capsys, model, "--input", tmp_path / "texts", "--reference", tmp_path / "texts")
    said = capsys.readouterr().err
    assert "the package 'sacrebleu' is not installed" in said
    assert "batch 1:" not in said
