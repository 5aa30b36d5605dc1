"""Lines of a text file, plain or packed, in bounded memory. Knows nothing of what the lines mean.

A line ends at ``\\n`` (or ``\\r\\n``) and nowhere else: U+2028, U+0085 and their like are text, so that
line-aligned files stay aligned.
"""

import difflib
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from levt.errors import InputError, reason

MARK = b"\xef\xbb\xbf"
"""A byte-order mark, as some programs write it before the first line."""


class Line(NamedTuple):
    """One line with its number, from 1; where there is a ``problem`` there is no text."""

    number: int
    text: str
    problem: str | None = None


class Lines:
    """The lines of a file, once; a line that is no UTF-8 or longer than ``max_bytes`` comes as a problem."""

    def __init__(self, path: Path, *, max_bytes: int) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self.position = 0
        """How many bytes of the file, as it lies on disk, have been read."""

    def __iter__(self) -> Iterator[Line]:
        number = 0
        # Room for the end of a line and, before the first, for a byte-order mark.
        room = self.max_bytes + 2 + len(MARK)
        with _opened(self.path) as (raw, file):
            while line := file.readline(room):
                number += 1
                if number == 1:
                    line = line.removeprefix(MARK)
                if number & 0xFF == 1 and raw.seekable():
                    self.position = raw.tell()
                ended = line.endswith(b"\n")
                text = line.removesuffix(b"\n").removesuffix(b"\r")
                if len(text) > self.max_bytes:
                    while not ended and (rest := file.readline(1 << 16)):
                        ended = rest.endswith(b"\n")
                    yield Line(number, "", f"longer than {self.max_bytes} bytes")
                    continue
                try:
                    yield Line(number, text.decode("utf-8"))
                except UnicodeDecodeError as error:
                    yield Line(number, "", f"not UTF-8 ({error.reason} at byte {error.start})")
            if raw.seekable():  # a pipe does not tell
                self.position = raw.tell()


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A file and its unpacked bytes, by the ending of its name; trouble becomes an InputError."""
    check_file(path)
    try:
        with path.open("rb") as raw:
            if path.suffix == ".gz":
                with gzip.open(raw, "rb") as unpacked:
                    yield raw, cast(BinaryIO, unpacked)
            elif path.suffix == ".xz":
                with lzma.open(raw, "rb") as unpacked:
                    yield raw, cast(BinaryIO, unpacked)
            else:
                yield raw, raw
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError) as error:
        raise InputError(
            f"{path} is damaged or not packed as its name says: {error}", hint="try to unpack it by hand"
        ) from error
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {reason(error)}", hint="is it there, and may you read it?"
        ) from error


def check_file(path: Path) -> None:
    """Raise an InputError where there is no such file; pipes and devices are files, too."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file", hint="name a file in it")
    if path.exists():
        return
    beside = os.listdir(path.parent) if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, beside, n=1)
    if near:
        hint = f"did you mean {path.parent / near[0]}?"
    else:
        hint = (
            f"the folder {path.parent.resolve()} has no file of such a name"
            if path.parent.is_dir()
            else f"there is no folder {path.parent}"
        )
    raise InputError(f"{path} does not exist", hint=hint)
