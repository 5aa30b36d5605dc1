"""Plain text, one source a line; the results are lines of text, or of JSON if that is asked for."""

import gzip
import hashlib
import lzma
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from levt.data.lines import MARK, check_file
from levt.data.one_line import decoded, one_line, one_line_json
from levt.errors import InputError, reason
from levt.recipes.shard_formats import PACKED, Broken, Part, Record

BLOCK = 1 << 20


class Text:
    """Lines that end at ``\\n`` and nowhere else."""

    def cut(self, path: Path, lines: int) -> list[Part]:
        """Parts by their bytes; a packed file is one part, since it can only be read from its beginning."""
        check_regular(path)
        if path.suffix in PACKED:
            return [packed(path)]
        parts: list[Part] = []
        with path.open("rb") as file:
            for start, stop, count, sha256 in stretches(file, lines):
                first = parts[-1].first + parts[-1].lines if parts else 0
                parts.append(
                    Part(file=str(path), first=first, lines=count, start=start, stop=stop, sha256=sha256)
                )
        return parts

    def read(self, part: Part) -> list[Record]:
        """The sources."""
        return [self.record(line) for line in lines_of(part)]

    def record(self, line: bytes) -> Record:
        """The record of a line."""
        try:
            return {"source": decoded(line)}
        except InputError as error:
            return Broken(error)

    def write(self, file: BinaryIO, answered: Iterable[tuple[Record, Any]], *, json: bool) -> int:
        """One line per result."""
        count = 0
        for _, result in answered:
            count += 1
            text = one_line_json(result.to_json()) if json else one_line(result.text)
            file.write(f"{text}\n".encode())
        return count

    def ending(self, *, json: bool) -> str:
        """The name of the input, which says it is JSON where it is."""
        return ".jsonl" if json else ""


FORMAT = Text()


def check_regular(path: Path) -> None:
    """Raise an InputError where a file is not there, or can be read only once."""
    check_file(path)
    if not path.is_file():
        raise InputError(
            f"{path} is no plain file", hint="shards are read again after a fault: write it to a file"
        )


def stretches(file: BinaryIO, lines: int) -> Iterator[tuple[int, int, int, str]]:
    """Where stretches of so many lines begin and end in a file, how many they have, and their checksums."""
    start = at = count = 0
    digest, last = hashlib.sha256(), b"\n"
    while block := file.read(BLOCK):
        begin = 0
        while (more := block.count(b"\n", begin)) + count >= lines:
            end = begin
            for _ in range(lines - count):
                end = block.index(b"\n", end) + 1
            digest.update(block[begin:end])
            at += end - begin
            yield start, at, lines, digest.hexdigest()
            start, count, begin, digest = at, 0, end, hashlib.sha256()
        digest.update(block[begin:])
        at, count, last = at + len(block) - begin, count + more, block[-1:]
    if at > start or at == 0:
        yield start, at, count + (last != b"\n"), digest.hexdigest()


def packed(path: Path) -> Part:
    """A packed file as one part."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    whole = Part(file=str(path), first=0, lines=0, start=0, stop=0, sha256=sha256)
    return Part(**{**vars(whole), "lines": sum(1 for _ in lines_of(whole)), "stop": path.stat().st_size})


def lines_of(part: Part) -> Iterator[bytes]:
    """The lines of a part, without their ends."""
    path = Path(part.file)
    try:
        if path.suffix in PACKED:
            with (gzip if path.suffix == ".gz" else lzma).open(path, "rb") as unpacked:
                yield from _split(unpacked)
            return
        with path.open("rb") as file:
            file.seek(part.start)
            rest = file.read(part.stop - part.start)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise InputError(
            f"{path} cannot be read: {reason(error)}", hint="is it whole, and may you read it?"
        ) from error
    if hashlib.sha256(rest).hexdigest() != part.sha256:
        raise InputError(f"{path} has changed while it was worked on", hint="run the command again")
    if rest:
        rest = rest.removesuffix(b"\n")
        yield from (rest if part.first else rest.removeprefix(MARK)).split(b"\n")


def _split(file: Any) -> Iterator[bytes]:
    for number, line in enumerate(file):
        yield (line if number else line.removeprefix(MARK)).removesuffix(b"\n")
