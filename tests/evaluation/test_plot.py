"""Plots are written, and a name that says no format is an error."""

import sys
from pathlib import Path

import pytest

from levt.errors import InputError, MissingExtra
from levt.evaluation.plot import iterations, lines, scatter


def test_plots_are_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    scatter({"ours": (2.2, 27.3), "theirs": (43.0, 27.1)}, tmp_path / "a.svg", x="ms", y="BLEU")
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert all(f"<!-- {text} -->" in drawn for text in ("ours", "theirs", "ms", "BLEU"))
    iterations({1: 0.25, 2: 0.75}, tmp_path / "b.png")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")
    iterations({1: 0.25, 2: 0.75}, tmp_path / "d.svg", others={"paper": {1: 0.1, 3: 0.9}})
    drawn = (tmp_path / "d.svg").read_text(encoding="utf-8")
    assert all(f"<!-- {text} -->" in drawn for text in ("ours", "paper", "1", "2", "3"))
    lines({"alone": {1: 20.0, 4: 25.0}}, tmp_path / "c.svg", x="most iterations", y="BLEU")
    drawn = (tmp_path / "c.svg").read_text(encoding="utf-8")
    assert all(f"<!-- {text} -->" in drawn for text in ("alone", "most iterations", "1", "4"))
    assert "<!-- 2 -->" not in drawn
    for bad in (tmp_path / "missing" / "a.png", tmp_path / "a.words"):
        with pytest.raises(InputError, match="cannot write"):
            iterations({1: 1.0}, bad)


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"(?s)matplotlib.*levt\[eval\]"):
        iterations({1: 1.0}, tmp_path / "a.png")
