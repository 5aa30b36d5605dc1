"""``levt serve``: what keeps it from starting is said in a line. That it serves is tested in tests/serving."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from levt.cli import main
from levt.cli._model import DEFAULT
from levt.cli.serve import read_token
from levt.errors import ConfigError
from levt.policy import hub
from levt.serving.client import Client
from levt.serving.gate import Gate
from tiny_models import save_tiny


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["serve", *argv])
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_without_its_packages(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    assert "pip install 'levt[serve]'" in refused(capsys, "folder")


def test_without_a_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The bundled one is meant; where none is bundled that is said, and how to name another."""
    monkeypatch.setattr(hub, "BUNDLED", tmp_path / "models")
    told = refused(capsys)
    assert f"the default model {DEFAULT!r} is not bundled" in told
    assert "hint: name one: levt serve FOLDER" in told
    save_tiny(tmp_path / "models" / DEFAULT, "autoregressive")
    assert "of kind autoregressive cannot be served" in refused(capsys, "--device", "cpu")


def test_what_cannot_be_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no model" in refused(capsys, "nothing-here")
    other = save_tiny(tmp_path / "other", "autoregressive")
    assert "of kind autoregressive cannot be served" in refused(capsys, str(other), "--device", "cpu")
    levt = str(save_tiny(tmp_path / "levt"))
    assert "port must be between" in refused(capsys, levt, "--device", "cpu", "--port", "99999")
    assert "is not an address" in refused(capsys, levt, "--device", "cpu", "--host", "no.such.host.invalid")
    assert "queue must be at least 1" in refused(capsys, levt, "--queue", "0")
    assert "threads must be at least 1" in refused(capsys, levt, "--threads", "0")
    assert "cannot be read" in refused(capsys, levt, "--token-file", str(tmp_path / "nothing"))
    assert "device must be" in refused(capsys, levt, "--device", "abacus")


@pytest.mark.parametrize("content", [b"", b"two words", b"\xff", "gehéim".encode()])
def test_tokens_that_are_none(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="token file"):
        read_token(file)
    file.write_bytes(b" secret\n")
    assert read_token(file) == "secret"


def spoken(process: "subprocess.Popen[str]") -> str:
    assert process.stderr is not None
    return process.stderr.readline()


def test_it_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    """A model folder, a token, another host: as a person starts it, and ends it."""
    folder, secret = save_tiny(tmp_path / "small"), tmp_path / "secret"
    secret.write_text("sesame\n")
    command = [sys.executable, "-m", "levt", "serve", str(folder), "--port", "0", "--host", "0.0.0.0",
               "--device", "cpu", "--token-file", str(secret), "--max-texts", "2", "--rows", "1"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = spoken(process)
        assert line.startswith("levt listens on http://127.0.0.1:")
        address = line.split()[3]
        with Client(address, token="sesame") as client:
            told = client.models()
            assert told["models"][0]["name"] == "small"
            assert told["limits"]["texts"] == 2
            assert client.ask("POST", "/v1/translate", {"text": "A dog."})["results"]
        with Client(address) as stranger, pytest.raises(ConfigError, match="asks for a token"):
            stranger.models()
    finally:
        process.send_signal(signal.SIGTERM)
        told_at_the_end = process.communicate(timeout=120)
    assert told_at_the_end == ("", "")
    assert process.returncode == 0


def test_who_lets_others_in_without_a_token_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Begun:
        def run(self, sockets: object) -> None:
            pass

    monkeypatch.setattr("levt.serving.server.make_server", lambda gate, begun: begun() or Begun())
    threads = torch.get_num_threads()
    try:
        for flags, warned in ((["--host", "0.0.0.0"], True), ([], False)):
            main(["serve", str(save_tiny(tmp_path / "small")), "--device", "cpu", "--port", "0", *flags])
            out, err = capsys.readouterr()
            assert out == ""
            assert ("anyone who can reach 0.0.0.0" in err) == warned
            assert "levt listens on http://127.0.0.1:" in err
    finally:
        torch.set_num_threads(threads)


def test_it_answers_to_the_address_that_it_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    class Begun:
        def run(self, sockets: object) -> None:
            pass

    def made(gate: Gate, begun: object) -> Begun:
        found.append(gate.hosts)
        return Begun()

    monkeypatch.setattr("levt.serving.server.make_server", made)
    threads, flags = torch.get_num_threads(), ["--device", "cpu", "--port", "0"]
    try:
        for more in ([], ["--allow-host", "Example.org"], ["--host", "127.0.0.2"], ["--host", "127.1"]):
            main(["serve", str(save_tiny(tmp_path / "small")), *flags, "--host", "0.0.0.0", *more])
    finally:
        torch.set_num_threads(threads)
    everybody, some, other, short = found
    assert everybody is None
    assert some >= {"127.0.0.1", "localhost", "example.org"}
    # Loopback however it is spelt: a page whose own name points here is not answered.
    assert other == {"127.0.0.2", "127.0.0.1", "localhost", "::1"}
    assert short == {"127.1", "127.0.0.1", "localhost", "::1"}
