"""Parquet tables with the column ``source``, maybe ``draft`` and ``terms``; the result becomes ``target``."""

import hashlib
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from levt.data.one_line import one_line_json
from levt.errors import InputError, MissingExtra
from levt.recipes.shard_formats import Part, Record
from levt.recipes.shard_formats.jsonl import checked
from levt.recipes.shard_formats.text import check_regular


class Parquet:
    """Rows of tables."""

    def cut(self, path: Path, lines: int) -> list[Part]:
        """Parts by the numbers of their rows."""
        check_regular(path)
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        total = int(_opened(path).metadata.num_rows)
        return [
            Part(file=str(path), first=first, lines=min(lines, total - first), start=0, stop=0, sha256=sha256)
            for first in range(0, max(total, 1), lines)
        ]

    def read(self, part: Part) -> list[Record]:
        """The rows; only the row groups that hold some of them are read."""
        table, path = _opened(Path(part.file)), Path(part.file)
        found: list[Record] = []
        before = 0
        for group in range(table.num_row_groups):
            rows = table.metadata.row_group(group).num_rows
            begin, end = max(part.first - before, 0), min(part.first + part.lines - before, rows)
            if begin < end:
                try:
                    found += table.read_row_group(group).slice(begin, end - begin).to_pylist()
                except (OSError, ValueError) as error:
                    raise InputError(f"{path} is damaged: {error}", hint="write it anew") from error
            before += rows
        return [checked(row) for row in found]

    def write(self, file: BinaryIO, answered: Iterable[tuple[Record, Any]], *, json: bool) -> int:
        """The rows with their targets and, if JSON is asked for, with every edit as the column ``result``."""
        pyarrow, parquet = _pyarrow()
        rows = [
            {**record, "target": result.text, **({"result": one_line_json(result.to_json())} if json else {})}
            for record, result in answered
        ]
        columns: dict[str, None] = {key: None for row in rows for key in row} or {
            "source": None,
            "target": None,
        }
        table = pyarrow.table({key: [row.get(key) for row in rows] for key in columns})
        parquet.write_table(table, file)
        return len(rows)

    def ending(self, *, json: bool) -> str:
        """The name of the input."""
        return ""


FORMAT = Parquet()


def _opened(path: Path) -> Any:
    pyarrow, parquet = _pyarrow()
    try:
        return parquet.ParquetFile(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(
            f"{path} cannot be read as Parquet: {error}", hint="is it whole, and is its name right?"
        ) from error


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtra("pyarrow", "ray") from error
