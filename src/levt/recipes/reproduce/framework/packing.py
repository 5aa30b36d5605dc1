"""Packing a workplace: what was found, and what the rest still needs, in one archive to go on from elsewhere.

Of every finished step its small files, for they are what it found; of one that a step still to be done reads, all
files (a corpus, a model). What was interrupted stays behind, checkpoints are large: it will be begun again.
"""

import math
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from levt.errors import ConfigError
from levt.recipes.reproduce.framework.step import Step, chain
from levt.recipes.reproduce.framework.workplace import Workplace

SMALL = 512 * 1024
"""Bytes of a file that is always taken."""
FOUND = 4 * 2**20
"""The same of JSON, which is what steps find: a page that is written anew needs all of it, and no training again."""
FORMS: dict[str, Literal["w:xz", "w:gz", "w:"]] = {".xz": "w:xz", ".gz": "w:gz", ".tar": "w:"}
"""How an archive is written, by the end of its name."""


def needed(work: Workplace, *goals: Step, most: float = math.inf) -> list[Path]:
    """The files that were found on the way to some goals, and those that the rest of the way needs; in order.

    Of the latter at most so many bytes: what takes long for its size goes first, with all that leads to it. The rest
    would be made again, and not the same: what a teacher has written should go before the teacher.
    """
    pending = {step.digest for step in work.pending(*goals)}
    read = {one.digest for step in chain(*goals) if step.digest in pending for one in step.before} - pending
    finished = {step: files_of(work, step) for step in chain(*goals) if work.stamp(step) is not None}
    whole: list[Step] = []
    wanted = [step for step in finished if step.digest in read]
    again = {step: sum(one.seconds for one in chain(step)) for step in wanted}
    for step in sorted(wanted, key=lambda step: -again[step] / max(1, bytes_of(finished[step]))):
        if bytes_of(finished[step]) <= most:
            whole.append(step)
            most -= bytes_of(finished[step])
    return [
        path
        for step, files in finished.items()
        for path in files
        if step in whole or path.stat().st_size <= (FOUND if path.suffix == ".json" else SMALL)
    ]


def files_of(work: Workplace, step: Step) -> list[Path]:
    """All files of a finished step."""
    return sorted(path for path in work.place(step).rglob("*") if path.is_file())


def bytes_of(files: Sequence[Path]) -> int:
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
