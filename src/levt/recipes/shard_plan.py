"""From files, folders and patterns to pieces of work with names and checksums. Knows no model.

Every piece becomes one output: a file of no more than so many lines one of its own name, a longer one several,
numbered. The plan is a function of the input alone, so it is the same whenever and wherever it is made.
"""

import glob
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from levt.data.lines import check_file
from levt.data.read import shards_in
from levt.errors import ConfigError, InputError
from levt.recipes.shard_formats import Part, format_of, unpacked_name

MANIFEST = "manifest.json"
OURS = (MANIFEST, "identity")
"""Names that no shard may have: of what is written beside them, and of a note that is none of a shard."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Lines of the input that are answered together, and the name of the file with the answers."""

    name: str
    """Of the output."""
    parts: Mapping[str, Part]
    """``source``, and the lines that belong to it from files of ``draft`` and ``terms`` where there are any."""

    @property
    def lines(self) -> int:
        """How many there are."""
        return self.parts["source"].lines

    @property
    def identity(self) -> dict[str, Any]:
        """What the output depends on; not the folder that the input lies in."""
        return {field: {**asdict(part), "file": Path(part.file).name} for field, part in self.parts.items()}


def plan(
    inputs: Sequence[str],
    *,
    beside: Mapping[str, Sequence[str]] | None = None,
    lines: int,
    json: bool = False,
) -> list[Piece]:
    """Pieces of at most ``lines`` lines, in order; ``beside`` are files with a line for each line of the input."""
    if lines < 1:
        raise ConfigError(f"shard-lines must be at least 1, got {lines}", hint="10000 is the default")
    columns = {"source": files_of(inputs)}
    for field, paths in (beside or {}).items():
        columns[field] = files_of(paths)
        if len(columns[field]) != len(columns["source"]):
            raise InputError(
                f"there are {len(columns['source'])} files of sources and {len(columns[field])} of {field}",
                hint="each file of sources needs one of its own, in the order of the names",
            )
    # Checksums are computed outside Python's lock, so threads do.
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        cuts = {
            field: list(pool.map(lambda path: format_of(path).cut(path, lines), paths))
            for field, paths in columns.items()
        }
    pieces: list[Piece] = []
    for number, path in enumerate(columns["source"]):
        parts = {field: found[number] for field, found in cuts.items()}
        for field, found in parts.items():
            _check_alike(field, found, parts["source"])
        several = len(parts["source"]) > 1
        for i in range(len(parts["source"])):
            name = _name(path, i if several else None) + format_of(path).ending(json=json)
            pieces.append(Piece(name=name, parts={field: found[i] for field, found in parts.items()}))
    for name, times in Counter(piece.name for piece in pieces).items():
        if times > 1:
            raise InputError(f"two shards would be written to {name}", hint="rename one of them")
        if name in OURS:
            raise InputError(f"no shard may be called {name}: levt has a file of that name", hint="rename it")
    return pieces


def files_of(paths: Sequence[str]) -> list[Path]:
    """The files of files, folders and patterns; those of a folder or a pattern in the order of their names.

    Names that begin with a dot or an underscore, and the manifest of an earlier run, are not data.
    """
    found: list[Path] = []
    for path in paths:
        if os.path.isdir(path):
            some = shards_in(Path(path))
        elif glob.has_magic(path) and not os.path.exists(path):
            some = [Path(one) for one in sorted(glob.glob(path, recursive=True)) if os.path.isfile(one)]
        else:
            check_file(Path(path))
            some = [Path(path)]
        if not some:
            raise InputError(
                f"there is no file in {path}", hint="name a file, a folder of files, or a pattern"
            )
        found += [Path(os.path.abspath(one)) for one in some]
    return found


def _name(path: Path, number: int | None) -> str:
    """The name of an output, without what it may end with.

    >>> _name(Path("x/a.en.gz"), None), _name(Path("x/a.en.gz"), 12)
    ('a.en', 'a-00012.en')
    """
    name = unpacked_name(path.name)
    stem, dot, ending = name.rpartition(".")
    if number is None:
        return name
    return f"{stem}-{number:05d}.{ending}" if dot else f"{name}-{number:05d}"


def _check_alike(field: str, found: Sequence[Part], sources: Sequence[Part]) -> None:
    if [part.lines for part in found] != [part.lines for part in sources]:
        counts = [sum(part.lines for part in parts) for parts in (sources, found)]
        if counts[0] == counts[1]:
            packed, plain = sorted((found, sources), key=len)  # of a packed file nothing can be cut off
            raise InputError(
                f"{packed[0].file} is packed and {plain[0].file} is not, and they are too long for one shard",
                hint="unpack it, or raise --shard-lines",
            )
        raise InputError(
            f"{sources[0].file} has {counts[0]} lines and {found[0].file} has {counts[1]}",
            hint=f"the file of {field} must have one line per line of the input",
        )
