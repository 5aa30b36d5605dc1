"""Sharded text answered by a model: exactly one line out for each line in, in order, whatever dies on the way.

    OUT/a.txt                 a finished shard: written beside, synced and renamed
    OUT/.levt/a.txt.json      its note: checksums of what it was made from, and its own; without it, it is not finished
    OUT/.levt/identity.json   what the work is; other work is refused
    OUT/manifest.json         at the end: all shards in order, with lines and checksums

Run the command again to go on. Several commands, of several machines that share the folder, may do so at once.
"""

import hashlib
import json as json_module
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from levt.data.terms import terms_of
from levt.engine.result import Result
from levt.errors import InputError, LevtError, StoreError, reason
from levt.recipes.answering import Answering, Answers, Row
from levt.recipes.distillation import Progress
from levt.recipes.shard_formats import Broken, Record, format_of
from levt.recipes.shard_plan import MANIFEST, Piece
from levt.recipes.shards import IDENTITY, Pieces, shared, this_process, trouble_told, write_whole
from levt.recipes.workers import Local, Runner, Work

NOTES = ".levt"


class LineShards(Pieces):
    """The pieces of a plan and the folder of their answers."""

    def __init__(self, out: Path, plan: Sequence[Piece], identity: dict[str, Any]) -> None:
        super().__init__(Path(os.path.abspath(out)) / NOTES)
        self.out, self.plan = self.folder.parent, list(plan)
        self.count = sum(piece.lines for piece in plan)
        try:
            note = self.folder / IDENTITY
            if not note.exists():
                if self.out.exists() and any(path.name != NOTES for path in self.out.iterdir()):
                    raise StoreError(f"{out} is not empty", hint="choose another folder")
                self.folder.mkdir(parents=True, exist_ok=True)
                write_whole(note, identity)
            known = json_module.loads(note.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise StoreError(
                f"{out} cannot be written: {reason(error)}", hint="choose another folder"
            ) from error
        if known != json_module.loads(json_module.dumps(identity)):
            before, now = ({**made.get("settings", {}), **made} for made in (known, identity))
            differ = [key for key in before | now if before.get(key) != now.get(key) and key != "settings"]
            other = ", ".join(differ) or "settings"
            raise StoreError(
                f"{out} was begun with another {other}", hint="choose another folder, or remove that one"
            )

    @property
    def number(self) -> int:
        """How many pieces there are."""
        return len(self.plan)

    def examples(self, piece: int) -> int:
        """How many lines a piece has."""
        return self.plan[piece].lines

    def finished(self, piece: int) -> bool:
        """Whether a piece has a note, and a file as long as the note says."""
        note = self.note(piece)
        try:
            return note is not None and (self.out / self.plan[piece].name).stat().st_size == note["bytes"]
        except OSError:
            return False

    def note(self, piece: int) -> dict[str, Any] | None:
        """What is known of a finished piece, if it is finished and from this very input."""
        try:
            note = json_module.loads(self._note(piece).read_text("utf-8"))
            return note if note["input"] == self.plan[piece].identity else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def forget_damaged(self) -> int:
        """Let pieces be done again whose files are not what was written; how many."""
        damaged = 0
        for piece, planned in enumerate(self.plan):
            if (note := self.note(piece)) is None:
                continue
            try:
                with (self.out / planned.name).open("rb") as file:
                    whole = hashlib.file_digest(file, "sha256").hexdigest() == note["sha256"]
            except OSError:
                whole = False
            if not whole:
                self._note(piece).unlink(missing_ok=True)
                damaged += 1
        return damaged

    def write(self, piece: int, answered: Iterator[tuple[Record, Any]], *, json: bool) -> None:
        """Finish a piece."""
        planned = self.plan[piece]
        broken = [0]

        def counted() -> Iterator[tuple[Record, Any]]:
            for record, result in answered:
                broken[0] += isinstance(record, Broken)
                yield record, result

        growing = self.folder / f".{planned.name}.{this_process()}"
        try:
            with growing.open("wb") as file:
                count = format_of(planned.parts["source"].file).write(file, counted(), json=json)
                file.flush()
                os.fsync(file.fileno())
            if count != planned.lines:
                raise AssertionError(f"{count} answers for {planned.lines} lines of {planned.name}")
            with growing.open("rb") as written:
                sha256 = hashlib.file_digest(written, "sha256").hexdigest()
            size = growing.stat().st_size
            growing.replace(self.out / planned.name)
            note = {
                "input": planned.identity,
                "lines": count,
                "broken": broken[0],
                "bytes": size,
                "sha256": sha256,
            }
            write_whole(self._note(piece), note)
        except OSError as error:
            raise StoreError(
                f"{self.out / planned.name} cannot be written: {error.strerror or error}",
                hint="make room, then run the command again: it goes on from what is finished",
            ) from error
        finally:
            growing.unlink(missing_ok=True)

    def close(self) -> int:
        """Write the manifest, when all is finished; locks go, and what killed runs have left. How many were broken."""
        shards: list[dict[str, Any]] = []
        for piece, planned in enumerate(self.plan):
            note = self.note(piece)
            assert note is not None
            shards.append({"name": planned.name, **note})
        write_whole(self.out / MANIFEST, {"lines": self.count, "shards": shards}, indent=1)
        for left in (*self.folder.glob("*.lock"), *self.folder.glob(".*")):
            left.unlink(missing_ok=True)
        return sum(shard["broken"] for shard in shards)

    def _note(self, piece: int) -> Path:
        return self.folder / f"{self.plan[piece].name}.json"


@dataclass(frozen=True, kw_only=True)
class LineWork:
    """The work: each piece is read, answered and written by whoever has it."""

    answering: Answering
    """What is asked of the model."""
    pieces: LineShards
    """What is to be done, and where it goes."""
    json: bool = False
    """Whether the answers have every edit."""
    skip_broken: bool = False
    """Whether lines that cannot be used get an empty answer, and are counted, instead of stopping all."""

    def open(self, device: str | None) -> "_Doing":
        """Load the model."""
        return _Doing(self, self.answering.open(device))


class _Doing:
    def __init__(self, work: LineWork, answers: Answers) -> None:
        self.work, self.answers = work, answers

    def __call__(self, piece: int) -> None:
        self.work.pieces.write(piece, self._answered(self.work.pieces.plan[piece]), json=self.work.json)

    def _answered(self, piece: Piece) -> Iterator[tuple[Record, Any]]:
        records = _records(piece)
        done = 0
        nothing = Result.empty(self.answers.model.engine.tokenizers.target)
        skip = self.work.skip_broken
        try:
            results = self.answers(_row(r) for r in records if not (skip and isinstance(r, Broken)))
            for record in records:
                broken = skip and isinstance(record, Broken)
                yield record, nothing if broken else next(results)
                done += 1
        except InputError as error:
            part = piece.parts["source"]
            message = f"{part.file}, line {part.first + done + 1}: {error.message}"
            raise InputError(message, hint=error.hint) from error


def _records(piece: Piece) -> list[Record]:
    """The records of a piece, with what lies beside them."""
    columns = {field: format_of(part.file).read(part) for field, part in piece.parts.items()}
    records = columns.pop("source")
    for field, beside in columns.items():
        for i, (record, other) in enumerate(zip(records, beside, strict=True)):
            if isinstance(other, Broken) and not isinstance(record, Broken):
                records[i] = Broken(InputError(f"{field}: {other.error.message}", hint=other.error.hint))
            elif not isinstance(record, Broken):
                record[field] = other["source"]
    return records


def _row(record: Record) -> Row:
    if isinstance(record, Broken):
        raise record.error
    terms = record.get("terms")
    return Row(record["source"], record.get("draft") or "", terms_of("" if terms is None else terms))


@dataclass(frozen=True)
class Answered:
    """What came of it."""

    lines: int
    """Lines of the input, and so of the output."""
    shards: int
    """Files of the output."""
    before: int
    """Lines that were finished by an earlier run."""
    damaged: int
    """Shards of an earlier run that were not what was written, and were made again."""
    broken: int = 0
    """Lines that could not be used, and have an empty answer."""


def answer_shards(
    answering: Answering,
    plan: Sequence[Piece],
    out: Path,
    *,
    json: bool = False,
    skip_broken: bool = False,
    runner: Runner | None = None,
    progress: Progress = lambda done, total: None,
) -> Answered:
    """Answer every line of the plan into the folder ``out``; what was done before is not done again."""
    whole = hashlib.sha256(json_module.dumps([[p.name, p.identity] for p in plan]).encode()).hexdigest()
    placed = partial(LineShards, out, plan, {**answering.identity, "json": json, "input": whole})
    new = not out.exists()
    folder = placed().folder  # what is no place for it, or has other work, is left as it was
    try:
        with trouble_told(out), shared(folder, lasting=True):
            shards = placed()
            damaged = shards.forget_damaged()
            before = shards.done
            work: Work = LineWork(answering=answering, pieces=shards, json=json, skip_broken=skip_broken)
            (runner or Local())(work, progress)
            broken = shards.close()
    except LevtError:
        if new and not folder.exists():
            with suppress(OSError):
                out.rmdir()
        raise
    return Answered(shards.count, shards.number, before, damaged, broken)
