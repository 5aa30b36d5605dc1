"""Packing a workplace: what was found, and what the rest still needs, in one archive to go on from elsewhere.

Of every finished step its small files, for they are what it found; of one that a step still to be done reads, all
files (a corpus, a model). What was interrupted stays behind, checkpoints are large: it will be begun again.
"""

import math
import tarfile
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from levt.errors import ConfigError
from levt.recipes.reproduce.framework.step import Step, chain
from levt.recipes.reproduce.framework.workplace import Workplace

SMALL = 512 * 1024
"""Bytes of a file that is always taken."""
FOUND = 4 * 2**20
"""The same of JSON, which is what steps find: a page that is written anew needs all of it, and no training again."""
FOUND_FORMS = (".json", ".jsonl", ".png")
"""Ends of the names of what steps find, and write into no folder of their own: that holds a corpus or a model."""
FORMS: dict[str, Literal["w:xz", "w:gz", "w:"]] = {".xz": "w:xz", ".gz": "w:gz", ".tar": "w:"}
"""How an archive is written, by the end of its name."""


def needed(work: Workplace, *goals: Step, most: float = math.inf) -> list[Path]:
    """The files that were found on the way to some goals, and those that the rest of the way needs; in order.

    Of the latter at most so many bytes: what takes long for its size goes first, with all that leads to it. The rest
    would be made again, and not the same: what a teacher has written should go before the teacher. With no byte for
    them nothing of a corpus or a model goes, however small: an archive that may be given to anybody.
    """
    if not most:
        return [
            path for step in chain(*goals) if work.stamp(step) is not None for path in found(work.place(step))
        ]
    pending = work.pending(*goals)
    undone = {step.digest for step in pending}
    read: dict[str, set[Path]] = {}
    for step in pending:
        for name, one in step.steps.items():
            if one.digest not in undone:
                read.setdefault(one.digest, set()).update(files_of(work, one, step.parts.get(name, ("*",))))
    finished = {step: files_of(work, step) for step in chain(*goals) if work.stamp(step) is not None}
    taken: set[Path] = set()
    wanted = {step: read[step.digest] for step in finished if step.digest in read}
    again = {step: sum(one.seconds for one in chain(step)) for step in wanted}
    for step in sorted(wanted, key=lambda step: -again[step] / max(1, bytes_of(wanted[step]))):
        if bytes_of(wanted[step]) <= most:
            taken |= wanted[step]
            most -= bytes_of(wanted[step])
    return [
        path
        for files in finished.values()
        for path in files
        if path in taken or path.stat().st_size <= (FOUND if path.suffix == ".json" else SMALL)
    ]


def found(place: Path) -> list[Path]:
    """What the step in that folder found."""
    return sorted(path for path in place.iterdir() if path.suffix in FOUND_FORMS)


def files_of(work: Workplace, step: Step, parts: Sequence[str] = ("*",)) -> list[Path]:
    """The files of a finished step, or those that match a pattern."""
    place = work.place(step)
    return sorted(
        path
        for path in place.rglob("*")
        if path.is_file() and any(fnmatchcase(path.relative_to(place).as_posix(), part) for part in parts)
    )


def bytes_of(files: Collection[Path]) -> int:
    """The size of some files."""
    return sum(path.stat().st_size for path in files)


def pack(work: Workplace, file: Path, *goals: Step, most: float = math.inf) -> int:
    """Write the archive; it is unpacked into a workplace like any other. Gives the number of files in it."""
    if file.suffix not in FORMS:
        raise ConfigError(
            f"the name of an archive must end in one of {', '.join(FORMS)}, got {file.name}",
            hint="work.tar.xz is smallest, work.tar.gz is quickest",
        )
    files = needed(work, *goals, most=most)
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f".{file.name}")
    with tarfile.open(partial, FORMS[file.suffix]) as archive:
        for path in files:
            archive.add(path, path.relative_to(work.folder).as_posix(), recursive=False)
    partial.replace(file)
    return len(files)
