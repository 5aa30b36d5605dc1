"""Reading JSON values strictly: each function returns the value with its type, or says what is wrong where.

Knows nothing of edits. ``where`` is the path of the value, as in ``iterations[2].script.drop``.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from levt.errors import InputError, raise_all

T = TypeVar("T")
HINT = "it must be as `to_json` wrote it"
LARGEST = sys.float_info.max
"""Not a number is not below it, and JSON has whole numbers that are above it."""


def read_object(
    value: Any, where: str, required: set[str], optional: set[str] | None = None
) -> Mapping[str, Any]:
    """A JSON object with exactly these keys.

    >>> read_object({"drop": []}, "script", {"drop"})
    {'drop': []}
    >>> read_object({"dorp": []}, "script", {"drop"})
    Traceback (most recent call last):
    levt.errors.InputError: script: 2 problems
      - missing key 'drop'
      - unknown key 'dorp'
    hint: it must be as `to_json` wrote it
    """
    if not isinstance(value, dict):
        raise InputError(f"{where} must be an object, got {shown(value)}", hint=HINT)
    problems = [f"missing key {key!r}" for key in sorted(required - value.keys())]
    # Keys of a dict made in Python need not be strings: sort by how they are written.
    problems += [
        f"unknown key {key!r}" for key in sorted(value.keys() - required - (optional or set()), key=repr)
    ]
    raise_all(InputError, where, problems, hint=HINT)
    return value


def read_list(value: Any, where: str) -> list[Any]:
    """A JSON array of anything."""
    if not isinstance(value, list):
        raise InputError(f"{where} must be a list, got {shown(value)}", hint=HINT)
    return value


def read_bools(value: Any, where: str) -> tuple[bool, ...]:
    """A JSON array of true and false; 0 and 1 are not accepted."""
    for i, item in enumerate(read_list(value, where)):
        if not isinstance(item, bool):
            raise InputError(f"{where}[{i}] must be true or false, got {shown(item)}", hint=HINT)
    return tuple(value)


def read_ints(value: Any, where: str) -> tuple[int, ...]:
    """A JSON array of integers; true and false are not accepted, though Python takes them for integers."""
    for i, item in enumerate(read_list(value, where)):
        if not isinstance(item, int) or isinstance(item, bool):
            raise InputError(f"{where}[{i}] must be an integer, got {shown(item)}", hint=HINT)
    return tuple(value)


def read_floats(value: Any, where: str) -> tuple[float, ...]:
    """A JSON array of finite numbers; 1 is accepted for 1.0, because JavaScript writes it so."""
    for i, item in enumerate(read_list(value, where)):
        if not isinstance(item, int | float) or isinstance(item, bool) or not abs(item) <= LARGEST:
            raise InputError(f"{where}[{i}] must be a finite number, got {shown(item)}", hint=HINT)
    return tuple(float(item) for item in value)


def read_strings(value: Any, where: str) -> tuple[str, ...]:
    """A JSON array of strings."""
    for i, item in enumerate(read_list(value, where)):
        if not isinstance(item, str):
            raise InputError(f"{where}[{i}] must be a string, got {shown(item)}", hint=HINT)
    return tuple(value)


def build(kind: Callable[..., T], where: str, **fields: Any) -> T:
    """``kind(**fields)``, with the path in front of what it finds wrong."""
    try:
        return kind(**fields)
    except InputError as error:
        raise InputError(f"{where}: {error.message}", hint=error.hint) from None


def shown(value: Any) -> str:
    """A value as an error message shows it: never a whole file."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
