"""Folders of graphs: found, written once, checked, mended; and how many threads there are to run them."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

import levt
from levt.convert.onnx import convert_onnx
from levt.engine.onnx_folder import (
    FORMAT,
    KEPT,
    PrecisionName,
    cached,
    find_graphs,
    identity,
    inside,
    write_graphs,
)
from levt.engine.onnx_network import passes
from levt.engine.onnx_sessions import Sessions, allowed_cores, physical_cores, thread_count
from levt.errors import ConfigError, ModelError
from levt.policy.folder import open_folder
from levt.policy.folder_config import MANIFEST
from tiny_models import TOKENIZERS, save_tiny


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LEVT_THREADS", "1")
    return save_tiny(tmp_path / "model", seed=1)


def test_written_once_and_mended(model: Path) -> None:
    config = open_folder(model)
    place = cached(config, "float32")
    assert not place.exists()
    assert find_graphs(model, config, "float32").folder == place
    written = (place / MANIFEST).stat().st_mtime_ns
    find_graphs(model, config, "float32")
    assert (place / MANIFEST).stat().st_mtime_ns == written
    whole = (place / "weights.bin").read_bytes()
    for damage in (whole[:-1], bytes([whole[0] ^ 1]) + whole[1:]):
        (place / "weights.bin").write_bytes(damage)
        find_graphs(model, config, "float32")
        assert (place / "weights.bin").read_bytes() == whole
    (place / "encode.onnx").unlink()
    find_graphs(model, config, "float32")
    assert (place / "encode.onnx").is_file()


def test_another_model_has_another_place(model: Path, tmp_path: Path) -> None:
    other = save_tiny(tmp_path / "other", seed=2)
    assert cached(open_folder(model), "int8") != cached(open_folder(other), "int8")
    assert cached(open_folder(model), "int8") != cached(open_folder(model), "float32")


def test_what_graphs_are_made_from_says_where_they_lie(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other weights, other settings of the same weights, another version of the graphs: each has its own."""
    config = open_folder(model)
    weights = replace(config.files["model.safetensors"], sha256="0" * 64)
    others = [
        config,
        replace(config, files={**config.files, "model.safetensors": weights}),
        replace(config, model=replace(config.model, max_length=63)),
    ]
    found = {identity(other) for other in others}
    monkeypatch.setattr("levt.engine.onnx_folder.FORMAT", FORMAT + 1)
    assert len(found | {identity(other) for other in others}) == 6


def test_each_precision_is_written_as_itself(model: Path) -> None:
    for precision in get_args(PrecisionName):
        graphs = find_graphs(model, open_folder(model), precision)
        assert graphs.folder.name == precision
        manifest = json.loads((graphs.folder / MANIFEST).read_text("utf-8"))
        assert manifest["precision"] == precision
        sizes = {name: one["bytes"] for name, one in manifest["files"].items()}
        assert sizes == {p.name: p.stat().st_size for p in graphs.folder.iterdir() if p.name != MANIFEST}
    exact, small = (cached(open_folder(model), name) / "weights.bin" for name in ("float32", "int8"))
    assert small.read_bytes() != exact.read_bytes()


