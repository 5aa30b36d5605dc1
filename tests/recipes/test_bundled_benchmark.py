"""benchmarks/bundled.py at toy size: decode, score, and drafts that are as bad as they are said to be."""

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest
from toy_corpus import toy_corpus

from tiny_models import TOKENIZERS, save_tiny

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "bundled.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bundled_benchmark", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


def test_decode_and_score(
    benchmark: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = toy_corpus(tmp_path, tokenizer=TOKENIZERS.target)
    student, teacher = save_tiny(tmp_path / "student"), save_tiny(tmp_path / "teacher", "autoregressive")
    out = tmp_path / "decoded.json.xz"
    flags = ["--corpus", corpus, "--student", student, "--teacher", teacher, "--out", out, "--device", "cpu"]
    monkeypatch.setattr(
        sys, "argv", ["bundled.py", "decode", *map(str, flags), "--limit", "3", "--penalties", "0"]
    )
    benchmark.main()
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["bundled.py", "score", str(out)])
    benchmark.main()
    page = capsys.readouterr().out
    for words in (
        "### test: 3 sentences", "teacher, greedy", "teacher, beam 4", "LevT, CPU, torch", "TER", "repeated %",
        "iterations", "| test | 10% | LevT, CPU, torch | ", "| test | 30% | LevT, CPU, torch, min_edit 0.7 | ",
        "| test | LevT, CPU, torch | ", "nrefs:1",
    ):  # fmt: skip
        assert words in page, words
    monkeypatch.setattr(sys, "argv", ["bundled.py", "card", str(out), "--model", str(student)])
    benchmark.main()
    assert "teacher, beam 4 | BLEU" in (student / "README.md").read_text("utf-8")


def test_drafts_are_corrupted_at_their_rate(benchmark: ModuleType) -> None:
    rng = random.Random(0)
    words = [f"w{i}" for i in range(1000)]
    text = " ".join(words)
    assert benchmark.corrupted(text, 0.0, ["x"], rng) == text
    found = benchmark.corrupted(text, 0.3, ["x"], rng).split(" ")
    assert 40 < found.count("x") < 110
    assert 40 < len(set(words) - set(found)) - found.count("x") < 110, "missing"
    assert 40 < len(found) - len(set(found)) - found.count("x") + 1 < 110, "twice"
    assert [w for w in dict.fromkeys(found) if w != "x"] != [w for w in words if w in set(found)], "moved"
