"""``levt demo``: runs without a model, says so, and shows the oracle's edits."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from levt.cli import main
from levt.cli.demo import EXAMPLES, Example, cut, oracle_trace
from levt.edits.trace import Trace


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_every_version_is_reached_and_the_last_is_confirmed(example: Example) -> None:
    trace = oracle_trace(example)
    texts = ["".join(t.piece for t in state).replace("▁", " ").strip() for state in trace.states()]
    assert texts == [*example.versions, example.versions[-1]]
    assert trace.iterations[-1].script.is_identity


def test_cut_takes_words_or_characters() -> None:
    assert cut("Über 3 Dinge, die's gibt!", characters=False) == [
        "▁Über", "▁3", "▁Dinge", ",", "▁die", "'", "s", "▁gibt", "!"
    ]  # fmt: skip
    assert cut("ab c.", characters=True) == ["▁a", "b", "▁c", "."]
    assert cut("", characters=False) == cut("  ", characters=True) == []


def test_edits_to_stdout_the_note_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    main(["demo"])
    out, err = capsys.readouterr()
    assert "No model is involved" in err
    assert "oracle" in err
    assert "No model" not in out
    assert "\x1b" not in out
    assert "[-ist öffnend ihr-] {+öffnet ihren+}" in out
    assert out.count("\nresult") == len(EXAMPLES)
    for example in EXAMPLES:
        assert example.title in out
        assert example.versions[-1] in out


def test_json_lines_are_traces(capsys: pytest.CaptureFixture[str]) -> None:
    main(["demo", "--json"])
    lines = capsys.readouterr().out.splitlines()
    traces = [Trace.from_json(json.loads(line)) for line in lines]
    assert [trace.text for trace in traces] == [example.versions[-1] for example in EXAMPLES]


def test_html_is_written_and_a_bad_path_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["demo", "--html", str(tmp_path / "demo.html")])
    text = (tmp_path / "demo.html").read_text(encoding="utf-8")
    assert text.count("<section>") == len(EXAMPLES)
    assert "No model is involved" in text
    with pytest.raises(SystemExit) as stopped:
        main(["demo", "--html", str(tmp_path / "missing" / "demo.html")])
    assert stopped.value.code == 2
    assert "cannot write" in capsys.readouterr().err


def test_no_torch_is_loaded() -> None:
    code = "import sys; from levt.cli import main; main(['demo', '--json']); sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)
