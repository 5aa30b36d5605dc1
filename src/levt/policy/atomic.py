"""A folder in the place of another: at every moment one of them is there, whole. Knows not what is in it.

Everything is written to a folder beside the final one, synced to the disk and renamed into place. Where a
folder is replaced, the two change places in one step of the kernel (Linux), so that at every moment either
the old or the new one is there.
"""

import contextlib
import ctypes
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from levt.data.folder import sync, sync_one

RENAME_EXCHANGE = 2
AT_FDCWD = -100


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A new folder to fill: it becomes ``folder`` when the block ends well and vanishes when it does not."""
    folder = Path(os.path.abspath(folder))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        # By the name that somebody chose, not by one that nobody knows.
        raise OSError(error.errno, error.strerror, str(folder)) from error
    try:
        yield partial
        # mkdtemp, and whoever writes by it, lets only the owner in; this is to be as open as anything new.
        mask = _umask()
        for path in (partial, *partial.rglob("*")):
            path.chmod((0o777 if path.is_dir() else 0o666) & ~mask)
        sync(partial)
        replace_folder(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def replace_folder(new: Path, folder: Path) -> None:
    """Put ``new`` in the place of ``folder``; what was there before is left under the name of ``new``."""
    if not folder.exists():
        new.rename(folder)
    elif not _exchange(new, folder):
        # No exchange here (another system): two renames, and the old one back if the second fails.
        old = new.with_name(f"{new.name}.old")
        folder.rename(old)
        try:
            new.rename(folder)
        except BaseException:
            old.rename(folder)
            raise
        old.rename(new)
    sync_one(folder.parent)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; False where that cannot be done."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):  # TypeError: on Windows a library must have a name
        return False
    code: int = renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)
    return code == 0


def _umask() -> int:
    """The permissions that new files do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
