"""Tables: aligned, whole, with every signature once."""

from io import StringIO

from rich.cells import cell_len
from rich.console import Console

from levt.evaluation.score import Score
from levt.evaluation.table import Row, cells, markdown, rich_table

BLEU = Score(name="BLEU", value=27.456, signature="tok:13a", interval=(26.9, 28.0), p_value=0.0123)
ROWS = [
    Row(name="do nothing", scores=(Score(name="BLEU", value=9.0, signature="tok:13a"),)),
    Row(name="ours | 犬 [bold]", scores=(BLEU, Score(name="ms", value=1.5))),
]


def test_cells() -> None:
    table = cells(ROWS)
    assert table.header == ("system", "BLEU [1]", "ms")
    assert table.body == (
        ("do nothing", "9.00", "–"),
        ("ours | 犬 [bold]", "27.46 (26.90–28.00) p=0.012", "1.50"),
    )
    assert table.notes == ("tok:13a",)


def test_flipped_is_the_same_table() -> None:
    table, flipped = cells(ROWS), cells(ROWS, flip=True)
    assert flipped.header == ("score", "do nothing", "ours | 犬 [bold]")
    turned = list(zip(*(table.header, *table.body), strict=True))
    assert flipped.body == tuple(turned[1:])
    assert flipped.notes == table.notes


def test_different_signatures_are_noted_at_the_numbers() -> None:
    other = Row(name="theirs", scores=(Score(name="BLEU", value=30.0, signature="tok:intl"),))
    table = cells([ROWS[0], other])
    assert table.header == ("system", "BLEU")
    assert [line[1] for line in table.body] == ["9.00 [1]", "30.00 [2]"]
    assert table.notes == ("tok:13a", "tok:intl")


def test_markdown_is_aligned_and_escaped() -> None:
    lines = markdown(ROWS).split("\n")
    assert len({cell_len(line) for line in lines[:4]}) == 1
    assert lines[1].startswith("|:--")
    assert lines[1].endswith("-:|")
    assert "ours \\| 犬" in lines[3]
    assert lines[4:] == ["", "[1] `tok:13a`"]
    assert markdown([Row(name="a", scores=(Score(name="x", value=1.0),))]).count("\n") == 2


def test_nothing_to_show() -> None:
    assert markdown([]).split("\n")[0] == "| system |"
    assert "ours" in markdown([Row(name="ours", scores=())])


def test_rich_shows_names_as_they_are() -> None:
    out = StringIO()
    Console(file=out, width=100).print(rich_table(ROWS))
    assert "[bold]" in out.getvalue()
    assert "BLEU [1]" in out.getvalue()
    assert "27.46 (26.90–28.00) p=0.012" in out.getvalue()
