"""A shell for the scripts of one page."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))  # the generators of the reference


class Shell:
    """Runs the scripts of one page in its folder; what they leave behind ends with the page."""

    def __init__(self, folder: Path, path: str) -> None:
        self.folder, self._groups = folder, list[int]()
        quiet = {
            "OMP_NUM_THREADS": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "HF_HUB_OFFLINE": "1",
            "NO_COLOR": "1",
        }
        self._environ = {
            **os.environ,
            **quiet,
            "PATH": f"{path}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "COLUMNS": "100",
        }

    def run(self, script: str, timeout: float = 900) -> str:
        """What a script wrote; a failure is an assertion with all of it."""
        log = self.folder / ".log"
        # To a file, not a pipe: a server that a page starts goes on after its block, and holds the stream.
        with log.open("wb") as out:
            process = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", script],
                cwd=self.folder,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._groups.append(process.pid)
            status = process.wait(timeout)
        said = log.read_text(encoding="utf-8", errors="replace")
        assert status == 0, f"status {status} of\n{script}\n{said}"
        return said

    def close(self) -> None:
        for group in self._groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)
