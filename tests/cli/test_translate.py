"""``levt translate``, ``refine`` and ``show`` with a tiny model: one line out for every line in, whatever happens."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import levt
from levt.cli import _lines
from levt.cli._lines import windows
from levt.edits.trace import Trace
from levt.policy.card import Card
from levt.policy.folder import Tokenizers, save_folder
from levt.text.tokenizer import Tokenizer
from tiny_models import LINES, network, save_tiny
from typed_commands import Shell

LINE_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_tiny(tmp_path_factory.mktemp("models") / "levt", seed=3))


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Shell:
    return Shell(monkeypatch, capfdbinary)


def test_one_line_for_each_line(shell: Shell, folder: str) -> None:
    lines = ["A dog.", "", "  ", "Two\u2028cats\x85sleep\x0b.", "x" * 40, LINES[0], *LINES]
    out, err = shell("\n".join(lines) + "\n", "translate", "--model", folder, "--device", "cpu")
    answers = out.decode().split("\n")
    assert answers.pop() == ""
    assert len(answers) == len(lines)
    assert answers[1] == answers[2] == ""
    assert not any(character in answer for answer in answers for character in LINE_BREAKS)
    assert err == ""
    model = levt.load(folder, device="cpu")
    assert answers == [_lines.one_line(result.text) for result in model.translate(lines)]
    for end in (b"", b"\n", b"\r\n"):
        assert shell(b"A dog.\r\nTwo cats" + end, "translate", "--model", folder)[0].count(b"\n") == 2
    assert shell(b"", "translate", "--model", folder)[0] == b""
    assert shell(b"\n\n", "translate", "--model", folder)[0] == b"\n\n"


def test_batch_size_changes_nothing(shell: Shell, folder: str) -> None:
    text = "\n".join([*LINES, "", "dog"])
    outs = {shell(text, "translate", "--model", folder, "--batch-size", size)[0] for size in ("1", "3", "64")}
    assert len(outs) == 1


def test_whatever_is_written_stays_in_its_line(
    shell: Shell, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that writes every line break there is."""
    from levt.text.tokenizer import Tokenizer

    monkeypatch.setattr(Tokenizer, "decode", lambda self, ids: f"a{LINE_BREAKS}b")
    out, _ = shell("A dog.\nTwo cats.\n", "translate", "--model", folder)
    assert len(out.decode().splitlines()) == 2
    assert out.decode().splitlines()[0].split() == ["a", "b"]
    monkeypatch.setattr(Tokenizer, "pieces", lambda self, ids: [LINE_BREAKS for _ in ids])
    out, _ = shell("A dog.\nTwo cats.\n", "translate", "--model", folder, "--json")
    assert len(out.decode().splitlines()) == 2
    assert json.loads(out.decode().splitlines()[0])["text"] == f"a{LINE_BREAKS}b"


def test_json_has_the_trace(shell: Shell, folder: str) -> None:
    out, _ = shell("A dog.\n\nTwo cats.", "translate", "--model", folder, "--json", "--max-iterations", "3")
    first, second, third = map(json.loads, out.decode().splitlines())
    assert second["text"] == ""
    assert second["stopped"] == "empty"
    for saved in (first, third):
        assert saved["iterations"] <= 3
        trace = Trace.from_json(saved["trace"])
        assert list(trace.result) == saved["tokens"]


def test_terms_and_kept_words(shell: Shell, folder: str, tmp_path: Path) -> None:
    terms = tmp_path / "terms"
    terms.write_text("Hund; Schnee\n\nein Stein\tKatzen\n", encoding="utf-8")
    out, _ = shell("A dog\n\ncats at Müller", "translate", "--model", folder, "--terms", str(terms),
                   "--keep", "Müller", "Smith")  # fmt: skip
    first, second, third = out.decode().splitlines()
    assert "Hund" in first
    assert "Schnee" in first
    assert second == ""
    assert all(term in third for term in ("ein Stein", "Katzen", "Müller"))
    out, err = shell("A\nB\nC\nD", "translate", "--model", folder, "--terms", str(terms), status=2)
    assert out.count(b"\n") == 3
    assert "line 4: " in err
    assert "has no such line" in err
    out, err = shell("A\nB", "translate", "--model", folder, "--terms", str(terms), status=2)
    assert out.count(b"\n") == 2
    assert "has more lines than the input" in err


