"""``levt convert onnx``: folders that engines run, and an honest measure of the error."""

from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

import levt
from levt.cli import main
from levt.convert.onnx import convert_onnx
from levt.engine.onnx_folder import inside
from levt.errors import ModelError
from levt.policy.folder import load_folder, save_folder
from levt.policy.inspection import inspect_folder
from tiny_models import save_tiny

TEXT = "Two cats sleep on a warm stone."


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LEVT_THREADS", "1")
    return save_tiny(tmp_path / "model", seed=1)


def test_a_copy_is_a_whole_model(model: Path, tmp_path: Path) -> None:
    expected = levt.load(model, engine="torch", device="cpu").translate(TEXT).text
    out = tmp_path / "out"
    converted = convert_onnx(model, out)
    assert converted.folder == out
    assert all(e.relative < 1e-5 and e.same == 1 for e in converted.errors)
    assert [e.scores for e in converted.errors] == ["delete", "placeholder", "token"]
    small = convert_onnx(model, out, "int8")
    assert inside(out, "float32").is_dir()
    assert 0 < small.bytes < converted.bytes
    assert all(e.relative > 1e-5 for e in small.errors)
    for engine in ("torch", "onnx"):
        assert levt.load(out, engine=engine, device="cpu").translate(TEXT).text == expected
    assert levt.load(out, engine="onnx-int8").translate(TEXT).text
    assert not inspect_folder(out).problems
    assert not (tmp_path / "cache").exists()
    # Again: replaced in place.
    assert convert_onnx(model, out, "int8").bytes == small.bytes


def test_into_the_model_itself(model: Path) -> None:
    assert convert_onnx(model, model).graphs.folder == inside(model, "float32")


def test_a_model_with_graphs_can_be_saved_anew(model: Path) -> None:
    """As by a training whose best model somebody has exported in its place: the graphs were those of the old one."""
    convert_onnx(model, model)
    found = load_folder(model)
    save_folder(model, found.model, found.tokenizers, "a card")
    assert not (model / "onnx").exists()
    # But nothing that somebody put there goes.
    convert_onnx(model, model)
    (model / "onnx" / "notes.txt").write_text("mine")
    with pytest.raises(ModelError, match="it holds onnx, which is no part of a model"):
        save_folder(model, found.model, found.tokenizers, "a card")


def test_without_weights(model: Path, tmp_path: Path) -> None:
    expected = levt.load(model, device="cpu").translate(TEXT).text
    convert_onnx(model, tmp_path / "out", weights=False)
    assert levt.load(tmp_path / "out", engine="onnx").translate(TEXT).text == expected
    with pytest.raises(ModelError, match=r"model.safetensors: left out(.|\n)*--engine onnx"):
        levt.load(tmp_path / "out", device="cpu")


def test_weights_that_are_there_are_not_passed_over(model: Path, tmp_path: Path) -> None:
    """Who asks for a copy without weights is told where there is one with them."""
    whole = tmp_path / "whole"
    convert_onnx(model, whole)
    for folder in (whole, model):
        with pytest.raises(ModelError, match="holds this model with its weights"):
            convert_onnx(model, folder, "int8", weights=False)
    assert not (whole / "onnx" / "int8").exists()


def test_nothing_else_is_replaced(model: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(ModelError, match=r"cannot be replaced: it holds thesis.txt"):
        convert_onnx(model, tmp_path / "out")
    assert (tmp_path / "out" / "thesis.txt").read_text() == "mine"


def test_the_command(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["convert", "onnx", str(model), "--out", str(tmp_path / "out"), "--int8"])
    said = capsys.readouterr()
    assert said.out == ""
    assert "MB" in said.err
    assert said.err.count("scores differ by") == 3
    with pytest.raises(SystemExit) as stopped:
        main(
            [
                "convert",
                "onnx",
                str(save_tiny(tmp_path / "other", "recurrent")),
                "--out",
                str(tmp_path / "new"),
            ]
        )
    assert stopped.value.code == 2
    assert not (tmp_path / "new").exists()
