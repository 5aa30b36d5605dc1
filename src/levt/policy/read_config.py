"""The configuration of a network, read strictly from JSON. Knows no kind by name."""

import importlib
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from levt.errors import ConfigError, raise_all
from levt.policy.config import CONFIGS, ModelConfig


def config_from_json(saved: Mapping[str, Any]) -> ModelConfig:
    """Read what ``to_json`` wrote; unknown keys, missing keys and wrong types are errors, named together.

    >>> from levt.policy.config import LevTConfig
    >>> config = LevTConfig(source_vocabulary=9, target_vocabulary=9)
    >>> config_from_json(config.to_json()) == config
    True
    """
    # A kind may be defined beside its network; build knows them all.
    importlib.import_module("levt.policy.build")
    if "kind" not in saved:
        raise ConfigError("config: the key 'kind' is missing", hint=f"one of {', '.join(CONFIGS)}")
    kind = saved["kind"]
    if not isinstance(kind, str) or kind not in CONFIGS:
        raise ConfigError(f"config: unknown kind {kind!r}", hint=f"one of {', '.join(CONFIGS)}")
    cls = CONFIGS[kind]
    hints = get_type_hints(cls)
    values = {k: v for k, v in saved.items() if k != "kind"}
    known = [f.name for f in fields(cls)]
    problems = [f"unknown key {key!r}" for key in values if key not in known]
    required = [f.name for f in fields(cls) if f.default is MISSING]
    problems += [f"the key {name!r} is missing" for name in required if name not in values]
    problems += [
        f"{name} must be {_words(hints[name])}, got {value!r}"
        for name, value in values.items()
        if name in known and not _fits(value, hints[name])
    ]
    raise_all(ConfigError, f"config of kind {kind!r}", problems)
    values.update({name: float(value) for name, value in values.items() if hints[name] is float})
    return cls(**values)


def _choices(hint: Any) -> list[Any]:
    """The alternatives of a union, or the hint alone."""
    return list(get_args(hint)) if get_origin(hint) in (Union, types.UnionType) else [hint]


def _fits(value: Any, hint: Any) -> bool:
    """Whether a JSON value is of a field's type; True is no number, and 1 will do for 1.0."""
    for choice in _choices(hint):
        if get_origin(choice) is Literal:
            if isinstance(value, str) and value in get_args(choice):
                return True
        elif choice is float:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return True
        elif type(value) is choice:
            return True
    return False


def _words(hint: Any) -> str:
    """A field's type in words."""
    names = {int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}
    return " or ".join(
        " or ".join(repr(a) for a in get_args(choice)) if get_origin(choice) is Literal else names[choice]
        for choice in _choices(hint)
    )
