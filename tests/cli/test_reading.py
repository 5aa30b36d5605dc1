"""Arguments that cannot be read: every refusal ends with a hint, and nothing that was given is passed over."""

import contextlib
from pathlib import Path

import pytest

from levt.cli import main

REFUSED = {
    "translat": ("unknown verb 'translat'", "did you mean `levt translate`?"),
    "zzz": ("unknown verb 'zzz'", "`levt --help` lists them"),
    "convert": ("levt convert: no kind is given; there are compact, fairseq, onnx", "`levt convert --help` lists them"),
    "convert compat model": ("levt convert: unknown kind 'compat'", "did you mean `levt convert compact`?"),
    "convert --out new": ("levt convert: unknown kind '--out'", "`levt convert --help` lists them"),
    "translate --modle levt": ("--modle", "did you mean --model? `levt translate --help` explains every option"),
    "translate --modle=levt": ("--modle", "did you mean --model? `levt translate --help` explains every option"),
    "translate --zzz": ("--zzz", "`levt translate --help` explains every option"),
    "translate --batch_size many": ("--batch-size", "`levt translate --help` explains every option"),
    "translate --model": ("--model", "`levt translate --help` explains every option"),
    "show": ("TEXT", "`levt show --help` explains every option"),
    "show a b": ("b", "`levt show --help` explains every option"),
    "tune levt --dev one": ("--dev", "`levt tune --help` explains every option"),
    "convert compact levt": ("--out", "`levt convert compact --help` explains every option"),
    "convert compact levt --dtype int3 --out new": ("int3", "`levt convert compact --help` explains every option"),
    "train typo-repair --training.tokns 5": ("--training.tokns", "did you mean --training.tokens? `levt train "),
    "train typo-repair --max-steps 5": ("--max-steps", "did you mean --training.max-steps? `levt train typo-repair "),
    "chain multi30k-ar multi30k-levt --zzz": ("--zzz", "`levt chain multi30k-ar multi30k-levt --help` explains "),
    "chain typo-repair --out new": ("a chain needs two recipes, TEACHER and STUDENT", "`levt train --help` lists them"),
    "translate --drop a --json --drop b": ("--drop is given twice", "once, with all its values: --drop ONE ANOTHER"),
    "translate --input a --input=b --output c": ("--input is given twice", "once, with all its values: --input"),
    "synthesize halves --train a b --train c d --out e": ("--train is given twice", "once, with all its values"),
    "train typo-repair --more a --more b": ("--more is given twice", "once, with all its values: --more ONE ANOTHER"),
}  # fmt: skip


@pytest.mark.parametrize("call", REFUSED)
def test_what_cannot_be_read_ends_with_a_hint(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    what, hint = REFUSED[call]
    with pytest.raises(SystemExit) as stop:
        main(call.split())
    told = capsys.readouterr()
    assert (stop.value.code, told.out) == (2, "")
    assert what in told.err
    assert told.err.splitlines()[-1].startswith(f"hint: {hint}")


def test_of_one_value_the_last_holds(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["show", "text", "--model", "first", "--model", "second"])
    assert "there is no model 'second'" in capsys.readouterr().err


def test_help_as_a_verb_reads_kinds_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    with contextlib.suppress(SystemExit):
        main(["help", "convert", "onnx"])
    assert "usage: levt convert onnx" in capsys.readouterr().out
