"""How words for people are laid out on a terminal: lines end between words, columns stay columns. Knows no verb."""

import inspect
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
FIRST_COLUMN = re.compile(r"\s*\S.*?\s{2,}(?=\S)")
BOXED = "│"
"""What is drawn in a box was laid out by whoever drew it."""


def fold(text: str, width: int) -> str:
    """A text whose longer lines are broken between words; below a second column where there are two.

    >>> print(fold("  serve  Answer over HTTP, and show the editor.", 30))
      serve  Answer over HTTP, and
             show the editor.
    """
    return "\n".join(_fold_line(line, width) for line in text.split("\n"))


def paragraphs(doc: str | None) -> str:
    r"""A docstring with one line per paragraph, to be folded where it is shown.

    >>> paragraphs("One\n    line.\n\n    Another.")
    'One line.\n\nAnother.'
    """
    return re.sub(r"(?<=\S)\n *(?=\S)", " ", inspect.cleandoc(doc or ""))


def counted(number: int, one: str) -> str:
    """So many of something.

    >>> counted(1, "line"), counted(2_000, "line")
    ('1 line', '2,000 lines')
    """
    return f"{number:,} {one}{'' if number == 1 else 's'}"


@contextmanager
def folded() -> Iterator[None]:
    """Fold what is printed meanwhile to a terminal; files and pipes are given the lines as they are."""
    with redirect_stdout(_at_width(sys.stdout)), redirect_stderr(_at_width(sys.stderr)):
        yield


def _at_width(stream: Any) -> Any:
    return Folding(stream, shutil.get_terminal_size().columns) if stream.isatty() else stream


class Folding:
    """A stream that folds what is written to it; all else is the stream's own."""

    def __init__(self, stream: Any, width: int) -> None:
        self.stream, self.width = stream, width

    def write(self, text: str) -> int:
        """Write whole lines, as all help is printed."""
        self.stream.write(fold(text, self.width))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _fold_line(line: str, width: int) -> str:
    shown = ESCAPE.sub("", line)
    if len(shown) <= width or BOXED in line:
        return line
    below = margin = len(shown) - len(shown.lstrip())
    first, *words = re.split(r"(?<=\S) (?=\S)", line)
    rows = [first]
    if column := FIRST_COLUMN.match(line):
        below = len(column[0])
        if below > width // 2:  # beside it there would be a ribbon, so the second column goes below
            below = margin + 4
            first, *words = line[column.end() :].split(" ")
            rows = [column[0].rstrip(), " " * below + first]
    for word in words:
        longer = f"{rows[-1]} {word}"
        if len(ESCAPE.sub("", longer)) > width:
            rows.append(" " * below + word)
        else:
            rows[-1] = longer
    return "\n".join(rows)
