"""One trainer in a folder at a time. The kernel holds the lock and frees it when the process ends, however it ends."""

import errno
import os
import socket
import time
from pathlib import Path
from typing import ClassVar

from levt.errors import LevtError

try:
    import fcntl
except ImportError:  # not on this system; runs are not guarded there
    fcntl = None  # type: ignore[assignment]

CANNOT = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""What a file system says that knows no locks."""


class FolderInUse(LevtError):
    """Somebody else trains in this folder."""


class RunLock:
    """The right to write to the folder of a run. A process may ask again for what it has."""

    NAME = Path("checkpoints", "run.lock")
    _held: ClassVar[dict[Path, int]] = {}

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder.resolve() / self.NAME

    def acquire(self, patience: float = 0.0) -> None:
        """Take the lock; wait so many seconds for a process that is just being ended."""
        if fcntl is None or self.path in self._held:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            self._wait(handle, time.monotonic() + patience)
        except BaseException:
            os.close(handle)
            raise
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        self._held[self.path] = handle

    def _wait(self, handle: int, until: float) -> None:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError as error:
                if time.monotonic() >= until:
                    who = os.pread(handle, 200, 0).decode("utf-8", "replace").strip() or "another process"
                    raise FolderInUse(
                        f"{self.folder} is in use: {who} trains there",
                        hint="wait for it, stop it, or use another --out folder",
                    ) from error
                time.sleep(0.05)
            except OSError as error:
                if error.errno in CANNOT:
                    return
                raise

    def release(self) -> None:
        """Give it back. The file stays: to remove it would let two processes lock two files of one name."""
        handle = self._held.pop(self.path, None)
        if handle is not None:
            os.close(handle)
