"""A shell command as a black box."""

import time
from pathlib import Path

import pytest

from levt.errors import ConfigError, InputError
from levt.recipes.black_boxes import NoAnswer, open_black_box
from levt.recipes.black_boxes.command import Command


def test_one_line_for_each() -> None:
    assert Command("sed 's/^/> /'").translate(["ein Hund", "", "Füße"]) == ["> ein Hund", "> ", "> Füße"]
    assert Command("false").translate([]) == []


def test_a_last_line_without_an_end_counts() -> None:
    assert Command("cat >/dev/null; printf 'a\\nb'").translate(["1", "2"]) == ["a", "b"]
    assert Command("cat >/dev/null; printf '\\r\\n'").translate(["1"]) == [""]


@pytest.mark.parametrize("command", ["head -n 1", "cat; echo more", "cat > /dev/null"])
def test_a_wrong_number_of_lines_is_refused(command: str) -> None:
    with pytest.raises(NoAnswer, match=r"answered [013] lines for 2"):
        Command(command).translate(["one", "two"])


def test_failure_repeats_what_was_said() -> None:
    with pytest.raises(NoAnswer, match=r"status 3 and said:\nno such model"):
        Command("echo no such model >&2; exit 3").translate(["one"])


def test_no_answer_in_time_and_nothing_left_behind() -> None:
    begun = time.monotonic()
    with pytest.raises(NoAnswer, match=r"did not answer 1 lines in 0\.2 seconds"):
        Command("sleep 60 | cat", timeout=0.2).translate(["one"])
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize("silent", ["", " >/dev/null 2>&1"])
def test_what_the_shell_did_not_wait_for_ends_too(tmp_path: Path, silent: str) -> None:
    box = Command(f"sleep 60{silent} & echo $! > {tmp_path}/id; cat", timeout=2.0)
    if silent:
        assert box.translate(["one"]) == ["one"]
    else:
        with pytest.raises(NoAnswer, match="did not answer"):
            box.translate(["one"])
    child = Path("/proc") / (tmp_path / "id").read_text().strip() / "stat"
    until = time.monotonic() + 10
    while alive(child) and time.monotonic() < until:
        time.sleep(0.01)
    assert not alive(child)


def alive(child: Path) -> bool:
    try:
        return ") Z " not in child.read_text()
    except OSError:
        return False


def test_not_text() -> None:
    with pytest.raises(NoAnswer, match="not UTF-8"):
        Command("cat >/dev/null; printf '\\377\\n'").translate(["one"])


def test_a_line_with_a_break_is_refused() -> None:
    with pytest.raises(InputError, match=r"the line 'two\\nthree' holds a line break"):
        Command("cat").translate(["one", "two\nthree"])


@pytest.mark.parametrize("spec", ["cat", "command:", "http://", "phrase: ", "moses:folder"])
def test_bad_names(spec: str) -> None:
    with pytest.raises(ConfigError, match="black box"):
        open_black_box(spec)
