"""How shards lie on disk: one file per format, found by the ending of a name. Knows no model.

A format cuts a file into parts of so many lines, reads the records of a part, and writes records with their results.
"""

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

from levt.errors import InputError

Record = dict[str, Any]
"""One line: ``source`` and maybe ``draft`` and ``terms``; other keys go through as they are."""

PACKED = (".gz", ".xz")


class Broken(dict[str, Any]):
    """A record that cannot be used; where it is written, it has nothing but its problem."""

    def __init__(self, error: InputError) -> None:
        super().__init__(problem=error.message)
        self.error = error


@dataclass(frozen=True, kw_only=True)
class Part:
    """Some lines of a file, one after the other."""

    file: str
    """The file, under the name that every machine knows it by."""
    first: int
    """The number of the first line, from 0."""
    lines: int
    """How many."""
    start: int
    """Where they begin, in bytes; 0 where that says nothing."""
    stop: int
    """Where they end."""
    sha256: str
    """Of these bytes, or of the whole file where they cannot be told apart."""


@runtime_checkable
class Format(Protocol):
    """What a module of this folder has."""

    def cut(self, path: Path, lines: int) -> list[Part]:
        """The parts of a file, in order, of ``lines`` lines each; one of no lines where the file is empty."""
        ...

    def read(self, part: Part) -> list[Record]:
        """The records of a part, of which some may be ``Broken``."""
        ...

    def write(self, file: BinaryIO, answered: Iterable[tuple[Record, Any]], *, json: bool) -> int:
        """Write each record with its result, as they come; how many there were."""
        ...

    def ending(self, *, json: bool) -> str:
        """What the name of an output ends with; empty where it ends like that of the input."""
        ...


def format_of(path: str | Path) -> Format:
    """The format of a file, by its name: jsonl, parquet, else text."""
    name = unpacked_name(Path(path).name)
    kind = "jsonl" if name.endswith(".jsonl") else "parquet" if name.endswith(".parquet") else "text"
    found: Format = importlib.import_module(f"{__name__}.{kind}").FORMAT
    return found


def unpacked_name(name: str) -> str:
    """A name without the ending of a packed file.

    >>> unpacked_name("a.txt.gz")
    'a.txt'
    """
    for ending in PACKED:
        name = name.removesuffix(ending)
    return name
