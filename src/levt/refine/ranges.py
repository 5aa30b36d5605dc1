"""Ranges: which numbers make sense for a setting, and how to say that one does not. Knows no setting.

Not a number compares false with everything, so each question is asked such that false means wrong.
"""

import dataclasses
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

from levt.errors import ConfigError, raise_all

MANY = 65_535
"""The most that is taken where a number is only a limit: beyond it somebody has mistyped."""


class Range(NamedTuple):
    """From the lowest number allowed to the highest."""

    low: float
    high: float
    above: bool = False
    """Whether the lowest is itself too low."""
    note: str = ""
    """What else is worth knowing of it."""

    def problem(self, value: Any, *, whole: bool) -> str | None:
        """What is wrong with a value, None where nothing is.

        >>> Range(1, 9).problem(0, whole=True), Range(1, 9).problem(2.5, whole=True)
        ('must be at least 1, got 0', 'must be a whole number, got 2.5')
        >>> Range(0, 1).problem(float("nan"), whole=False), Range(0, 1).problem("1", whole=False)
        ('must be between 0 and 1, got nan', "must be a number, got '1'")
        """
        # Those of numpy are numbers, too; a truth value is none.
        number = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
        if not number:
            return f"must be a {'whole ' * whole}number, got {value!r}"
        if self.low <= value <= self.high and not (self.above and value == self.low):
            return None
        if whole:
            return (
                f"must be at {f'least {self.low}' if value < self.low else f'most {self.high}'}, got {value}"
            )
        allowed = f"above {self.low} and at most" if self.above else f"between {self.low} and"
        return f"must be {allowed} {self.high}, got {value}"


RATIO = Range(0, 100, above=True)
"""How many times as long as its source a text may become."""
GAMMA = Range(-10, 10, note="the paper takes γ from 0 to 3, `levt tune` chooses it")
"""γ: beyond ten the model is no longer asked at all."""


def check_numbers(what: str, settings: Any, ranges: Mapping[str, Range]) -> None:
    """Refuse a dataclass with numbers out of their ranges, all at once; an ``int`` field takes whole numbers only.

    A ``bool`` field takes truth values only: ``"no"`` would be taken for yes.
    """
    problems, hints = [], []
    for field in dataclasses.fields(settings):
        allowed, value = ranges.get(field.name), getattr(settings, field.name)
        problem = allowed.problem(value, whole=field.type is int) if allowed else None
        if field.type is bool and not isinstance(value, bool):
            problem = f"must be True or False, got {value!r}"
        if problem:
            note = allowed.note if allowed else ""
            problems.append(f"{field.name} {problem}")
            hints.append("; ".join(filter(None, (f"{field.name} is {field.default} by default", note))))
    raise_all(ConfigError, what, problems, hint="; ".join(hints))