def test_a_cache_that_cannot_be_tidied_is_used(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("levt.engine.onnx_folder.os.utime", refuse)
    assert find_graphs(model, open_folder(model), "float32").folder.is_dir()


def test_the_cache_forgets_what_was_used_longest_ago(model: Path, tmp_path: Path) -> None:
    config = open_folder(model)
    root = cached(config, "float32").parent.parent
    for i in range(KEPT + 2):
        (root / f"old{i}").mkdir(parents=True)
        os.utime(root / f"old{i}", (i, i))
    (root / "note").write_text("no model")
    find_graphs(model, config, "float32")
    left = {path.name for path in root.iterdir() if path.is_dir()}
    assert left == {cached(config, "float32").parent.name, *(f"old{i}" for i in range(3, KEPT + 2))}
    # What is used is young again.
    os.utime(cached(config, "float32").parent, (0, 0))
    find_graphs(model, config, "float32")
    assert cached(config, "float32").parent.stat().st_mtime > 1


def test_graphs_inside_the_model_come_first_and_must_be_whole(model: Path, tmp_path: Path) -> None:
    config, place = open_folder(model), inside(model, "float32")
    write_graphs(place, model, "float32")
    assert find_graphs(model, config, "float32").folder == place
    assert not (tmp_path / "cache").exists()
    # The weights themselves are not needed any more.
    expected = levt.load(model, device="cpu").translate("A dog.").text
    (model / "model.safetensors").unlink()
    assert levt.load(model, engine="onnx").translate("A dog.").text == expected

    (place / "delete.onnx").write_bytes(b"")
    (place / "token.onnx").unlink()
    with pytest.raises(ModelError, match="2 problems") as error:
        levt.load(model, engine="onnx")
    assert error.value.hint == "write them again: `levt convert onnx MODEL`"
    manifest = json.loads((place / MANIFEST).read_text())
    (place / MANIFEST).write_text(json.dumps({**manifest, "of": "0" * 64}))
    with pytest.raises(ModelError, match="of another model, or of another version"):
        levt.load(model, engine="onnx")
    (place / MANIFEST).write_text(json.dumps({**manifest, "files": {}}))
    with pytest.raises(ModelError, match=r"delete\.onnx: graphs\.json has no checksum of it"):
        levt.load(model, engine="onnx")
    elsewhere = {f"../float32/{name}": record for name, record in manifest["files"].items()}
    (place / MANIFEST).write_text(json.dumps({**manifest, "files": elsewhere}))
    with pytest.raises(ModelError, match=r"\.\./float32/delete\.onnx: a graph must lie in this folder"):
        levt.load(model, engine="onnx")
    (place / MANIFEST).write_text("[" * 100_000)
    with pytest.raises(ModelError, match=r"graphs\.json cannot be read"):
        levt.load(model, engine="onnx")
    (place / MANIFEST).write_bytes(b"\xff")
    with pytest.raises(ModelError, match=r"cannot be read: not UTF-8 \(invalid start byte at byte 0\)"):
        levt.load(model, engine="onnx")
    for wrong in (
        "[]",
        "{",
        "{}",
        '{"files": [], "chains": {}, "of": ""}',
        '{"files": {"a": 1}, "chains": {}, "of": ""}',
    ):
        (place / MANIFEST).write_text(wrong)
        with pytest.raises(ModelError, match="cannot be read"):
            levt.load(model, engine="onnx")


@pytest.mark.parametrize("kind", ["levt", "autoregressive"])
def test_every_pass_has_its_graphs(model: Path, tmp_path: Path, kind: str) -> None:
    model = save_tiny(tmp_path / kind, kind)
    graphs = write_graphs(inside(model, "float32"), model, "float32")
    manifest = json.loads((graphs.folder / MANIFEST).read_text())
    assert sorted(manifest["chains"]) == sorted(passes(open_folder(model).model))
    for name in manifest["chains"]:
        for chains in (
            {k: v for k, v in manifest["chains"].items() if k != name},
            {**manifest["chains"], name: []},
        ):
            (graphs.folder / MANIFEST).write_text(json.dumps({**manifest, "chains": chains}))
            with pytest.raises(
                ModelError, match=rf"graphs\.json names no graphs of the pass {name}\nhint: write"
            ):
                levt.load(model, engine="onnx")


def test_a_cache_that_cannot_be_written(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="cannot be written to") as error:
        levt.load(model, engine="onnx")
    assert "XDG_CACHE_HOME" in str(error.value.hint)
    assert "[Errno" not in str(error.value)


def test_damaged_tokenizers_are_found(model: Path) -> None:
    levt.load(model, engine="onnx")
    (model / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match=r"tokenizer.json: must have \d+ bytes"):
        levt.load(model, engine="onnx")


@pytest.mark.parametrize("weights", [True, False])
def test_an_exported_tokenizer_has_its_checksum(model: Path, tmp_path: Path, weights: bool) -> None:
    """Two pieces that change places leave the size as it was, and every text wrong."""
    out = convert_onnx(model, tmp_path / "out", weights=weights).folder
    levt.load(out, engine="onnx")
    text = (out / "tokenizer.json").read_text("utf-8")
    a, b = (TOKENIZERS.target.encode(word)[-1] for word in ("xy", "xz"))
    changed = text.replace(f'"y":{a}', f'"y":{b}').replace(f'"z":{b}', f'"z":{a}')
    assert changed != text
    assert len(changed.encode()) == len(text.encode())
    (out / "tokenizer.json").write_text(changed, "utf-8")
    with pytest.raises(ModelError, match=r"tokenizer\.json: the checksum must be \w{12}…, is") as error:
        levt.load(out, engine="onnx")
    assert "copy or download it again" in str(error.value.hint)


def test_threads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LEVT_THREADS", raising=False)
    assert 1 <= thread_count() <= physical_cores()
    limit = tmp_path / "cpu.max"
    for text, cores in (("150000 100000\n", 2), ("100000 100000", 1), ("1000 100000", 1)):
        limit.write_text(text)
        assert allowed_cores(limit) == cores
    limit.write_text("max 100000")
    assert allowed_cores(limit) > 1000
    assert allowed_cores(tmp_path / "none") > 1000


@pytest.mark.parametrize("least", ["torch.get_num_threads", "physical_cores", "allowed_cores"])
def test_as_many_threads_as_the_least_allows(monkeypatch: pytest.MonkeyPatch, least: str) -> None:
    monkeypatch.delenv("LEVT_THREADS", raising=False)
    for name in ("torch.get_num_threads", "physical_cores", "allowed_cores"):
        count = 3 if name == least else 5
        monkeypatch.setattr(f"levt.engine.onnx_sessions.{name}", lambda count=count: count)
    assert thread_count() == 3


@pytest.mark.parametrize("wrong", ["0", "-1", "1.5", "", "many"])
def test_no_number_of_threads(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("LEVT_THREADS", wrong)
    with pytest.raises(
        ConfigError, match=f"LEVT_THREADS must be a whole number of at least 1, got '{wrong}'"
    ):
        thread_count()


def test_a_session_has_the_threads_it_is_given(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEVT_THREADS", "2")
    graphs = find_graphs(model, open_folder(model), "float32")
    for threads, expected in ((None, 2), (3, 3)):
        session, *_ = Sessions(graphs, threads=threads).open("delete")
        assert session.get_session_options().intra_op_num_threads == expected
