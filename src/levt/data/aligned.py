"""Texts that belong together line by line, from several files. Knows nothing of what the lines mean."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from levt.data.lines import Lines
from levt.errors import InputError


def aligned(*paths: Path) -> Iterator[tuple[str, ...]]:
    """The texts of line-aligned files; files of different lengths are an InputError."""
    readers = [Lines(path, max_bytes=1 << 30) for path in paths]
    for rows in zip_longest(*readers):
        short = [path for path, row in zip(paths, rows, strict=True) if row is None]
        if short:
            raise InputError(
                f"{short[0]} has fewer lines than {next(p for p in paths if p not in short)}",
                hint="line i of each must belong to line i of the others",
            )
        for path, row in zip(paths, rows, strict=True):
            if row.problem is not None:
                raise InputError(
                    f"{path}, line {row.number}: {row.problem}",
                    hint="correct the line, or `iconv -t UTF-8` the file",
                )
        yield tuple(row.text for row in rows)
