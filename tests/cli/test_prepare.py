"""``levt prepare`` as a user calls it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from levt.cli import main
from levt.data.store import Store
from levt.text.tokenizer import Tokenizer


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    english = [f"a {colour} house with {i} doors" for i in range(30) for colour in ("red", "blue")]
    german = [f"ein {colour} Haus mit {i} Türen" for i in range(30) for colour in ("rotes", "blaues")]
    for name, lines in (
        ("train.en", english),
        ("train.de", german),
        ("val.en", english[:4]),
        ("val.de", german[:4]),
    ):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [f"{a}\t{a}\t{b}" for a, b in zip(english, german, strict=True)]
    (tmp_path / "train.tsv").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def test_typical_call(
    corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus)
    command = "prepare --train train.en train.de --dev val.en val.de --test val.en val.de val.de val.en"
    main([*command.split(), "--vocabulary", "350", "--out", "store", "--json"])
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert {name: split["examples"] for name, split in report["splits"].items()} == {
        "train": 60,
        "dev": 4,
        "test": 4,
        "test2": 4,
    }
    assert report["peak_memory_bytes"] > 0
    assert "train: 60 examples" in shown.err
    assert "peak memory" in shown.err
    size = Tokenizer.load("store/tokenizer.json").size
    assert size < 350
    assert f"tokenizer.json: {size} pieces; 350 were asked for" in shown.err
    assert len(Store.open("store/test2")) == 4
    with pytest.raises(SystemExit) as stop:
        main([*command.split(), "--out", "store"])
    assert stop.value.code == 2
    assert "error: store exists already\nhint: remove it" in capsys.readouterr().err


def test_reuses_a_tokenizer_for_a_table(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corpus)
    main(
        ["prepare", "--train", "train.en", "train.de", "--vocabulary", "350", "--separate", "--out", "first"]
    )
    reuse = "--tokenizer first/tokenizer.json --source-tokenizer first/source_tokenizer.json"
    main(["prepare", "--train", "train.tsv", *reuse.split(), "--out", "second"])
    first, second = Store.open("first/train"), Store.open("second/train")
    assert second.has_draft
    assert first.fingerprint("source") == second.fingerprint("source") != first.fingerprint("target")
    assert first.target(7).tolist() == second.target(7).tolist()


def test_missing_file(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(
            [
                "prepare",
                "--train",
                str(corpus / "trian.en"),
                str(corpus / "train.de"),
                "--out",
                str(corpus / "x"),
            ]
        )
    assert stop.value.code == 2
    assert "trian.en does not exist\nhint: did you mean" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_disk_that_takes_no_more(corpus: Path) -> None:
    """A real failing write, by a limit on the size of files."""
    script = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "from levt.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    (corpus / "big.en").write_text("one two three four five\n" * 5000)
    call = ["prepare", "--train", "big.en", "big.en", "--vocabulary", "300", "--out", "store"]
    done = subprocess.run(
        [sys.executable, "-c", script, *call], cwd=corpus, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "error: store cannot be written: File too large\nhint: nothing was left behind" in done.stderr
    assert not [path for path in corpus.iterdir() if "store" in path.name]
