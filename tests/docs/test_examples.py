"""The examples run from beginning to end, with a few steps of training instead of hundreds."""

import runpy
import sys
from pathlib import Path

import pytest
from page_shell import ROOT

EXAMPLES = ROOT / "examples"
SMALL = {
    "typo_repair": (["--steps", "6", "--sentences", "400"], ["edits.html"]),
    "translate_with_terms": (["--steps", "6", "--sentences", "300"], ["edits.html"]),
    "post_edit_another_system": (["--steps", "4", "--sentences", "200"], []),
    "algorithms_step_by_step": (
        ["--steps", "6", "--words", "300"],
        ["algorithm1.png", "algorithm2.png"],
    ),
}
"""Flags that make each small, and what it leaves behind."""
PARTS = {"toy_pair", "toy_model", "word_for_word"}
"""What the others are made of."""


def test_every_example_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*SMALL, *PARTS}


@pytest.mark.parametrize("name", SMALL)
def test_an_example_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flags, left = SMALL[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setattr(sys, "argv", [name, "--out", "out", "--unseen", "4", *flags])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out
    for file in left:
        assert (tmp_path / "out" / file).stat().st_size > 1_000, file


def test_every_example_says_how_it_is_run_and_has_cells() -> None:
    for path in EXAMPLES.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.stem in SMALL:
            assert f"python examples/{path.name}" in text, path.name
            assert text.count("\n# %%") >= 4, path.name
