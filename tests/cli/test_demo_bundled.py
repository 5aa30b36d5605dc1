"""What the bundled model's name does: `levt demo`, the default of --model, levt.load; with a stand-in for the model."""

import itertools
import json
import re
import shutil
from pathlib import Path

import pytest

import levt
from levt.cli import main, verbs
from levt.cli._demo_bundled import DOCS, NEXT
from levt.cli._model import DEFAULT
from levt.errors import ModelError
from levt.recipes import recipe
from levt.recipes.bundled_sentences import DEMONSTRATED, DRAFTS, SENTENCES
from tiny_models import save_tiny


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation with a bundled model of random weights."""
    save_tiny(tmp_path / "models" / DEFAULT, max_length=256)
    monkeypatch.setattr("levt.policy.hub.BUNDLED", tmp_path / "models")
    return tmp_path


def test_it_translates_a_dozen_repairs_a_few_and_says_what_next(
    installed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["demo", "--html", str(installed / "demo.html")])
    out, err = capsys.readouterr()
    assert "\x1b" not in out
    count = DEMONSTRATED + len(DRAFTS)
    assert out.count("\nsource  ") == out.count(" ms\n") == out.count("\nresult") == count
    assert all(text in out for text in SENTENCES[:DEMONSTRATED])
    assert all(draft in out for _, draft in DRAFTS)
    assert "Drafts, repaired:" in out
    for source, draft in itertools.pairwise(out.splitlines()):
        if source.startswith("source"):
            begin = {len(re.split(r"\w+\s+", line, maxsplit=1)[1]) - len(line) for line in (source, draft)}
            assert len(begin) == 1, "one column"
    page = (installed / "demo.html").read_text("utf-8")
    assert (page.count("<section"), page.count("Source: ")) == (count, count)
    assert "until nothing changes. It came" in page
    assert all(word in err for word in ("levt serve", "levt translate", "levt prepare", "loaded in"))


def test_what_to_try_next_comes_with_the_package() -> None:
    """A wheel has no pages; the verbs and recipes that are named exist."""
    assert ".md" not in NEXT
    assert set(re.findall(r"\blevt ([a-z]+)", NEXT)) <= set(verbs())
    [(teacher, student)] = re.findall(r"levt chain (\S+) ([\w-]+)", NEXT)
    assert (recipe(teacher).model.kind, recipe(student).model.kind) == ("autoregressive", "levt")


@pytest.mark.parametrize("clone", [True, False])
def test_the_guide_is_named_where_there_is_one(
    installed: Path, clone: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (DOCS / "own-pair.md").is_file(), "the tests run in a clone"
    if not clone:
        monkeypatch.setattr("levt.cli._demo_bundled.DOCS", installed / "docs")
    main(["demo"])
    assert ("docs/own-pair.md" in capsys.readouterr().err) == clone


@pytest.mark.parametrize("found", [None, "/usr/bin/levt"])
def test_who_is_in_no_environment_is_told_how_to_get_in(
    installed: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    found: str | None,
) -> None:
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, *rest: found if name == "levt" else which(name, *rest))
    main(["demo", "--json"])
    assert ("source .venv/bin/activate" in capsys.readouterr().err) == (found is None)


def test_as_json(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["demo", "--json"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == DEMONSTRATED + len(DRAFTS)
    assert [line["draft"] for line in lines[DEMONSTRATED:]] == [draft for _, draft in DRAFTS]
    assert all(line["milliseconds"] > 0 and line["iterations"] >= 1 for line in lines)


def test_the_name_is_enough(installed: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert levt.load(DEFAULT).kind == "levt"
    main(["show", "A dog runs."])
    assert "result" in capfd.readouterr().out
    main(["inspect"])
    assert DEFAULT in capfd.readouterr().out


def test_a_name_without_a_model_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("levt.policy.hub.BUNDLED", tmp_path / "nothing")
    with pytest.raises(ModelError, match="no model is bundled"):
        levt.load(DEFAULT)


def test_sentences_are_there_for_demonstration_and_golden_test() -> None:
    assert len(SENTENCES) == len(set(SENTENCES)) == 20
    assert DEMONSTRATED == 12
    sources = {source for source, _ in DRAFTS}
    assert len(sources & set(SENTENCES)) >= 3
