"""Work that is done piece by piece, by any number of processes, and survives being killed. Knows no model.

    WORK/identity.json     what the work is; other work is refused
    WORK/00012.json        a finished piece: written beside, synced and renamed, so it is whole or not there
    WORK/00012.lock        held by the process that works on the piece; the system lets go when it dies
    WORK/busy.lock         shared by all commands that work here; the last to leave removes the folder

Every process does the same: take a piece that nobody holds, until all are finished.
"""

import json
import os
import shutil
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from levt.errors import LevtError, StoreError, reason

try:
    import fcntl
except ImportError:  # no such locks on this system: two processes may do a piece twice, with one result
    fcntl = None  # type: ignore[assignment]

IDENTITY = "identity.json"
WAIT = 0.1
"""Seconds between two looks at what the others are doing."""


class Pieces(ABC):
    """Work in pieces 0 … number-1; what a finished one looks like is for the kind of work to say."""

    count: int
    """Examples of all pieces together."""

    def __init__(self, folder: Path) -> None:
        """``folder``: where the locks are."""
        self.folder = folder
        self._known: set[int] = set()

    @property
    @abstractmethod
    def number(self) -> int:
        """How many pieces there are."""

    @abstractmethod
    def examples(self, piece: int) -> int:
        """How many examples a piece has."""

    @abstractmethod
    def finished(self, piece: int) -> bool:
        """Whether a piece is done."""

    @property
    def left(self) -> list[int]:
        """The pieces that are not done; what is done stays done, so it is looked for only once."""
        left = [piece for piece in range(self.number) if piece not in self._known]
        self._known.update(piece for piece in left if self.finished(piece))
        return [piece for piece in left if piece not in self._known]

    @property
    def done(self) -> int:
        """How many examples are done."""
        return self.count - sum(self.examples(piece) for piece in self.left)

    def claimed(self) -> Iterator[int]:
        """Pieces to work on, each held by us alone until the next is asked for; ends when all are finished."""
        while left := self.left:
            took = False
            for piece in left:
                with held(self.folder / f"{piece:05d}.lock") as mine:
                    if mine and not self.finished(piece):
                        took = True
                        yield piece
            if not took:
                time.sleep(WAIT)  # others have what is left; if one of them dies, its piece becomes free


class Shards(Pieces):
    """The pieces of one piece of work: examples 0 … count-1, ``size`` at a time."""

    def __init__(self, folder: Path, *, count: int, size: int, identity: dict[str, Any]) -> None:
        super().__init__(folder)
        self.count, self.size = count, size
        known = {**identity, "count": count, "size": size}
        folder.mkdir(parents=True, exist_ok=True)
        note = folder / IDENTITY
        if not note.exists():
            write_whole(note, known)
        try:
            same = json.loads(note.read_text("utf-8")) == known
        except ValueError as error:
            raise StoreError(f"{note} is damaged", hint="remove that folder and begin again") from error
        if not same:
            raise StoreError(
                f"{folder} holds the beginning of other work", hint="remove that folder, or finish it first"
            )

    @property
    def number(self) -> int:
        """How many pieces there are."""
        return -(-self.count // self.size)

    def rows(self, piece: int) -> range:
        """The examples of a piece."""
        return range(piece * self.size, min((piece + 1) * self.size, self.count))

    def finished(self, piece: int) -> bool:
        """Whether a piece is done."""
        return self._file(piece).exists()

    def examples(self, piece: int) -> int:
        """How many examples a piece has."""
        return len(self.rows(piece))

    def write(self, piece: int, value: Any) -> None:
        """Finish a piece."""
        write_whole(self._file(piece), value)

    def read(self, piece: int, **parts: type) -> Any:
        """What was written for a piece; where parts are named, an object that has them, each of this type."""
        try:
            found = json.loads(self._file(piece).read_text("utf-8"))
            for name, kind in parts.items():
                if not isinstance(found[name], kind):
                    raise ValueError(f"{name} is no {kind.__name__}")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"{self._file(piece)} is damaged: {reason(error)}", hint="remove it and run the command again"
            ) from error
        return found

    def _file(self, piece: int) -> Path:
        return self.folder / f"{piece:05d}.json"


@contextmanager
def trouble_told(folder: Path) -> Iterator[None]:
    """Tell trouble with the disk (no room, no right to write, a folder that has gone) as an error of the user's."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{error.filename or folder} cannot be used: {error.strerror or error}",
            hint="put that right, then run the command again: it goes on from what is finished",
        ) from error


@contextmanager
def shared(folder: Path, *, lasting: bool = False) -> Iterator[None]:
    """Work in a folder together with others; when the block ends well, the last to leave removes it unless it lasts.

    So it does where the work was refused before its first piece: a mistake binds nobody.
    """
    with _joined(folder) as file:
        try:
            yield
        except LevtError:
            if {path.name for path in folder.glob("*.json")} <= {IDENTITY}:
                _remove(folder, file)
            raise
        if not lasting:
            _remove(folder, file)


def _remove(folder: Path, file: TextIO) -> None:
    """Remove a folder, unless others hold its lock."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
    shutil.rmtree(folder, ignore_errors=True)


def _joined(folder: Path) -> TextIO:
    """The lock of a folder, shared with the others; made anew where the last of them removes it just now."""
    lock = folder / "busy.lock"
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            file = lock.open("w")
        except FileNotFoundError:
            continue
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_SH)
        if lock.exists() and lock.stat().st_ino == os.fstat(file.fileno()).st_ino:
            return file
        file.close()


@contextmanager
def held(lock: Path, *, wait: bool = False) -> Iterator[bool]:
    """Hold a lock file that ends with the process; gives False where another has it and we do not wait."""
    with lock.open("w") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
        yield True


def this_process() -> str:
    """A name for this process that no other has, of whatever machine: in containers all have the same number."""
    return f"{socket.gethostname()}.{os.getpid()}"


def write_whole(path: Path, value: Any, *, indent: int | None = None) -> None:
    """Write JSON so that it is on the disk, whole, or not there under this name."""
    partial = path.with_name(f".{path.name}.{this_process()}")
    try:
        with partial.open("w", encoding="utf-8") as file:
            json.dump(value, file, indent=indent, ensure_ascii=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