def test_refine(shell: Shell, folder: str, tmp_path: Path) -> None:
    drafts = tmp_path / "drafts"
    drafts.write_text("Ein Hund\n\nZwei Katzen schlafen\n", encoding="utf-8")
    argv = ("refine", "--model", folder, "--draft", str(drafts))
    out, _ = shell("A dog\n\nTwo cats", *argv, "--keep", "Katzen")
    assert "Katzen" in out.decode().splitlines()[2]
    assert out.count(b"\n") == 3
    out, _ = shell("A dog\n\nTwo cats", *argv, "--min-edit", "1")
    assert out.decode() == "Ein Hund\n\nZwei Katzen schlafen\n"
    _, err = shell("A dog", "refine", "--model", folder, "--draft", str(tmp_path / "draft"), status=2)
    assert "drafts?" in err


def test_sentence_by_sentence_unless_told_otherwise(shell: Shell, folder: str, tmp_path: Path) -> None:
    model = levt.load(folder, device="cpu")
    text = "A dog runs over the snow.  Two cats sleep. Is it cold?"
    out, _ = shell(text, "translate", "--model", folder, "--device", "cpu")
    assert out.decode() == f"{model.translate(text, by_sentence=True).text}\n"
    assert out.decode() != f"{model.translate(text).text}\n"
    out, _ = shell(text, "translate", "--model", folder, "--device", "cpu", "--whole")
    assert out.decode().removesuffix("\n") == model.translate(text).text
    draft = tmp_path / "draft"
    draft.write_text("Ein Hund. Zwei Katzen. Kalt?\n", encoding="utf-8")
    refine = ("refine", "--model", folder, "--device", "cpu", "--draft", str(draft))
    by_sentence, whole = (shell(text, *refine, *more)[0].decode() for more in ((), ("--whole",)))
    wished = [
        model.refine(text, draft="Ein Hund. Zwei Katzen. Kalt?", by_sentence=yes) for yes in (True, False)
    ]
    assert [by_sentence, whole] == [f"{_lines.one_line(one.text)}\n" for one in wished]
    shown = [
        shell("", "show", text, "--model", folder, "--device", "cpu", *more)[0] for more in ((), ("--whole",))
    ]
    assert len(set(shown)) == 2


def test_bad_lines_are_named_and_those_before_are_answered(shell: Shell, folder: str) -> None:
    out, err = shell(b"A dog.\nTwo cats.\nbr\xffken\nA dog.\n", "translate", "--model", folder, status=2)
    assert out.count(b"\n") == 2
    assert err.startswith("error: line 3: it is not UTF-8 (invalid start byte at byte 2)")
    long = " ".join(LINES)
    out, _ = shell(f"A dog.\n{long}\n", "translate", "--model", folder)
    assert out.count(b"\n") == 2
    out, err = shell(f"A dog.\n{'ä' * 500}\nx\n", "translate", "--model", folder, status=2)
    assert out.count(b"\n") == 1
    assert "line 2: a word of 500 characters" in err


def test_the_default_model_is_missing(shell: Shell) -> None:
    from levt.policy.hub import bundled

    if "levt-en-de" in bundled():
        pytest.skip("it is there")
    out, err = shell("A dog.", "translate", status=2)
    assert out == b""
    assert err.startswith(
        "error: the default model 'levt-en-de' is not bundled with this installation\nhint: "
    )


def test_siblings(shell: Shell, tmp_path: Path) -> None:
    writer, editor = (save_tiny(tmp_path / kind, kind, seed=1) for kind in ("autoregressive", "post-editing"))
    out, _ = shell(
        "A dog\n\nTwo", "translate", "--model", str(writer), "--beam", "3", "--n-best", "2", "--json"
    )
    assert [len(json.loads(line)["alternatives"]) for line in out.decode().splitlines()] == [1, 0, 1]
    (tmp_path / "drafts").write_text("Ein Hund\n\nZwei\n", encoding="utf-8")
    out, _ = shell("A dog\n\nTwo", "refine", "--model", str(editor), "--draft", str(tmp_path / "drafts"))
    assert out.count(b"\n") == 3
    _, err = shell("A dog", "translate", "--model", str(writer), "--drop", "x", status=2)
    assert "cannot be steered" in err
    _, err = shell("A dog", "translate", "--model", str(writer), "--keep", "x", "--beam", "2", status=2)
    assert "cannot be steered" in err
    _, err = shell("A dog", "translate", "--model", str(writer), "--max-iterations", "3", status=2)
    assert "unknown setting 'max_iterations'" in err
    _, err = shell("A dog", "translate", "--model", str(editor), status=2)
    assert err.startswith("error: a post-editing model needs a draft\nhint: `levt refine --draft FILE`")


