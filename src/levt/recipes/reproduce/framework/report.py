"""Report: what a reproduction found, as the last step of its chain writes it. Knows no page and no findings.

OUT/report.json     headings, texts, tables, the names of pictures
OUT/*.png           the pictures
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from levt.recipes.shards import write_whole

REPORT = "report.json"

Cell = str | float | int | None
"""What stands in a table: numbers are shown with two digits behind the point, None as a dash."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of a page."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    digits: int = 2
    """Digits behind the point."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a page."""

    heading: str
    text: str = ""
    """Markdown, before the table."""
    table: Table | None = None
    picture: str = ""
    """Name of a PNG beside the report."""
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that was found."""

    sections: Sequence[Section]
    signatures: Sequence[str] = ()
    """Of every metric that was used."""
    values: Mapping[str, Any] | None = None
    """The same for programs: any JSON."""

    def write(self, out: Path) -> None:
        """Leave it in the folder of a step."""
        write_whole(out / REPORT, asdict(self), indent=1)


def read_report(folder: Path) -> Report:
    """What a step has left."""
    known = json.loads((folder / REPORT).read_text("utf-8"))
    sections = [
        Section(**{**one, "table": None if one["table"] is None else Table(**one["table"])})
        for one in known["sections"]
    ]
    return Report(sections=sections, signatures=known["signatures"], values=known["values"])


def markdown_table(table: Table) -> str:
    """A table in Markdown.

    >>> print(markdown_table(Table(columns=["system", "BLEU"], rows=[["LevT", 27.273], ["IT", None]])))
    | system | BLEU |
    |:---|---:|
    | LevT | 27.27 |
    | IT | – |
    """
    head = f"| {' | '.join(table.columns)} |"
    words = [i == 0 or _is_text([row[i] for row in table.rows]) for i in range(len(table.columns))]
    rule = "|" + "|".join(":---" if left else "---:" for left in words) + "|"
    body = [f"| {' | '.join(_cell(cell, table.digits) for cell in row)} |" for row in table.rows]
    return "\n".join([head, rule, *body])


def _is_text(column: Sequence[Cell]) -> bool:
    """Whether a column holds words alone: no cell begins as a number does."""
    return all(isinstance(cell, str) and not (cell[:1].isdigit() or cell[:1] in "×+-−–") for cell in column)


def _cell(cell: Cell, digits: int) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}"
    return str(cell).replace("|", "\\|")
