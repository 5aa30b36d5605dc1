"""Settings whose values are choices refuse any other value, numbers what is none, by whatever way it comes."""

from dataclasses import fields, replace
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from levt.data.read import Sieve
from levt.errors import ConfigError
from levt.imitation.denoising_lessons import DenoisingTeaching
from levt.imitation.drafts import Drafts
from levt.imitation.insertion_lessons import InsertionTeaching
from levt.imitation.masked_lessons import MaskedTeaching
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.policy.config import LevTConfig
from levt.policy.masked import MaskedConfig
from levt.refine.options import Options
from levt.refine.search import SearchOptions
from levt.serving.client import Patience
from levt.training.config import TrainingConfig

MADE = [
    LevTConfig(source_vocabulary=9, target_vocabulary=9),
    MaskedConfig(source_vocabulary=9, target_vocabulary=9),
    RollIn(),
    InsertionTeaching(),
    TrainingConfig(),
    Sieve(),
]


def has_choices(hint: Any) -> bool:
    return any(get_origin(one) is Literal for one in (hint, *get_args(hint)))


CASES = [
    (settings, field.name)
    for settings in MADE
    for field in fields(settings)
    if has_choices(get_type_hints(type(settings))[field.name])
]


@pytest.mark.parametrize(
    ("settings", "name"), CASES, ids=lambda case: case if isinstance(case, str) else type(case).__name__
)
def test_no_other_value(settings: Any, name: str) -> None:
    known = getattr(settings, name)
    # Past the tests' own check of types, which would be first.
    object.__setattr__(settings, name, "otherwise")
    try:
        with pytest.raises(ConfigError, match=f"{name} must be one of .*, got 'otherwise'"):
            settings.__post_init__()
    finally:
        object.__setattr__(settings, name, known)
    settings.__post_init__()


def test_all_are_looked_at() -> None:
    assert len(CASES) > 15


NUMBERS = [
    (settings, field.name)
    for settings in (
        *MADE,
        DenoisingTeaching(),
        Drafts(),
        MaskedTeaching(),
        ObjectiveConfig(),
        Options(),
        Patience(),
        SearchOptions(),
    )
    for field in fields(settings)
    if float in (field.type, *get_args(field.type))
]


@pytest.mark.parametrize(
    ("settings", "name"), NUMBERS, ids=lambda case: case if isinstance(case, str) else type(case).__name__
)
def test_no_number_is_not_a_number(settings: Any, name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be .*, got nan"):
        replace(settings, **{name: float("nan")})


def test_many_numbers_are_looked_at() -> None:
    assert len(NUMBERS) > 20
