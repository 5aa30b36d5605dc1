"""Step: a function, what it needs and how it is set; its digest says whether it has been done. Knows no folder.

    digest = hash of (function, version, config, digests of the steps and checksums of the files it reads)

So a step that two chains share is one step, a changed setting or file makes a new one with everything behind it,
and where the files lie, what a step is called and how long it takes change nothing.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from levt.errors import InputError, raise_all, reason


@dataclass(frozen=True, kw_only=True)
class Job:
    """What the function of a step is given."""

    label: str
    """What the step is called."""
    inputs: Mapping[str, Path]
    """By name, the folder of an earlier step, or a file."""
    config: Mapping[str, Any]
    """The settings of the step, as JSON has them."""
    out: Path
    """Folder to write into; it takes its final name when the function has returned."""
    tell: Callable[[str], None] = lambda text: None
    """Say how it goes, in one line."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Step:
    """One piece of work."""

    label: str
    """What it is called: letters, digits, dots and dashes; no part of its identity."""
    run: Callable[[Job], None]
    """A function of a module, so that another process can find it."""
    inputs: "Mapping[str, Step | Path]" = field(default_factory=dict)
    """Earlier steps and files, by the names under which the function knows them."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """JSON values; all that changes the result, a seed included."""
    seconds: float = 1.0
    """How long it takes, about."""
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of an earlier step that is not read whole, by its name, patterns of the files that are; no part of the digest."""
    version: int = 1
    """Raised where the function's code changes what it gives."""
    alone: bool = False
    """Whether nothing else may run beside it: it takes the time of something."""
    light: bool = False
    """Whether it needs little of the machine: it runs beside the others and takes none of their places."""
    resumes: bool = False
    """Whether the function goes on from what it finds in its folder after a kill; else the folder is cleared."""

    @property
    def function(self) -> str:
        """Where the function is found: ``module:name``."""
        return f"{self.run.__module__}:{self.run.__qualname__}"

    @property
    def steps(self) -> "dict[str, Step]":
        """The steps it reads, by the names under which the function knows them."""
        return {name: one for name, one in self.inputs.items() if isinstance(one, Step)}

    @property
    def before(self) -> "list[Step]":
        """The steps it reads."""
        return list(self.steps.values())

    @property
    def files(self) -> dict[str, Path]:
        """The files it reads."""
        return {name: one for name, one in self.inputs.items() if isinstance(one, Path)}

    @cached_property
    def checksums(self) -> dict[str, str]:
        """SHA-256 of each file it reads."""
        return {name: checksum(path) for name, path in sorted(self.files.items())}

    @cached_property
    def read(self) -> dict[str, str]:
        """The digest of each step it reads."""
        return {name: one.digest for name, one in sorted(self.inputs.items()) if isinstance(one, Step)}

    @cached_property
    def digest(self) -> str:
        """What the step is, in 16 hexadecimal digits."""
        known = {
            "function": self.function.rpartition(":")[2],
            "version": self.version,
            "config": self.config,
            "steps": self.read,
            "files": self.checksums,
        }
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:16]


@lru_cache(maxsize=4096)
def checksum(path: Path) -> str:
    """SHA-256 of a file, read once in a process."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {reason(error)}", hint="is it there, and may you read it?"
        ) from error


def chain(*goals: Step) -> list[Step]:
    """All steps that lead to some goals, each once and behind those it reads; steps of one digest are one."""
    found: dict[str, Step] = {}

    def visit(step: Step) -> None:
        if step.digest not in found:
            for one in step.before:
                visit(one)
            found[step.digest] = step

    for goal in goals:
        visit(goal)
    return list(found.values())


def files_of(*goals: Step) -> list[Path]:
    """The files that the chain reads; looks at no content."""
    paths: dict[Path, None] = {}
    seen: set[int] = set()

    def visit(step: Step) -> None:
        if id(step) not in seen:
            seen.add(id(step))
            paths.update(dict.fromkeys(step.files.values()))
            for one in step.before:
                visit(one)

    for goal in goals:
        visit(goal)
    return list(paths)


def missing_files(*goals: Step) -> list[Path]:
    """Those of its files that are not there."""
    return [path for path in files_of(*goals) if not path.is_file()]


def check_files(*goals: Step, hint: str | None = None) -> None:
    """Refuse a chain whose files are not all there, or of which some are empty, before any work; names all of them."""
    problems = [f"{path} is missing" for path in missing_files(*goals)]
    problems += [
        f"{path} is empty" for path in files_of(*goals) if path.is_file() and not path.stat().st_size
    ]
    raise_all(InputError, "data", problems, hint=hint)
