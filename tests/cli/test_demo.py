"""``levt demo``: trains through the front door, shows edits, and uses what it has learnt when it is run again.

How well the model repairs is tested in tests/system.
"""

import json
import random
import signal
import sys
from itertools import islice
from pathlib import Path

import pytest

from levt.cli import main
from levt.data.store import Store
from levt.recipes.typos import LONGEST, examples, misspelt, sentence, typo_corpus
from levt.training.log import Log
from levt.training.loop import Trainer


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the demo has run for a few steps."""
    folder = tmp_path_factory.mktemp("demo") / "kept"
    main(["demo", "--steps", "4", "--out", str(folder)])
    return folder


@pytest.mark.parametrize("kept", [True, False])
def test_a_training_that_is_stopped_ends_it_and_says_what_becomes_of_it(
    kept: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(
        "levt.recipes.typos.typo_corpus", lambda folder, dev: typo_corpus(folder, train=300, dev=dev)
    )
    monkeypatch.setattr(Trainer, "over", property(lambda self: False))
    step = Trainer._steps

    def stopped(self: Trainer, log: Log) -> None:
        signal.raise_signal(signal.SIGINT)
        step(self, log)

    monkeypatch.setattr(Trainer, "_steps", stopped)
    with pytest.raises(SystemExit) as end:
        main(["demo", "--typos", *(["--out", str(tmp_path / "demo")] if kept else [])])
    said = " ".join(capsys.readouterr().err.split())
    assert end.value.code == 130
    became = "run again to go on" if kept else "nothing of it is kept; with --out FOLDER it could go on"
    assert f"stopped by SIGINT at step 0; {became} interrupted" in said
    assert any(tmp_path.rglob("step-*")) == kept
    assert "unseen sentences" not in said


def test_it_shows_a_dozen_texts_and_says_how_well_it_did(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = (kept / "run" / "log.jsonl").read_bytes()
    main(["demo", "--steps", "4", "--out", str(kept)])
    out, err = capsys.readouterr()
    assert out.count("\nresult") == out.count("draft ") == 12
    assert out.count(" ms, ") == 12
    assert "\x1b" not in out
    assert "200 unseen sentences: " in err
    assert "What to try next:" in err
    assert f"--model {kept}/run/best" in err
    assert (kept / "run" / "log.jsonl").read_bytes() == log, "the model was there already"


@pytest.mark.parametrize("name", ["corpus", "run"])
def test_a_folder_of_something_else_is_left_alone(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(SystemExit) as end:
        main(["demo", "--steps", "2", "--out", str(tmp_path)])
    assert end.value.code == 2
    assert (
        f"{tmp_path / name} comes from no demonstration\nhint: choose another folder"
        in capsys.readouterr().err
    )
    assert list(tmp_path.rglob("*")) == [tmp_path / name]


def test_without_a_folder_nothing_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(
        "levt.recipes.typos.typo_corpus", lambda folder, dev: typo_corpus(folder, train=300, dev=dev)
    )
    # A first look must not need more than the core.
    for extra in ("sacrebleu", "rouge_score", "matplotlib", "fastapi", "onnxruntime"):
        monkeypatch.setitem(sys.modules, extra, None)
    main(["demo", "--steps", "2"])
    err = capsys.readouterr().err
    assert "200 unseen sentences: " in err
    assert "levt demo --typos --out demo" in err
    # torch may open its cache there when it is first asked to compile.
    assert [path for path in tmp_path.iterdir() if not path.name.startswith("torchinductor")] == []


def test_json_and_html(kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["demo", "--steps", "4", "--out", str(kept), "--json", "--html", str(tmp_path / "demo.html")])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 12
    assert all({"draft", "wanted", "text", "iterations", "trace"} <= line.keys() for line in lines)
    assert (tmp_path / "demo.html").read_text("utf-8").count("<section") == 12
    with pytest.raises(SystemExit) as stop:
        main(["demo", "--html", str(tmp_path / "missing" / "demo.html")])
    assert stop.value.code == 2
    assert "cannot write" in capsys.readouterr().err


def test_the_grammar_and_the_slips() -> None:
    rng = random.Random(5)
    for _ in range(200):
        right = sentence(rng)
        assert misspelt(right, rng, 0) == right
        once = misspelt(right, rng, 1)
        assert abs(len(once) - len(right)) <= 1
    pairs = list(islice(examples(3), 2000))
    unchanged = sum(wrong == right for wrong, right in pairs) / 2000
    assert 0.15 < unchanged < 0.25
    assert list(islice(examples(3), 5)) == pairs[:5]


def test_the_corpus(tmp_path: Path) -> None:
    store = Store.open(typo_corpus(tmp_path, train=500, dev=10) / "train")
    assert store.has_draft
    assert 450 < len(store) <= 500
    assert max(store.longest(field) for field in store.fields) + 2 <= LONGEST
    # Words that are spelt right are one token each; those with a slip fall to pieces.
    assert store.longest("target") == 7
    assert store.tokens("source") == store.tokens("draft") > store.tokens("target")
