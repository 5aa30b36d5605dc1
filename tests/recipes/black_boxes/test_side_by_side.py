"""Several black boxes in processes of their own: answers in order, and errors that say what is wrong."""

import os
import signal
from collections.abc import Sequence
from functools import partial

import pytest

from levt.errors import ConfigError
from levt.recipes.black_boxes import BlackBox, NoAnswer, open_black_box
from levt.recipes.black_boxes.side_by_side import translated

CHUNKS = [["a", "b"], ["c"]]


class Dies:
    def translate(self, lines: Sequence[str]) -> list[str]:
        os.kill(os.getpid(), signal.SIGKILL)
        return list(lines)


def dies() -> BlackBox:
    return Dies()


def test_answers_are_in_order() -> None:
    found = list(translated(CHUNKS, partial(open_black_box, "command:tr a-z A-Z"), 2))
    assert found == [(["a", "b"], ["A", "B"]), (["c"], ["C"])]


@pytest.mark.parametrize("processes", [1, 2])
def test_one_that_cannot_be_opened_says_why(processes: int, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="a black box of kind command has no beam"):
        list(translated(CHUNKS, partial(open_black_box, "command:cat", beam=3), processes))
    assert "Traceback" not in capfd.readouterr().err


def test_one_that_dies_is_told() -> None:
    with pytest.raises(NoAnswer, match="a process of the black box has died"):
        list(translated(CHUNKS, dies, 2))