def test_given_pieces_are_shown_between_spaces(shell: Shell, tmp_path: Path) -> None:
    """The wart that was: of a vocabulary without ▁ all pieces ran together."""
    pieces = Tokenizers.joint(Tokenizer.from_pieces(["Hun@@", "de", "lauf@@", "en"], continuation="@@"))
    size = pieces.target.size
    model = network("levt", source_vocabulary=size, target_vocabulary=size)
    save_folder(tmp_path / "model", model, pieces, Card(name="pieces"))
    said, _ = shell(
        "", "show", "--model", str(tmp_path / "model"), "Hun@@ de", "--draft", "Hun@@ de lauf@@ en", "--min-edit", "1"
    )  # fmt: skip
    assert said.decode().splitlines()[-1].split(maxsplit=1) == ["result", "Hun@@ de lauf@@ en"]
    drafts = tmp_path / "drafts"
    drafts.write_text("Hun@@ de lauf@@ en\n")
    said, _ = shell(
        "Hun@@ de\n", "refine", "--model", str(tmp_path / "model"), "--draft", str(drafts), "--min-edit", "1", "--json"
    )  # fmt: skip
    found = json.loads(said)
    assert found["text"] == "Hunde laufen"
    assert Trace.from_json(found["trace"]).text == found["trace"]["result"]["text"] == "Hun@@ de lauf@@ en"


def test_show(shell: Shell, folder: str, tmp_path: Path) -> None:
    out, _ = shell("", "show", "--model", folder, "A dog", "--draft", "Ein Hund", "--keep", "Hund")
    lines = out.decode().splitlines()
    assert lines[0].split() == ["draft", "Ein", "Hund"]
    assert lines[-1].startswith("result")
    assert "Hund" in lines[-1]
    page = tmp_path / "page.html"
    out, _ = shell("", "show", "--model", folder, "A <dog>", "--html", str(page))
    assert out == b""
    assert "A &lt;dog&gt;" in page.read_text(encoding="utf-8")


def test_lines_are_answered_while_the_pipe_is_open_and_an_interrupt_leaves_whole_lines(folder: str) -> None:
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from levt.cli import main; main()",
            "translate",
            "--model",
            folder,
            "--device",
            "cpu",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        # What a shell starts in the background ignores interrupts, and so would all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for text in (b"A dog.\n", b"Two cats.\nA stone.\n"):
        process.stdin.write(text)
        process.stdin.flush()
        for _ in range(text.count(b"\n")):
            assert process.stdout.readline().endswith(b"\n")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130
    assert out == b""
    assert err == b"interrupted\n"


def test_windows_put_lines_together_again() -> None:
    text = b"\xef\xbb\xbfone\ntwo\n\nthree"
    for size in range(1, len(text) + 1):
        parts = [text[i : i + size] for i in range(0, len(text), size)]
        reader = iter([*parts, b""])
        found = list(windows(lambda _, reader=reader: next(reader), 2))  # type: ignore[misc]
        assert [line for window in found for line in window] == [b"one", b"two", b"", b"three"]
        assert all(len(window) <= 2 for window in found)


def test_a_teacher_is_no_model_of_bytes(shell: Shell, folder: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "in.txt").write_text("A dog.\nTwo cats.\n", encoding="utf-8")
    teacher = str(save_tiny(tmp_path / "teacher", "autoregressive"))
    call = ["translate", "--model", folder, "--teacher", teacher, "--engine", "onnx-int8", "--dtype", "int8"]
    out, _ = shell("A dog.\nTwo cats.\n", *call)
    shell("", *call, "--input", str(tmp_path / "in.txt"), "--output", str(tmp_path / "out"))
    assert (tmp_path / "out" / "in.txt").read_bytes() == out
