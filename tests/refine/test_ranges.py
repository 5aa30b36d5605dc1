"""Numbers of settings: nonsense is refused, whatever the class, with what is allowed and a hint."""

from typing import Any

import numpy as np
import pytest

from levt.engine.batching import Budget
from levt.errors import ConfigError
from levt.refine.insert_decode import InsertOptions
from levt.refine.mask_predict import MaskPredictOptions
from levt.refine.options import Options
from levt.refine.rerank import Candidates
from levt.refine.search import SearchOptions

NONSENSE = (float("nan"), float("inf"), float("-inf"), "3", None, True, 10**20, -(10**20))
NUMBERS = {
    Options: ("max_iterations", "empty_gap_penalty", "min_edit", "max_ratio", "min_room", "max_count"),
    SearchOptions: ("beam", "n_best", "length_penalty", "max_ratio", "min_room"),
    MaskPredictOptions: ("max_iterations", "max_ratio", "min_room", "length_beam"),
    InsertOptions: ("empty_gap_penalty",),
    Candidates: ("gaps", "around"),
    Budget: ("rows", "tokens", "window"),
}


def made(cls: Any, name: str, value: Any) -> Any:
    """As a user makes it: without the check of types that the tests put around every class."""
    settings = cls()
    object.__setattr__(settings, name, value)
    settings.__post_init__()
    return settings


@pytest.mark.parametrize("cls", NUMBERS)
@pytest.mark.parametrize("value", NONSENSE)
def test_no_setting_takes_nonsense(cls: Any, value: Any) -> None:
    for name in NUMBERS[cls]:
        with pytest.raises(ConfigError, match=f"{name} must be") as caught:
            made(cls, name, value)
        assert f"got {value!r}" in caught.value.message
        assert f"{name} is" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("cls", "name", "low", "high"),
    [
        (Options, "max_iterations", 1, 65535),
        (Options, "empty_gap_penalty", -10.0, 10.0),
        (Options, "min_edit", 0.0, 1.0),
        (SearchOptions, "length_penalty", 0.0, 10.0),
    ],
)
def test_the_ends_of_a_range_are_inside(cls: Any, name: str, low: float, high: float) -> None:
    for value, step in ((low, -1), (high, 1)):
        assert getattr(cls(**{name: value}), name) == value
        with pytest.raises(ConfigError, match=name):
            cls(**{name: value + step})


def test_hints_name_defaults_and_what_the_paper_takes() -> None:
    with pytest.raises(ConfigError, match="2 problems") as caught:
        Options(max_iterations=-3, empty_gap_penalty=float("nan"))
    assert "max_iterations is 10 by default" in str(caught.value)
    assert "γ from 0 to 3" in str(caught.value)
    with pytest.raises(ConfigError, match="a penalty must be between -10 and 10, got inf"):
        Candidates(penalties=(1.0, float("inf")))


def test_a_ratio_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="max_ratio must be above 0 and at most 100, got 0"):
        Options(max_ratio=0.0)


def test_numbers_of_numpy_are_numbers() -> None:
    assert made(Options, "max_iterations", np.int64(3)).max_iterations == 3
    assert made(Options, "min_edit", np.float32(0.5)).min_edit == 0.5
