"""From a parallel corpus to a store of triples, as a user types it."""

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from levt.cli import main
from levt.data.store import Store


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    english = [f"a {colour} house with {i} doors" for i in range(60) for colour in ("red", "blue")]
    german = [f"ein {colour} Haus mit {i} Türen" for i in range(60) for colour in ("rotes", "blaues")]
    for name, lines in (("train.en", english), ("train.de", german)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_halves_drafts_prepare(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["synthesize", "halves", "--train", "train.en", "train.de", "--out", "halves"])
    second = "halves/second/source.txt halves/second/target.txt"
    box = "command:sed 's/house/Haus/; s/doors/Türen/; s/^a /ein /'"
    main([*f"synthesize drafts --train {second} --out triples".split(), "--black-box", box])
    files = " ".join(f"triples/{name}.txt" for name in ("source", "draft", "target"))
    main(f"prepare --draft --train {files} --vocabulary 350 --out store".split())
    store = Store.open(corpus / "store/train")
    assert store.has_draft
    assert len(store) == len((corpus / "halves/second/source.txt").read_text("utf-8").splitlines())
    assert "triples" in capsys.readouterr().err


def test_mixture_counts(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(
        [
            "synthesize",
            "drafts",
            "--train",
            "train.en",
            "train.de",
            "--black-box",
            "command:cat",
            "--out",
            "triples",
        ]
    )
    real = "train.en train.de train.de"
    main(f"synthesize mix --synthetic triples --real {real} --times 3 --out mixed".split())
    assert "120 synthetic triples, 360 real ones (3 times each)" in capsys.readouterr().err
    for name in ("one.en", "one.de"):
        Path(name).write_text("one line\n", encoding="utf-8")
    main(
        ["synthesize", "drafts", "--train", "one.en", "one.de", "--black-box", "command:cat", "--out", "one"]
    )
    main(["synthesize", "mix", "--synthetic", "one", "--real", "one", "--times", "1", "--out", "once"])
    said = capsys.readouterr().err
    assert "one: 1 triple\n" in said
    assert "once: 1 synthetic triple, 1 real one (1 time each)" in said


def test_phrases_from_training_to_text(
    corpus: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["blackbox", "train-phrase", "--train", "train.en", "train.de", "--out", "phrases"])
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"a red house with 7 doors\n\n")))
    monkeypatch.setattr(sys, "stdin", stdin)
    capsysbinary.readouterr()
    main(["blackbox", "translate", "phrase:phrases"])
    assert capsysbinary.readouterr().out.decode() == "ein rotes Haus mit 7 Türen\n\n"
    with pytest.raises(SystemExit) as stop:
        main(["blackbox", "train-phrase", "--train", "train.en", "train.de", "--out", "phrases"])
    assert stop.value.code == 2


@pytest.mark.parametrize("command", [["blackbox", "translate", "command:cat"], ["synthesize", "words"]])
def test_lines_are_answered_up_to_one_that_cannot_be_used(
    command: list[str], capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = b"one\ntwo\nth\xffree\nfour\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(raw))))
    with pytest.raises(SystemExit) as stopped:
        main(command)
    assert stopped.value.code == 2
    said = capsysbinary.readouterr()
    assert said.out == b"one\ntwo\n"
    assert b"error: line 3: it is not UTF-8" in said.err


def test_words_are_apart_as_soon_as_a_line_is_there() -> None:
    command = [sys.executable, "-m", "levt", "synthesize", "words"]
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"Ja, gut.\n")
        process.stdin.flush()
        # Nothing would come before the end of the input, and the test would wait for ever.
        timer = threading.Timer(60, process.kill)
        timer.start()
        assert process.stdout.readline() == b"Ja , gut .\n"
        timer.cancel()
        process.stdin.close()
        assert process.wait() == 0


def test_a_box_that_fails_is_an_error_without_traceback(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(
            [
                "synthesize",
                "drafts",
                "--train",
                "train.en",
                "train.de",
                "--out",
                "t",
                "--black-box",
                "command:false",
            ]
        )
    assert stop.value.code == 2
    assert "error: the command 'false' ended with status 1" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--limit", "--tune-lines"])
def test_numbers_of_lines_are_at_least_one(
    flag: str, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--train", "train.en", "train.de", "--dev", "train.en", "train.de", "--out", "phrases"]
    with pytest.raises(SystemExit) as stop:
        main(["blackbox", "train-phrase", *files, flag, "-1"])
    assert stop.value.code == 2
    assert f"{flag[2:]} must be at least 1, got -1" in capsys.readouterr().err


def test_words_apart(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    raw = "\ufeffJa, gut.\r\n\nDr. Busch: „Nein“"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(raw.encode()))))
    main(["synthesize", "words"])
    assert capsysbinary.readouterr().out.decode() == "Ja , gut .\n\nDr. Busch : „ Nein “\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"ja\n\xff\n"))))
    with pytest.raises(SystemExit) as stopped:
        main(["synthesize", "words"])
    assert stopped.value.code == 2
    assert b"line 2" in capsysbinary.readouterr().err
