"""``levt evaluate``: the table on stdout, errors that say what is wrong."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
import sacrebleu

from levt.cli import main
from levt.cli.evaluate import read

SOURCE = ["Two cats sleep on the sofa.", "The window is open.", "Rain falls."]
REFERENCE = ["Zwei Katzen schlafen auf dem Sofa.", "Das Fenster ist offen.", "Regen fällt."]
DRAFT = ["Zwei Katzen sleep auf auf Sofa.", "Das Window ist offen.", "Regen fällt."]
OURS = ["Zwei Katzen schlafen auf Sofa.", "Das Fenster ist offen.", "Regen fällt."]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    texts = {"source": SOURCE, "reference": REFERENCE, "draft": DRAFT, "ours": OURS}
    texts["terms"] = ["Katzen; Sofa", "Fenster", ""]
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return {name: str(tmp_path / name) for name in texts}


def evaluated(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, dict[str, dict[str, object]]]:
    main(["evaluate", *argv, "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {row["system"]: {score["name"]: score for score in row["scores"]} for row in rows}


def failed(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(["evaluate", *argv])
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_table(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["evaluate", "--hypothesis", files["ours"], "--reference", files["reference"]])
    out, err = capsys.readouterr()
    assert err == ""
    expected = sacrebleu.corpus_bleu(OURS, [REFERENCE]).score
    assert f"{expected:.2f} |" in out
    assert "| BLEU [1]" in out
    assert "[1] `nrefs:1|case:mixed" in out
    assert "do nothing" not in out
    assert "unchanged" not in out


def test_everything_as_json(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    given = [part for name in ("source", "draft", "terms") for part in (f"--{name}", files[name])]
    rows = evaluated(capsys, "--hypothesis", files["ours"], "--reference", files["reference"], *given)
    assert list(rows) == ["do nothing", files["ours"]]
    nothing, ours = rows.values()
    assert nothing["BLEU"]["value"] == sacrebleu.corpus_bleu(DRAFT, [REFERENCE]).score
    assert ours["BLEU"]["value"] == sacrebleu.corpus_bleu(OURS, [REFERENCE]).score
    assert ours["better %"]["value"] == pytest.approx(200 / 3)
    assert ours["unchanged %"]["value"] == pytest.approx(100 / 3)
    assert "better %" not in nothing
    assert (nothing["terms %"]["value"], ours["terms %"]["value"]) == (pytest.approx(200 / 3), 100)
    assert nothing["repeated %"]["value"] > ours["repeated %"]["value"] == 0
    assert nothing["copied %"]["value"] > ours["copied %"]["value"] == 0
    assert all("interval" not in score for score in ours.values())
    again = evaluated(capsys, "--hypothesis", files["draft"], "--reference", files["reference"], *given)
    assert again[files["draft"]]["unchanged %"]["value"] == 100


def test_confidence_and_chosen_metrics(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    rows = evaluated(
        capsys, "--hypothesis", files["ours"], files["draft"], "--reference", files["reference"],
        "--metric", "ter", "rouge-2", "--confidence", "--samples", "100",
    )  # fmt: skip
    ours, draft = rows.values()
    assert list(ours)[:2] == ["TER", "ROUGE-2"]
    assert "BLEU" not in ours
    assert len(ours["TER"]["interval"]) == 2
    assert "p_value" not in ours["TER"]
    assert 0 < draft["TER"]["p_value"] <= 1
    assert "bs:100|ar:100|seed:" in draft["TER"]["signature"]


def test_hypotheses_from_stdin(
    files: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def typed(text: str) -> None:
        stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
        monkeypatch.setattr("sys.stdin", stdin)

    for mark in ("", "\ufeff"):
        typed(mark + "\r\n".join(REFERENCE))
        rows = evaluated(capsys, "--hypothesis", "-", "--reference", files["reference"])
        assert rows["-"]["TER"]["value"] == 0
        assert rows["-"]["chrF2"]["value"] == 100
    typed("\n")
    assert read(Path("-")) == [""]
    typed("")
    assert read(Path("-")) == []
    assert "only one file can be -" in failed(capsys, "--hypothesis", "-", "--reference", "-")


def test_errors(files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = tmp_path / "short"
    short.write_text("eins\nzwei\n", encoding="utf-8")
    message = failed(capsys, "--hypothesis", str(short), "--reference", files["reference"])
    assert f"2  {short}\n" in message
    assert f"3  {files['reference']}\n" in message
    assert "hint: one sentence per line" in message
    assert "does not exist" in failed(capsys, "--hypothesis", files["ours"], "--reference", "nowhere")
    empty = tmp_path / "empty"
    empty.touch()
    assert "nothing to read" in failed(capsys, "--hypothesis", str(empty), "--reference", str(empty))
    broken = tmp_path / "broken"
    broken.write_bytes(b"eins\n\xff\ndrei\n")
    assert "line 2: not UTF-8" in failed(capsys, "--hypothesis", str(broken), "--reference", files["ours"])
    assert "at least one file" in failed(capsys, "--hypothesis", "--reference", files["reference"])


def test_one_empty_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blank = tmp_path / "blank"
    blank.write_text("\n", encoding="utf-8")
    rows = evaluated(
        capsys, "--hypothesis", str(blank), "--reference", str(blank), "--draft", str(blank), "--confidence"
    )
    assert rows[str(blank)]["BLEU"]["value"] == 0


def test_no_torch_is_loaded(files: dict[str, str]) -> None:
    argv = ["evaluate", "--hypothesis", files["ours"], "--reference", files["reference"]]
    code = f"import sys; from levt.cli import main; main({argv}); sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)


def test_a_file_is_named_once(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """Else it would be one column, and the p-values of the others against whatever came first."""
    ours = files["ours"]
    err = failed(
        capsys, "--hypothesis", ours, files["draft"], ours, "--reference", files["reference"], "--confidence"
    )
    assert err == f"error: {ours} is given twice as a hypothesis\nhint: name each file once\n"
