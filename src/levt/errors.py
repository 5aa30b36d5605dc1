"""Every error a user can cause. Imports nothing of levt, so everything may import it.

    LevtError
    ├── InputError        a text, a line or a file that cannot be used
    ├── ConfigError       a setting outside what is allowed
    ├── StoreError        a corpus on disk that is missing, damaged or of another version
    ├── ModelError        a model folder or checkpoint that cannot be loaded
    └── MissingExtra      a feature whose optional packages are not installed

A message says what, which value and what is allowed; ``hint`` says what to do.
"""

import dataclasses
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

FLAGS = "`levt train RECIPE --help` explains each setting"
"""What to do about a setting of a recipe."""


class LevtError(Exception):
    """Something the user can put right; the command line prints it without a traceback."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        # From another process an error comes as it was, whatever its own way to be made.
        return _again, (type(self), self.message, self.hint)


def _again(cls: type[LevtError], message: str, hint: str | None) -> LevtError:
    error = cls.__new__(cls)
    LevtError.__init__(error, message, hint=hint)
    return error


class InputError(LevtError):
    """A text, a line or a file that cannot be used."""


class ConfigError(LevtError):
    """A setting outside what is allowed."""


class StoreError(LevtError):
    """A corpus on disk that is missing, damaged or of another version."""


class ModelError(LevtError):
    """A model folder or checkpoint that cannot be loaded."""


class MissingExtra(LevtError):
    """A feature whose optional packages are not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"the package {package!r} is not installed", hint=f"pip install 'levt[{extra}]'")


def reason(error: BaseException) -> str:
    """What went wrong, for a message that names the file itself: an OSError without its number and its path.

    >>> reason(FileNotFoundError(2, "No such file or directory", "a.txt")), reason(KeyError("cases"))
    ('No such file or directory', "the key 'cases' is missing")
    """
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 ({error.reason} at byte {error.start})"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, KeyError):
        return f"the key {error} is missing"
    return str(error) or type(error).__name__


def wrong_choices(settings: Any) -> list[str]:
    """A problem for each field of a dataclass that is none of the choices its type lists.

    >>> @dataclasses.dataclass
    ... class Made:
    ...     colour: Literal["red", "blue"] | None
    >>> wrong_choices(Made(colour="rot")), wrong_choices(Made(colour=None))
    (["colour must be one of red, blue, got 'rot'"], [])
    """
    return [
        f"{name} must be one of {', '.join(map(str, choices))}, got {value!r}"
        for name, (choices, or_none) in _choices(settings.__class__).items()
        if (value := getattr(settings, name)) not in choices and not (or_none and value is None)
    ]


@cache
def _choices(cls: type) -> dict[str, tuple[tuple[Any, ...], bool]]:
    """The fields of a dataclass that have choices, with these, and whether None will do."""
    hints, found = get_type_hints(cls), {}
    for field in dataclasses.fields(cls):
        hint = hints[field.name]
        listed = [hint] if get_origin(hint) is Literal else list(get_args(hint))
        or_none = type(None) in listed
        listed = [one for one in listed if one is not type(None)]
        if listed and all(get_origin(one) is Literal for one in listed) and (hint in listed or or_none):
            found[field.name] = (tuple(choice for one in listed for choice in get_args(one)), or_none)
    return found


def raise_all(error: type[LevtError], what: str, problems: Sequence[str], *, hint: str | None = None) -> None:
    """Raise one error that lists every problem; do nothing when there is none.

    >>> raise_all(LevtError, "config.json", [])
    >>> raise_all(LevtError, "config.json", ["width must be positive, got 0", "unknown key 'dim'"])
    Traceback (most recent call last):
    levt.errors.LevtError: config.json: 2 problems
      - width must be positive, got 0
      - unknown key 'dim'
    """
    if not problems:
        return
    if len(problems) == 1:
        raise error(f"{what}: {problems[0]}", hint=hint)
    listed = "\n".join(f"  - {problem}" for problem in problems)
    raise error(f"{what}: {len(problems)} problems\n{listed}", hint=hint)
