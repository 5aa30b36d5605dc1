"""Help on a terminal: no word is cut in two, whatever the width; files and pipes get the lines as they are."""

import contextlib
import io
import re

import pytest
from test_help import calls

from levt.cli import main
from levt.cli._layout import ESCAPE, fold

RAW = [("help",), ("train", "bundled-ar", "--help"), ("reproduce",)]


class Terminal(io.StringIO):
    """A screen that remembers what it was shown."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...], columns: int, stream: io.StringIO) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stdout", stream)
    with contextlib.suppress(SystemExit):
        main(argv)
    return ESCAPE.sub("", stream.getvalue())


@pytest.mark.parametrize("call", [*((*call, "--help") for call in calls()), *RAW], ids=" ".join)
def test_no_line_is_wider_than_the_terminal(call: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = shown(monkeypatch, call, 80, io.StringIO())
    for columns in (60, 80):
        text = shown(monkeypatch, call, columns, Terminal())
        assert [line for line in text.splitlines() if len(line) > columns] == []
        if columns == 80:  # a narrower box parts other words
            said = [set(re.sub("[─╭╮╰╯│]", " ", one).split()) for one in (text, plain)]
            assert said[0] == {word for word in said[1] if not word.startswith("---")}, (
                "and no word is lost or cut"
            )


def test_what_goes_to_a_pipe_is_not_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    out = shown(monkeypatch, ("--help",), 40, io.StringIO())
    assert len(max(out.splitlines(), key=len)) > 100


def test_columns_stay_columns_and_colours_take_no_room() -> None:
    assert fold("  verb  one two three", 16) == "  verb  one two\n        three"
    assert fold("  a long command  what it does", 17) == "  a long command\n      what it\n      does"
    red = "\x1b[31mred\x1b[0m"
    assert fold(f"{red} {red} {red}", 11) == f"{red} {red} {red}"
    assert fold("│ a box that was drawn too wide │", 5) == "│ a box that was drawn too wide │"
    assert fold("unbreakable/" * 9, 20) == "unbreakable/" * 9
