"""Help, as a newcomer reads it: at once, and every verb says what it does, with an example."""

import contextlib
import itertools
import os
import re
import subprocess
import sys

import pytest

from levt.cli import load_verb, main, verbs


def calls() -> list[tuple[str, ...]]:
    found = {verb: load_verb(verb) for verb in verbs()}
    kinds = {verb: list(one) if isinstance(one, dict) else [] for verb, one in found.items()}
    return [call for verb, names in kinds.items() for call in [(verb,), *((verb, name) for name in names)]]


def said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *argv: str, columns: int = 400
) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    with contextlib.suppress(SystemExit):
        main([*argv, "--help"])
    return capsys.readouterr().out


@pytest.mark.parametrize("call", calls(), ids=" ".join)
def test_help_says_what_and_how(
    call: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = said(capsys, monkeypatch, *call)
    found = load_verb(call[0])
    if isinstance(found, dict) and len(call) == 1:
        doc = sys.modules[f"levt.cli.{call[0]}"].__doc__
    else:
        doc = (found[call[1]] if isinstance(found, dict) else found).__doc__
        assert f"levt {' '.join(call)}" in (doc or "").replace("--help", ""), "an example"
    assert (doc or "").strip().splitlines()[0] in text
    if "positional arguments" in text:
        named = text.split("positional arguments")[1].split(" options ")[0]
        assert not re.search(r"\b(STR|PATH)\b", named), "what stands without a flag has a name"
    assert "None" not in text, "what may be left out says what then happens"
    assert not re.search(r"default: ('')?\)|: True", text), "nor is nothing a value to be read about"
    if call != ("distill",):  # its settings are fields that `levt chain` has, too
        assert "False" not in text, "a flag is off where it is not given"


@pytest.mark.parametrize("call", ["train multi30k-levt", "chain multi30k-ar multi30k-levt"])
def test_every_field_of_a_recipe_is_explained(
    call: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = said(capsys, monkeypatch, *call.split(), columns=90)  # one column, the help of a flag below it
    assert "``" not in text, "marks of reStructuredText"
    lines = [line.strip(" │|") for line in text.splitlines()]
    flags = [(line, below) for line, below in itertools.pairwise(lines) if line.startswith("--")]
    assert len(flags) > 60
    assert [flag for flag, below in flags if not below or below.startswith("(default")] == []


def test_help_is_a_verb_too(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    main(["help"])
    assert "usage: levt VERB" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["help", "show"])
    assert "usage: levt show" in capsys.readouterr().out


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_help_comes_out_whatever_the_locale_can_write(encoding: str) -> None:
    for call in (["--help"], ["tune", "--help"], ["train", "--help"]):
        done = subprocess.run(
            [sys.executable, "-m", "levt", *call], capture_output=True, check=False,
            env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
        assert "γ" in done.stdout.decode("utf-8") or call[0] == "train"


@pytest.mark.skipif(os.name == "nt", reason="a shell that closes streams")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_a_stream_that_somebody_closed_is_an_empty_one(closed: str) -> None:
    for call in ("--help", "synthesize words"):
        command = f'exec "$0" -m levt {call} {closed}'
        done = subprocess.run(
            ["sh", "-c", command, sys.executable], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_the_list_of_verbs_does_not_load_torch() -> None:
    """Nor anything else that takes its time; a module that does is named."""
    code = (
        "import sys; from levt.cli import main; main(['--help']);"
        "print(*sorted({'torch', 'numpy', 'tokenizers', 'sacrebleu', 'rich', 'huggingface_hub'} & set(sys.modules)),"
        " file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == ""
    for verb in verbs():
        assert f"\n  {verb} " in done.stdout
