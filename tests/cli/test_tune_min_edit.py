"""``levt tune --draft``: the reluctance to edit, on stdout."""

import json
from pathlib import Path

import pytest

from levt.cli import main
from levt.recipes.post_editing_dial import VALUES
from tiny_models import save_tiny


@pytest.fixture
def args(tmp_path: Path) -> list[str]:
    """A model that knows nothing, and right drafts."""
    texts = {
        "src": ["A dog runs", "Two cats sleep"],
        "mt": ["Ein Hund läuft", "Zwei Katzen"],
        "ref": ["Ein Hund läuft", "Zwei Katzen schlafen"],
    }
    for end, lines in texts.items():
        (tmp_path / f"dev.{end}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    folder = save_tiny(tmp_path / "model")
    dev = [str(tmp_path / "dev.src"), str(tmp_path / "dev.ref")]
    return ["tune", str(folder), "--dev", *dev, "--draft", str(tmp_path / "dev.mt"), "--device", "cpu"]


def test_what_does_not_help_is_left_alone(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main([*args, "--json"])
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["min_edit"] == 1
    assert [one["min_edit"] for one in found["tried"]] == [*VALUES]
    assert not any(one["allowed"] for one in found["tried"])
    assert err.count("does not help") == len(VALUES)
    assert "drafts: BLEU" in err


def test_as_many_drafts_as_sources(
    args: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dev.mt").write_text("Ein Hund\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        main(args)
    assert f"1  {tmp_path / 'dev.mt'}" in capsys.readouterr().err


@pytest.mark.parametrize("more", [["--metric", "chrf"], ["--tokenize", "char"], ["--penalties", "1"]])
def test_what_decides_about_drafts_cannot_be_chosen(
    more: list[str], args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*args, *more])
    assert f"{more[0]} is for γ" in capsys.readouterr().err
