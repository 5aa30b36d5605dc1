"""Experiments: one function each, which returns its whole configuration, and the work that is made of several steps.

A recipe is the name of such a function, with dashes, or ``file.py:function``. The work: run an experiment, distil,
chain both, answer shards, synthesise drafts, post-edit, reproduce the paper.
"""

import ast
import difflib
import importlib
import importlib.util
import inspect
import pkgutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from levt.errors import ConfigError, LevtError

if TYPE_CHECKING:
    from levt.recipes.experiment import Experiment


def recipes() -> "dict[str, Callable[[], Experiment]]":
    """Every recipe of this folder by its name, with dashes."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name != "experiment":
            found.update(_recipes_of(importlib.import_module(f"{__name__}.{module.name}")))
    return dict(sorted(found.items()))


def summaries() -> dict[str, str]:
    """The first sentence of every recipe of this folder, read and not imported: a list should not wait for torch."""
    found = {}
    for path in Path(__file__).parent.glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if (
                isinstance(node, ast.FunctionDef)
                and isinstance(node.returns, ast.Name)
                and node.returns.id == "Experiment"
                and not node.name.startswith("_")
            ):
                found[node.name.replace("_", "-")] = (ast.get_docstring(node) or "").partition("\n")[0]
    return dict(sorted(found.items()))


def recipe(name: str) -> "Experiment":
    """The experiment of a recipe by name, or of a function in a Python file: ``mine.py:my_recipe``."""
    if ".py" in name:
        path, _, function = name.partition(":")
        return _called(_from_file(Path(path), function), Path(path))
    known = recipes()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        guess = f"did you mean {' or '.join(near)}? " if near else ""
        raise ConfigError(
            f"unknown recipe {name!r}",
            hint=f"{guess}`levt train --help` lists them; one of your own is file.py:function",
        )
    return known[name]()


def _recipes_of(module: Any) -> "dict[str, Callable[[], Experiment]]":
    from levt.recipes.experiment import Experiment

    return {
        name.replace("_", "-"): function
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and not name.startswith("_")
        and inspect.signature(function).return_annotation in (Experiment, Experiment.__name__)
    }


def _from_file(path: Path, function: str) -> "Callable[[], Experiment]":
    if not path.is_file():
        raise ConfigError(
            f"the recipe file {path} does not exist", hint="a recipe of your own is file.py:function"
        )
    spec = importlib.util.spec_from_file_location(f"recipe_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # a dataclass in the file looks itself up there
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise _fault(error, path) from error
    found = _recipes_of(module)
    wanted = function.replace("_", "-") or next(iter(found), "")
    if wanted not in found:
        raise ConfigError(
            f"{path} has no recipe{f' {function!r}' if function else ''}",
            hint="a recipe is a function annotated to return Experiment",
        )
    recipe = found[wanted]
    try:
        inspect.signature(recipe).bind()
    except TypeError as error:
        raise ConfigError(
            f"{path}: the recipe {recipe.__name__} cannot be called: {error}",
            hint="a recipe takes no arguments, or has a default for each",
        ) from None
    return recipe


def _called(make: "Callable[[], Experiment]", path: Path) -> "Experiment":
    """What a recipe of a file returns; what is wrong with it is told like what is wrong with the file."""
    from levt.recipes.experiment import Experiment

    try:
        made = make()
    except Exception as error:
        raise _fault(error, path) from error
    if not isinstance(made, Experiment):
        raise ConfigError(
            f"{path}: the recipe {make.__name__} must return an Experiment, got {made!r}",
            hint="return Experiment(…), as its annotation says",
        )
    return made


def _fault(error: Exception, path: Path) -> ConfigError:
    """What is wrong with a recipe file, and where."""
    if isinstance(error, LevtError):
        said, hint = error.message, error.hint
    else:
        said, hint = f"{type(error).__name__}: {getattr(error, 'msg', error)}", None
    return ConfigError(f"the recipe file {path}{_line(error, path)}: {said}", hint=hint or "correct the file")


def _line(error: Exception, path: Path) -> str:
    """Where in a file something went wrong."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    where = [frame.lineno for frame in frames if Path(frame.filename) == path.absolute()]
    return f", line {where[-1]}" if where else ""
