"""``levt inspect``: true sizes, and damage found."""

import json
from pathlib import Path

import pytest
from saved_folders import SEPARATE, saved

from levt.cli import main
from levt.policy.inspection import inspect_folder


def test_sizes_add_up(tmp_path: Path) -> None:
    model = saved(tmp_path / "m", tokenizers=SEPARATE, training={"steps": 3})
    found = inspect_folder(tmp_path / "m")
    assert found.total == sum(p.numel() for p in model.parameters())
    assert found.parameters["encoder"] == sum(p.numel() for p in model.encoder.parameters())
    assert found.vocabulary == {"target": 15, "source": 11}
    assert found.problems == []
    assert set(found.files) == {"model.safetensors", "tokenizer.json", "source_tokenizer.json"}


def test_the_command_prints_and_verifies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(tmp_path / "m", training={"steps": 3})
    main(["inspect", str(tmp_path / "m")])
    out = capsys.readouterr().out
    for words in ("levt model", "width", "15 pieces", "sha256", "steps", "verified: all checksums"):
        assert words in out
    main(["inspect", str(tmp_path / "m"), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["model"]["kind"] == "levt"
    assert found["total"] == sum(found["parameters"].values())
    assert found["files"]["tokenizer.json"]["problem"] is None


def test_damage_is_printed_and_the_status_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(tmp_path / "m")
    path = tmp_path / "m" / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 64
    path.write_bytes(data)
    with pytest.raises(SystemExit) as caught:
        main(["inspect", str(tmp_path / "m"), "--json"])
    assert caught.value.code == 1
    printed = capsys.readouterr()
    assert "checksum" in json.loads(printed.out)["files"]["model.safetensors"]["problem"]
    assert "problem: model.safetensors: the checksum must be" in printed.err
    with pytest.raises(SystemExit):
        main(["inspect", str(tmp_path / "m")])
    assert "verified" not in capsys.readouterr().out
