"""``levt serve``: what keeps it from starting is said in a line. That it serves is tested in tests/serving."""

import sys
from pathlib import Path

import pytest

from levt.cli import main
from levt.cli.serve import read_token
from levt.errors import ConfigError
from tiny_models import save_tiny


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["serve", *argv])
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_without_its_packages(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    assert "pip install 'levt[serve]'" in refused(capsys, "folder")


def test_what_cannot_be_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no model" in refused(capsys, "nothing-here")
    other = save_tiny(tmp_path / "other", "autoregressive")
    assert "of kind autoregressive cannot be served" in refused(capsys, str(other), "--device", "cpu")
    levt = str(save_tiny(tmp_path / "levt"))
    assert "port must be between" in refused(capsys, levt, "--device", "cpu", "--port", "99999")
    assert "is not an address" in refused(capsys, levt, "--device", "cpu", "--host", "no.such.host.invalid")
    assert "queue must be at least 1" in refused(capsys, levt, "--queue", "0")


@pytest.mark.parametrize("content", [b"", b"two words", b"\xff", "gehéim".encode()])
def test_tokens_that_are_none(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="token file"):
        read_token(file)
    file.write_bytes(b" secret\n")
    assert read_token(file) == "secret"
