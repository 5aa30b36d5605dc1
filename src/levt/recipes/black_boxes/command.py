"""A black box that is a shell command: lines on stdin, as many lines on stdout. Knows nothing of what it does."""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress

from levt.errors import InputError
from levt.recipes.black_boxes import NoAnswer, answered

SHOWN = 400
"""Characters of a line, or of the command's complaints, that an error repeats."""

BY_HAND = (
    "try it by hand: it reads lines from standard input, writes as many in UTF-8, and ends with status 0"
)


class Command:
    """Runs the command once for every call; it must answer all lines and end within ``timeout`` seconds."""

    def __init__(self, command: str, *, timeout: float = 600.0) -> None:
        self.command, self.timeout = command, timeout

    def translate(self, lines: Sequence[str]) -> list[str]:
        """What the command wrote, line by line."""
        for line in lines:
            if "\n" in line or "\r" in line:
                # These are some lines of many: their numbers would say nothing.
                raise InputError(
                    f"the line {line[:SHOWN]!r} holds a line break, so the command would take it for two",
                    hint="put a space in its place",
                )
        if not lines:
            return []
        # A session of its own, so that whatever the shell has started ends with it.
        process = subprocess.Popen(
            self.command,
            shell=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, complaints = process.communicate(
                "".join(f"{line}\n" for line in lines).encode(), timeout=self.timeout
            )
        except subprocess.TimeoutExpired:
            raise NoAnswer(
                f"the command {self.command!r} did not answer {len(lines)} lines in {self.timeout:g} seconds",
                hint="give it more time, or fewer lines at once",
            ) from None
        finally:
            self._end(process)
        if process.returncode != 0:
            said = complaints.decode("utf-8", "replace").strip()[-SHOWN:]
            raise NoAnswer(
                f"the command {self.command!r} ended with status {process.returncode}"
                + (f" and said:\n{said}" if said else " and said nothing"),
                hint=BY_HAND,
            )
        try:
            text = out.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NoAnswer(
                f"the command {self.command!r} wrote what is not UTF-8 (byte {error.start})", hint=BY_HAND
            ) from error
        found = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []
        return answered(f"the command {self.command!r}", lines, found)

    @staticmethod
    def _end(process: "subprocess.Popen[bytes]") -> None:
        """Leave no process behind, not even one that the shell did not wait for."""
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.communicate()
