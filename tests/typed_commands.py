"""Command lines of levt as somebody types them, with some bytes on stdin."""

import io
import sys

import pytest

from levt.cli import main


class Shell:
    """Runs them, all with the same first words, and gives what they write and what they say."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], *first: str
    ) -> None:
        self.monkeypatch, self.captured, self.first = monkeypatch, capfdbinary, first

    def __call__(self, stdin: bytes | str, *argv: str, status: int = 0) -> tuple[bytes, str]:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        if status:
            with pytest.raises(SystemExit) as ended:
                main([*self.first, *argv])
            assert ended.value.code == status
        else:
            main([*self.first, *argv])
        out, err = self.captured.readouterr()
        return out, err.decode()
