"""The terminal: colours where there are some, marks where there are none, one line per iteration."""

import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from rich.console import Console
from traces import Plain, built, plain_traces

from levt.edits.render_terminal import as_lines, has_colour, rows, show
from levt.edits.script import EditScript, between
from levt.edits.trace import STOPS, Trace

VOCABULARY = ["", "", "", "", "", "▁Ein", "▁Hun", "t", "d", "▁läuft", "."]
SCRIPT = between([5, 6, 7], [5, 6, 8, 9, 10])


def trace(*scripts: EditScript, draft: tuple[int, ...] = (5, 6, 7)) -> Trace:
    return Trace.of(draft, scripts, VOCABULARY.__getitem__, stopped="limit")


def console(*, width: int = 80, terminal: bool = True) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    system = "standard" if terminal else None
    return Console(
        file=out, force_terminal=terminal, color_system=system, width=width, legacy_windows=False
    ), out


@pytest.fixture(autouse=True)
def _no_wishes_about_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def test_without_colour_the_marks_say_it() -> None:
    assert as_lines(rows(trace(SCRIPT), colour=False)).plain.splitlines() == [
        "draft          Ein Hunt",
        "1       -1 +3  Ein Hun[-t-]{+d läuft.+}",
        "stop           the limit on iterations was reached",
        "result         Ein Hund läuft.",
    ]
    assert not as_lines(rows(trace(SCRIPT), colour=False)).spans


@pytest.mark.parametrize("terminal", [False, True])
def test_a_source_and_a_note_stand_in_the_column_of_the_texts(terminal: bool) -> None:
    screen, out = console(terminal=terminal, width=34)
    source = "A dog [is] running across the white snow."
    show(trace(SCRIPT), screen, source=source, note="1 iteration, 5 ms")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue()).splitlines()
    assert lines[0].startswith("source         A dog [is] ")
    assert lines[-1].rstrip() == "               1 iteration, 5 ms"
    assert all(line[:15].split() for line in lines[:-1]) == (not terminal), "below it, where it is too long"
    assert all(len(line) <= 34 for line in lines) == terminal


def test_in_colour_deletions_are_struck_and_insertions_purple() -> None:
    text = as_lines(rows(trace(SCRIPT), colour=True))
    styles = {text.plain[span.start : span.end]: str(span.style) for span in text.spans}
    assert styles["t"] == "red strike"
    assert styles["d läuft."] == "bold magenta"
    assert "[-" not in text.plain


def test_escape_codes_reach_a_terminal_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, out = console()
    show(trace(SCRIPT), screen)
    assert "\x1b[9;31mt\x1b[0m" in out.getvalue()
    assert "\x1b[1;35md läuft.\x1b[0m" in out.getvalue()

    pipe, out = console(terminal=False)
    show(trace(SCRIPT), pipe)
    assert out.getvalue() == as_lines(rows(trace(SCRIPT), colour=False)).plain + "\n"

    monkeypatch.setenv("NO_COLOR", "1")
    screen, out = console()
    assert not has_colour(screen)
    show(trace(SCRIPT), screen)
    assert "Hun[-t-]{+d läuft.+}" in out.getvalue()
    assert "\x1b" not in out.getvalue()


def test_a_pipe_gets_one_line_per_row_and_a_terminal_a_column() -> None:
    long = trace(EditScript(drop=(), counts=(40,), fill=(5,) * 40), draft=())
    pipe, out = console(terminal=False)
    show(long, pipe)
    assert len(out.getvalue().splitlines()) == 4
    screen, out = console(width=60)
    show(long, screen)
    plain = re.sub(r"\x1b\[[\d;]*m", "", out.getvalue()).splitlines()
    assert len(plain) > 4
    body = plain[0].index("(empty)")
    assert all(len(line) <= 60 and (line[:6].strip() or not line[:body].strip()) for line in plain)
    assert plain[2][body : body + 3] == "Ein"


def test_empty_draft_nothing_changed_and_ten_iterations() -> None:
    same = EditScript(drop=(False,), counts=(0, 0), fill=())
    grow = EditScript(drop=(), counts=(1,), fill=(5,))
    found = rows(trace(grow, *[same] * 9, draft=()), colour=False)
    assert [label for label, _, _ in found] == ["draft", *map(str, range(1, 11)), "stop", "result"]
    assert [body.plain for _, _, body in found] == [
        "(empty)",
        "{+Ein+}",
        *["nothing changed"] * 9,
        STOPS["limit"],
        "Ein",
    ]
    assert [happened for _, happened, _ in found][1:3] == ["-0 +1", "-0 +0"]
    emptied = rows(trace(EditScript(drop=(True,) * 3, counts=(0,), fill=())), colour=False)
    assert emptied[1][2].plain == "[-Ein Hunt-]"
    assert emptied[-1][2].plain == "(empty)"
    running = rows(replace(trace(), stopped=None), colour=False)
    assert [label for label, _, _ in running] == ["draft", "result"]


def test_hostile_pieces_do_not_act() -> None:
    hostile = ["\x1b[2J", "[red]", ":smile:", "\r\n"]
    made = Trace.of(
        [5, 6],
        [EditScript(drop=(False, True), counts=(0, 2), fill=(7, 8))],
        ["", "", "", "", "", *hostile].__getitem__,
    )
    for terminal in (True, False):
        screen, out = console(terminal=terminal)
        show(made, screen)
        text = re.sub(r"\x1b\[[\d;]*m", "", out.getvalue())
        assert "\x1b" not in text
        assert "\\x1b[2J" in text
        assert "[red]" in text
        assert ":smile:" in text
        assert "\\r\\n" in text
        assert len(text.splitlines()) == 3


@given(plain_traces())
def test_every_trace_can_be_shown(plain: Plain) -> None:
    made = built(plain)
    expected = 2 + len(made.iterations) + (made.stopped is not None)
    for colour in (True, False):
        assert len(as_lines(rows(made, colour=colour)).plain.split("\n")) == expected
