"""A new folder, written whole or not at all, by one process at a time. Knows nothing of what is in it."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from levt.errors import StoreError

try:
    import fcntl
except ImportError:  # no such locks on this system: the last writer wins
    fcntl = None  # type: ignore[assignment]


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside ``path``; at the end it is synced and takes the name, on error it goes.

    What a killed run has left is cleared by the next one. An OSError (a full disk) becomes a StoreError. Where
    ``path`` is a link, what it points to is made.
    """
    check_name(path)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise StoreError(f"{path} exists already", hint="remove it or choose another folder")
    place = path.resolve()
    partial = place.with_name(f".{place.name}.partial")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _locked(place.with_name(f".{place.name}.lock"), path):
            shutil.rmtree(partial, ignore_errors=True)
            try:
                partial.mkdir()
                yield partial
                sync(partial)
                partial.replace(place)
                sync_one(place.parent)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror or error}",
            hint="nothing was left behind; make room or choose another place, then run it again",
        ) from error


def check_name(path: Path) -> None:
    """Raise a StoreError where no folder can take this name: the one we are in would go from under our feet."""
    if path.resolve() == Path.cwd():
        raise StoreError(f"{path} is the folder you are in", hint="name a new folder, which will be made")


@contextmanager
def _locked(lock: Path, path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process, so that a live run is never cleared away."""
    with lock.open("w") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise StoreError(
                    f"{path} is being written by another process", hint="wait for it or choose another folder"
                ) from error
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def sync(folder: Path) -> None:
    """Wait until a folder and everything in it is on the disk."""
    for root, _, files in os.walk(folder, topdown=False):
        for name in files:
            sync_one(Path(root, name))
        sync_one(Path(root))


def sync_one(path: Path) -> None:
    """Wait until one file, or the names in one folder, are on the disk."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot sync a folder; there is nothing better to do than to go on.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)
