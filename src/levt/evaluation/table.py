"""Tables of scores, for a page (Markdown) and for a terminal (rich), with signatures as footnotes."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from levt.evaluation.score import Score


@dataclass(frozen=True, kw_only=True)
class Row:
    """A system and its scores."""

    name: str
    scores: tuple[Score, ...]


@dataclass(frozen=True, kw_only=True)
class Cells:
    """A table as texts: the first column names the system, or the score where it is flipped."""

    header: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    """The signatures; note 1 is ``[1]`` in the table."""


def cells(rows: Sequence[Row], *, flip: bool = False) -> Cells:
    """The table: one column per name of a score, in the order in which they first appear; flipped, one line.

    A signature is noted at the name of the score, or at each number where they differ.
    """
    columns: dict[str, list[Score | None]] = {}
    for row in rows:
        columns |= {score.name: [] for score in row.scores if score.name not in columns}
    for name, column in columns.items():
        column += [next((score for score in row.scores if score.name == name), None) for row in rows]
    notes: list[str] = []
    lines = [["score", *(row.name for row in rows)]]
    for name, column in columns.items():
        marks = {score.signature: _mark(score.signature, notes) for score in column if score is not None}
        alone = len(marks) == 1
        numbers = ["–" if s is None else _number(s) + ("" if alone else marks[s.signature]) for s in column]
        lines.append([name + (next(iter(marks.values())) if alone else ""), *numbers])
    if not flip:
        lines = [list(line) for line in zip(*lines, strict=True)]
        lines[0][0] = "system"
    return Cells(header=tuple(lines[0]), body=tuple(map(tuple, lines[1:])), notes=tuple(notes))


def _mark(signature: str, notes: list[str]) -> str:
    """The mark of a signature, which is added to the notes where it is new."""
    if not signature:
        return ""
    if signature not in notes:
        notes.append(signature)
    return f" [{notes.index(signature) + 1}]"


def _number(score: Score) -> str:
    """A score as text, with its interval and p-value where they are known."""
    text = f"{score.value:.2f}"
    if score.interval is not None:
        low, high = score.interval
        text += f" ({low:.2f}–{high:.2f})"
    if score.p_value is not None:
        text += f" p={score.p_value:.3f}"
    return text


def markdown(rows: Sequence[Row], *, flip: bool = False) -> str:
    """The table in Markdown, its columns aligned.

    >>> print(markdown([Row(name="ours", scores=(Score(name="BLEU", value=27.5, signature="tok:13a"),))]))
    | system | BLEU [1] |
    |:-------|---------:|
    | ours   |    27.50 |
    <BLANKLINE>
    [1] `tok:13a`
    """
    table = cells(rows, flip=flip)
    lines = [[text.replace("|", "\\|") for text in line] for line in (table.header, *table.body)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    padded = [
        [
            line[0] + " " * (widths[0] - cell_len(line[0])),
            *(
                " " * (width - cell_len(text)) + text
                for text, width in zip(line[1:], widths[1:], strict=True)
            ),
        ]
        for line in lines
    ]
    rule = "|".join([f":{'-' * (widths[0] + 1)}", *("-" * (width + 1) + ":" for width in widths[1:])])
    drawn = [f"| {' | '.join(line)} |" for line in padded]
    notes = [f"[{number}] `{note}`" for number, note in enumerate(table.notes, 1)]
    return "\n".join([drawn[0], f"|{rule}|", *drawn[1:], *([""] if notes else []), *notes])


def rich_table(rows: Sequence[Row], *, flip: bool = False) -> Table:
    """The table for a terminal, without the notes: signatures must not be broken into lines."""
    content = cells(rows, flip=flip)
    table = Table()
    for number, name in enumerate(content.header):
        table.add_column(Text(name), justify="right" if number else "left", overflow="fold")
    for line in content.body:
        table.add_row(*map(Text, line))
    return table
