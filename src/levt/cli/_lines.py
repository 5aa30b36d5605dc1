"""Line in, line out: how verbs read stdin and write stdout. Knows no model.

A line ends at ``\\n`` and nowhere else. For every line that is read one line is written, in order, whole, and as
soon as it is known; whatever a text holds, it cannot break the line it stands in.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from levt.data.lines import MARK, Lines, check_file
from levt.data.one_line import decoded, one_line, one_line_json
from levt.errors import InputError

__all__ = ["Beside", "decoded", "json_line", "one_line", "respond", "texts", "windows"]

if TYPE_CHECKING:
    from levt.engine.result import Result
    from levt.serving.batches import Remote

T = TypeVar("T")
CHUNK = 1 << 20


def windows(read: Callable[[int], bytes], most: int) -> Iterator[list[bytes]]:
    """The lines of a stream, some at a time: as many as are there already, up to ``most``.

    So a file comes in large windows, and a person or a slow pipe gets each line answered at once.

    >>> parts = iter([b"a\\nb\\nc", b"\\nd", b""])
    >>> list(windows(lambda size: next(parts), 9))
    [[b'a', b'b'], [b'c'], [b'd']]
    """
    rest: list[bytes] = []
    first = True
    while chunk := read(CHUNK):
        *whole, last = chunk.split(b"\n")
        if whole:
            whole[0] = b"".join([*rest, whole[0]])
            rest = []
            if first:
                whole[0] = whole[0].removeprefix(MARK)
                first = False
        rest.append(last)
        for start in range(0, len(whole), most):
            yield whole[start : start + most]
    if last := b"".join(rest):
        yield [last.removeprefix(MARK) if first else last]


def texts(read: Callable[[int], bytes], most: int) -> Iterator[list[str]]:
    """The texts of a stream, some at a time; where a line cannot be used, those before it come first.

    >>> parts = iter([b"a\\nb\\nc\\xff\\n", b""])
    >>> found = texts(lambda size: next(parts), 9)
    >>> next(found)
    ['a', 'b']
    >>> next(found)
    Traceback (most recent call last):
    levt.errors.InputError: line 3: it is not UTF-8 (invalid start byte at byte 1)
    hint: convert the file, as by `iconv -t UTF-8`
    """
    number = 0
    for window in windows(read, most):
        found: list[str] = []
        for line in window:
            number += 1
            try:
                found.append(decoded(line))
            except InputError as error:
                if found:
                    yield found
                raise InputError(f"line {number}: {error.message}", hint=error.hint) from None
        yield found


def json_line(result: "Result | Remote") -> str:
    """A result as JSON that stays in its line."""
    return one_line_json(result.to_json())


class Beside:
    """A file with one line for each line of the input, read along with it."""

    def __init__(self, path: Path | None) -> None:
        if path is not None:
            check_file(path)  # now, not when a model has been loaded
        self.path = path
        self._lines: Iterator[str] | None = None if path is None else self._read(path)

    @staticmethod
    def _read(path: Path) -> Iterator[str]:
        if path.is_fifo():
            with path.open("rb") as stream:
                for window in windows(stream.read1, 1 << 10):
                    yield from map(decoded, window)
            return
        for line in Lines(path, max_bytes=1 << 30):
            if line.problem is not None:
                raise InputError(
                    f"{path}: {line.problem}", hint="it must be text in UTF-8, as by `iconv -t UTF-8`"
                )
            yield line.text

    def next(self) -> str:
        """The next line; the empty text where there is no file."""
        if self._lines is None:
            return ""
        text = next(self._lines, None)
        if text is None:
            raise InputError(
                f"{self.path} has no such line", hint="it must have one line per line of the input"
            )
        return text

    def finish(self) -> None:
        """Complain about lines that nobody asked for."""
        if self._lines is not None and next(self._lines, None) is not None:
            raise InputError(
                f"{self.path} has more lines than the input",
                hint="it must have one line per line of the input",
            )


def respond(
    answer: Callable[[Iterable[str]], Iterator[T]],
    show: Callable[[T], str],
    *,
    most: int,
    beside: Sequence[Beside] = (),
) -> None:
    """Answer every line of stdin on stdout; where a line cannot be used, all lines before it are answered."""
    # Bytes, each line in one call: UTF-8 whatever the locale says, and an interrupt leaves whole lines.
    out = sys.stdout.buffer
    stream = cast(BufferedReader, sys.stdin.buffer)
    if sys.stdin.isatty():
        print("one text per line; Ctrl-D ends", file=sys.stderr)
    done = 0
    with progress() as tick:
        for window in windows(stream.read1, most):
            try:
                for result in answer(map(decoded, window)):
                    out.write(f"{show(result)}\n".encode())
                    done += 1
                    tick()
            except InputError as error:
                raise InputError(f"line {done + 1}: {error.message}", hint=error.hint) from error
            finally:
                out.flush()
    for file in beside:
        file.finish()


@contextmanager
def progress() -> Iterator[Callable[[], None]]:
    """Counts lines on stderr while the results go elsewhere; silent where nobody looks."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal or sys.stdout.isatty():
        yield lambda: None
        return
    columns = (TextColumn("{task.completed} lines"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda: bar.advance(task)
