"""Synthetic post-editing data as the paper makes it: one half of a corpus for a black box, drafts for the other.

``halves`` parts a parallel corpus; ``write_drafts`` lets a black box translate a part, with as many processes as
wanted, and goes on where it was stopped; ``mix`` joins real and synthetic triples. All write plain files, one
sentence a line, that ``levt prepare --draft`` reads. Never prints.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from levt.data.aligned import aligned
from levt.data.folder import new_folder
from levt.data.lines import Lines, check_file
from levt.data.one_line import one_line
from levt.errors import ConfigError, InputError, StoreError
from levt.recipes.black_boxes import answered, open_black_box
from levt.recipes.black_boxes.side_by_side import translated
from levt.recipes.shards import held, write_whole
from levt.refine.ranges import MANY, Range, check_numbers

VERSION = 1
SOURCE, DRAFT, TARGET = "source.txt", "draft.txt", "target.txt"
NOTE = "synthesis.json"
Progress = Callable[[int, int], None]


def halves(source: Path, target: Path, out: Path, *, share: float = 0.5, seed: int = 0) -> tuple[int, int]:
    """Part a corpus into OUT/first and OUT/second, each with source.txt and target.txt; gives their sizes.

    A source decides by itself (by its hash) where it goes, so equal sentences never lie in both parts.
    """
    if not 0 < share < 1:
        raise ConfigError(
            f"share must be more than 0 and less than 1, got {share}", hint="0.5 is the default"
        )
    counts = [0, 0]
    with new_folder(out) as fresh:
        parts = [fresh / "first", fresh / "second"]
        files = []
        for part in parts:
            part.mkdir()
            files.append([(part / name).open("wb") for name in (SOURCE, TARGET)])
        try:
            for x, y in aligned(source, target):
                which = 0 if first_half(x, share, seed) else 1
                counts[which] += 1
                for file, text in zip(files[which], (x, y), strict=True):
                    file.write(f"{text}\n".encode())
        finally:
            for file in (file for pair in files for file in pair):
                file.close()
        if not all(counts):
            raise InputError(
                f"{source} has too few lines to be halved: {counts[0]} and {counts[1]} would lie in the halves",
                hint="a half of no lines teaches nothing; equal sources lie in the same one",
            )
    return counts[0], counts[1]


def first_half(text: str, share: float = 0.5, seed: int = 0) -> bool:
    """Whether a source belongs to the first part."""
    number = int.from_bytes(hashlib.sha256(f"{seed}\n{text.strip()}".encode()).digest()[:8], "big")
    return number < share * 2**64


@dataclass(frozen=True, kw_only=True)
class Synthesis:
    """How drafts are written."""

    black_box: str
    """Which one, as ``open_black_box`` reads it."""
    chunk: int = 500
    """Lines that one call translates, and that an interruption can cost for each process."""
    processes: int = 1
    """How many black boxes work side by side."""
    timeout: float | None = None
    """Seconds for each call of a command or a service (600)."""
    beam: int | None = None
    """Of a model folder that writes from left to right."""

    def __post_init__(self) -> None:
        check_numbers("synthesis", self, {"chunk": Range(1, sys.maxsize), "processes": Range(1, MANY)})


def write_drafts(
    source: Path,
    target: Path,
    out: Path,
    settings: Synthesis,
    *,
    progress: Progress = lambda done, total: None,
) -> int:
    """Write OUT/source.txt, draft.txt and target.txt, line by line; gives the number of triples.

    A run that was stopped goes on after the last draft it wrote; one of other files or of another black box
    in the same folder is refused.
    """
    _check_lasting(source, target)
    total = sum(1 for _ in aligned(source, target))
    if not total:
        raise InputError(f"there is nothing to translate: {source} is empty", hint="one text per line")
    _check_ours(out, {SOURCE: source, TARGET: target})
    out.mkdir(parents=True, exist_ok=True)
    note = {
        "version": VERSION,
        "black_box": settings.black_box,
        "beam": settings.beam,
        "lines": total,
        "source": checksum(source),
        "target": checksum(target),
    }
    with held(out / ".lock") as mine:
        if not mine:
            raise StoreError(f"{out} is being written by another process", hint="wait for it")
        growing = out / f"{DRAFT}.partial"
        done, finished = whole_lines(growing), (out / DRAFT).exists()
        # A run that failed before its first draft, by a wrong name say, binds nobody.
        _same_run(out / NOTE, note, begun=done > 0 or finished)
        progress(total if finished else done, total)
        if not finished:
            _translate(source, growing, settings, done, total, progress)
        for path, name in ((source, SOURCE), (target, TARGET)):
            # Who removes the folder may be killed, too: then it goes on from what is left.
            if not finished or not (out / name).exists():
                _write_plain(path, out / name)
        if not finished:
            growing.replace(out / DRAFT)
    return total


def _translate(
    source: Path, growing: Path, settings: Synthesis, done: int, total: int, progress: Progress
) -> None:
    """Write the drafts of all lines behind those that are done."""
    texts = (line.text for line in islice(Lines(source, max_bytes=1 << 30), done, None))
    chunks = iter(lambda: list(islice(texts, settings.chunk)), [])
    opened = partial(open_black_box, settings.black_box, timeout=settings.timeout, beam=settings.beam)
    with growing.open("ab") as file:
        if done == total:
            return
        for asked, answers in translated(chunks, opened, settings.processes):
            checked = answered(settings.black_box, asked, answers)
            file.write("".join(f"{one_line(text)}\n" for text in checked).encode())
            file.flush()
            os.fsync(file.fileno())
            done += len(checked)
            progress(done, total)


def mix(synthetic: Sequence[Path], real: Sequence[Path], out: Path, *, times: int = 10) -> tuple[int, int]:
    """Write a folder of triples: the synthetic ones, and the real ones so many times; gives both counts.

    Each is three files, source, draft and target, or one folder that ``write_drafts`` wrote.
    """
    if problem := Range(1, MANY).problem(times, whole=True):
        raise ConfigError(f"times {problem}", hint="10 is the default")
    counts = []
    with new_folder(out) as fresh:
        names = (SOURCE, DRAFT, TARGET)
        files = [(fresh / name).open("wb") for name in names]
        try:
            for given, repeats in ((synthetic, 1), (real, times)):
                paths = triple(given)
                if repeats > 1:
                    _check_lasting(*paths)
                count = 0
                for _ in range(repeats):
                    for texts in aligned(*paths):
                        count += 1
                        for file, text in zip(files, texts, strict=True):
                            file.write(f"{text}\n".encode())
                counts.append(count)
        finally:
            for file in files:
                file.close()
    return counts[0], counts[1]


def triple(paths: Sequence[Path]) -> list[Path]:
    """The files of a triple: three, or those of one folder."""
    if len(paths) == 1 and paths[0].is_dir():
        return [paths[0] / name for name in (SOURCE, DRAFT, TARGET)]
    if len(paths) == 3:
        return list(paths)
    raise InputError(
        f"triples are three files, source, draft and target, or one folder of them, got {len(paths)} paths",
        hint="a folder of them is what `levt synthesize drafts` writes",
    )


def _check_lasting(*paths: Path) -> None:
    """Raise an InputError where a file cannot be read again: the second time, a pipe would be empty."""
    for path in paths:
        check_file(path)
        if not path.is_file():
            raise InputError(
                f"{path} can be read only once, and is needed again", hint="write it to a file first"
            )


def whole_lines(path: Path) -> int:
    """How many whole lines a file has; a broken last one, of a run that was killed, is cut off."""
    if not path.exists():
        return 0
    count = whole = 0
    with path.open("r+b") as file:
        for line in file:
            if line.endswith(b"\n"):
                count += 1
                whole += len(line)
        file.truncate(whole)
    return count


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_ours(out: Path, given: dict[str, Path]) -> None:
    """Raise a StoreError where a folder holds files that no run has written; those that are given may lie there."""
    if (out / NOTE).exists():
        return
    for path in (out / name for name in (SOURCE, DRAFT, TARGET)):
        if path.exists() and not (path.name in given and path.samefile(given[path.name])):
            raise StoreError(
                f"{path} exists already, and no run has written it", hint="choose another folder"
            )


def _same_run(path: Path, note: dict[str, object], *, begun: bool) -> None:
    """Write down what this run is, or find that the folder's is the same."""
    if begun and path.exists():
        try:
            known = json.loads(path.read_text("utf-8"))
        except ValueError as error:
            raise StoreError(f"{path} is damaged", hint="remove the folder and begin again") from error
        other = [key for key in note if known.get(key) != note[key]]
        if other:
            raise StoreError(
                f"{path.parent} holds drafts of another run: {', '.join(other)} differ",
                hint="choose another folder, or remove it",
            )
        return
    write_whole(path, note, indent=1)


def _write_plain(path: Path, to: Path) -> None:
    """Copy the lines of a file, which may be packed."""
    fresh = to.with_name(f".{to.name}.partial")
    with fresh.open("wb") as file:
        for line in Lines(path, max_bytes=1 << 30):
            file.write(f"{line.text}\n".encode())
    shutil.move(fresh, to)
