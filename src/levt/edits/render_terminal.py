"""A trace for the terminal: one line per iteration, insertions purple, deletions red and struck through.

Without colour (NO_COLOR, a pipe, a dumb terminal) the same is said by marks: ``[-deleted-] {+inserted+}``.
"""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from levt.edits.follow import Change, Mark
from levt.edits.numbering import labels, unlisted
from levt.edits.spans import spans
from levt.edits.trace import STOPS, Trace
from levt.edits.words import join, visible

STYLES = {Mark.KEEP: "", Mark.DELETE: "red strike", Mark.INSERT: "bold magenta"}
"""How a mark looks in colour; each differs from the others in more than its colour."""

SIGNS = {Mark.KEEP: ("", ""), Mark.DELETE: ("[-", "-]"), Mark.INSERT: ("{+", "+}")}
"""What stands around a mark without colour."""


def changes_text(changes: Sequence[Change], *, colour: bool) -> Text:
    """One iteration as a line of text with its edits marked."""
    text = Text()
    for span in spans(changes):
        text.append(" " * span.space)
        if colour:
            text.append(span.text, STYLES[span.mark])
        else:
            before, after = SIGNS[span.mark]
            text.append(f"{before}{span.text}{after}")
    return text


def rows(trace: Trace, *, colour: bool, iterations: int | None = None) -> list[tuple[str, str, Text]]:
    """The lines of a trace: what it is, how many tokens went and came, the text. The final text is last.

    Of ``iterations`` made in all, those that left no edits are one line.
    """
    dim = "dim" if colour else ""
    empty = Text("(empty)", dim)
    draft = visible(join(trace.draft_pieces))
    found = [("draft", "", Text(draft) if trace.draft else empty)]
    for label, changes in zip(labels(trace), trace.changes(), strict=True):
        marks = [change.mark for change in changes]
        gone, come = marks.count(Mark.DELETE), marks.count(Mark.INSERT)
        body = changes_text(changes, colour=colour) if gone or come else Text("nothing changed", dim)
        found.append((label, f"-{gone} +{come}", body))
    if rest := unlisted(trace, iterations):
        found.append((rest[0], "", Text(rest[1], dim)))
    if trace.stopped is not None:
        found.append(("stop", "", Text(STOPS[trace.stopped], dim)))
    found.append(
        ("result", "", Text(visible(trace.text), "bold" if colour else "") if trace.result else empty)
    )
    return found


def as_lines(lines: Sequence[tuple[str, str, Text]]) -> Text:
    """Rows as text, one line each, never wrapped."""
    width = max(len(happened) for _, happened, _ in lines)
    return Text("\n").join(
        Text.assemble(f"{label:<6}  {happened:<{width}}  ", body) for label, happened, body in lines
    )


def has_colour(console: Console) -> bool:
    """Whether a console shows colours: a terminal that can, and a user who did not say NO_COLOR."""
    return console.color_system is not None and not console.no_color


def show(
    trace: Trace, console: Console, *, iterations: int | None = None, source: str = "", note: str = ""
) -> None:
    """Print a trace: wrapped below its own column on a terminal, one line per iteration anywhere else.

    ``iterations``: how many were made in all, if that is known. ``source`` stands above the draft and ``note``
    below the result, where they are given.
    """
    colour = has_colour(console)
    lines = rows(trace, colour=colour, iterations=iterations)
    if source:
        lines.insert(0, ("source", "", Text(visible(source), "bold" if colour else "")))
    if note:
        lines.append(("", "", Text(note, "dim" if colour else "")))
    if not console.is_terminal:
        console.print(as_lines(lines), soft_wrap=True)
        return
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, happened, body in lines:
        grid.add_row(Text(label), Text(happened), body)
    console.print(grid)
