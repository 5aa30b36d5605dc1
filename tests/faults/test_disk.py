"""Disks that are full or cannot be written: a clear error, nothing half-done that counts, and it goes on with room."""

import shutil
from pathlib import Path

import pytest
from fault_runs import contents, corpus, distillation, mounted, refused, write_lines

from levt.cli import main
from levt.data.store import Store
from tiny_models import TOKENIZERS, save_tiny


@pytest.mark.fault(
    "full disk", "prepare", "an error that says so; nothing is left behind, and with room it is made"
)
def test_full_for_prepare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(write_lines(tmp_path / f"train.{side}", 4_000, seed)) for seed, side in enumerate("ab")]
    TOKENIZERS.target.save(tmp_path / "tokenizer.json")
    with mounted(tmp_path / "disk", "-o", "size=96k") as disk:
        call = ["prepare", "--train", *files, "--tokenizer", str(tmp_path / "tokenizer.json"), "--out"]
        said = refused([*call, str(disk / "out")], capsys)
        assert "cannot be written: No space left on device" in said
        assert "hint: nothing was left behind" in said
        assert not list(disk.iterdir())
    main([*call, str(tmp_path / "out")])
    assert len(Store.open(tmp_path / "out" / "train")) == 4_000


@pytest.mark.fault(
    "full disk",
    "translate on shards",
    "an error that says so; finished shards stay, and with room it goes on",
)
def test_full_for_translate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = save_tiny(tmp_path / "model", seed=3)
    source = write_lines(tmp_path / "big.txt", 16)
    call = ["translate", "--model", str(model), "--input", str(source), "--shard-lines", "2", "--device", "cpu",
            "--max-iterations", "1", "--output"]  # fmt: skip
    main([*call, str(tmp_path / "whole")])
    with mounted(tmp_path / "disk", "-o", "size=200k") as disk:
        # A disk of 50 pages: each shard takes some for itself and for its note.
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(176_000))
        said = refused([*call, str(disk / "out")], capsys)
        assert "No space left on device\nhint: " in said
        done = len(list((disk / "out" / ".levt").glob("big*.json")))
        assert done < 8
        ballast.unlink()
        main([*call, str(disk / "out")])
        assert (f"done before: {2 * done} lines" in capsys.readouterr().err) == (done > 0)
        assert contents(disk / "out") == contents(tmp_path / "whole")


@pytest.mark.fault(
    "full disk", "distill", "an error that says so; finished pieces stay, and with room it goes on"
)
def test_full_for_distill(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = distillation(tmp_path, 12, shard=1)
    main([*call, str(tmp_path / "whole")])
    with mounted(tmp_path / "disk", "-o", "size=400k") as disk:
        (disk / "ballast").write_bytes(bytes(370_000))
        said = refused([*call, str(disk / "out")], capsys)
        assert "No space left on device" in said
        assert not (disk / "out").exists()
        (disk / "ballast").unlink()
        main([*call, str(disk / "out")])
        assert contents(disk / "out") == contents(tmp_path / "whole")


@pytest.mark.fault(
    "read-only folder", "prepare, translate on shards, distill, convert", "an error that says so"
)
def test_read_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A disk that is mounted so: permissions do not bind root, who may run the tests."""
    model = str(save_tiny(tmp_path / "model"))
    teacher = str(save_tiny(tmp_path / "teacher", "autoregressive", max_length=32))
    file, prepared = str(write_lines(tmp_path / "a.txt", 3)), str(corpus(tmp_path, 3))
    with mounted(tmp_path / "disk", "-o", "ro") as disk:
        for call in (
            ["prepare", "--train", file, file, "--out"],
            ["translate", "--model", model, "--device", "cpu", "--input", file, "--output"],
            ["distill", teacher, prepared, "--device", "cpu", "--out"],
            ["convert", "onnx", model, "--out"],
        ):
            assert "Read-only file system" in refused([*call, str(disk / "out")], capsys), call[0]


@pytest.mark.fault("a folder removed", "under translate on shards", "an error that says so")
def test_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    model = save_tiny(tmp_path / "model", seed=3)
    source = write_lines(tmp_path / "a.txt", 4)
    monkeypatch.setattr(
        "levt.recipes.line_shards.LineShards.forget_damaged",
        lambda self: shutil.rmtree(tmp_path / "out") or 0,
    )
    call = ["translate", "--model", str(model), "--input", str(source), "--device", "cpu", "--output"]
    assert "No such file or directory" in refused([*call, str(tmp_path / "out")], capsys)
