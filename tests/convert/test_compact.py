"""`levt convert compact`: the same model in less space, whole, and still the same text."""

import json
from pathlib import Path

import pytest

from levt.cli import main
from levt.convert.compact import compact
from levt.engine.model import load
from levt.policy.inspection import inspect_folder
from tiny_models import save_tiny


@pytest.mark.parametrize("dtype", ["int4", "int8", "float16"])
def test_the_copy_is_smaller_whole_and_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], dtype: str
) -> None:
    folder = save_tiny(tmp_path / "model")
    (folder / "README.md").write_text("a card somebody wrote\n", encoding="utf-8")
    main(["convert", "compact", str(folder), "--out", str(tmp_path / "small"), "--dtype", dtype])
    assert "weights differ by" in capsys.readouterr().err
    small = tmp_path / "small"
    assert (small / "README.md").read_text("utf-8") == "a card somebody wrote\n"
    assert json.loads((small / "config.json").read_text("utf-8"))["dtype"] == dtype
    found = inspect_folder(small)
    assert found.problems == []
    assert found.total == inspect_folder(folder).total, "scales are no parameters"
    sizes = [(path / "model.safetensors").stat().st_size for path in (folder, small)]
    assert sizes[1] < (0.6 if dtype == "float16" else 0.45) * sizes[0]
    old, new = load(folder), load(small)
    texts = ["A dog runs over the snow.", "Two cats sleep.", "Is this (really) the 10th try?"]
    # Weights are random here, so decisions are close calls: what must be the same is that it runs, again and again.
    assert [r.text for r in new.translate(texts)] == [r.text for r in load(small).translate(texts)]
    assert len(old.translate(texts)) == 3


@pytest.mark.parametrize("place", ["model", "link", "model/../model"])
def test_the_original_is_not_replaced(tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = save_tiny(tmp_path / "model")
    (tmp_path / "link").symlink_to(folder)
    before = (folder / "model.safetensors").read_bytes()
    with pytest.raises(SystemExit):
        main(["convert", "compact", str(folder), "--out", str(tmp_path / place)])
    said = capsys.readouterr().err
    assert "is the model itself, whose weights would be lost\nhint: choose another folder" in said
    assert (folder / "model.safetensors").read_bytes() == before


def test_a_copy_of_before_is_replaced(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model")
    halves = compact(folder, tmp_path / "small", "float16")
    assert compact(folder, tmp_path / "small", "int8").after < halves.after < halves.before


def test_it_replaces_no_stranger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = save_tiny(tmp_path / "model")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["convert", "compact", str(folder), "--out", str(tmp_path / "mine")])
    assert "cannot be replaced" in capsys.readouterr().err
    assert (tmp_path / "mine" / "letter.txt").exists()
