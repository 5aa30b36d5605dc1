"""Rows of different length: every operation is what it would be on lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from small_lessons import ragged

from levt.imitation.ragged import Ragged, interleave
from levt.text.specials import BOS, EOS, PAD

ROWS = st.lists(st.lists(st.integers(5, 30), max_size=6), max_size=6)


def lists(rows: Ragged) -> list[list[int]]:
    ends = np.cumsum(rows.lengths)
    return [rows.flat[end - length : end].tolist() for end, length in zip(ends, rows.lengths, strict=True)]


@given(ROWS)
def test_where_everything_stands(rows: list[list[int]]) -> None:
    made = ragged(rows)
    assert lists(made) == rows
    assert made.row.tolist() == [i for i, row in enumerate(rows) for _ in row]
    assert made.places.tolist() == [j for row in rows for j in range(len(row))]
    assert made.begins.tolist() == [sum(map(len, rows[:i])) for i in range(len(rows))]
    assert lists(made.bounded()) == [[BOS, *row, EOS] for row in rows]


@given(ROWS)
def test_padded(rows: list[list[int]]) -> None:
    width = max(map(len, rows), default=0)
    assert ragged(rows).padded().tolist() == [[*row, *[PAD] * (width - len(row))] for row in rows]


@given(ROWS, st.data())
def test_keep(rows: list[list[int]], data: st.DataObject) -> None:
    mask = [data.draw(st.booleans()) for row in rows for _ in row]
    wanted = iter(mask)
    assert lists(ragged(rows).keep(np.array(mask, bool))) == [
        [t for t in row if next(wanted)] for row in rows
    ]


@given(ROWS, st.data())
def test_rows_or(rows: list[list[int]], data: st.DataObject) -> None:
    other = [data.draw(st.lists(st.integers(5, 30), max_size=6)) for _ in rows]
    take = [data.draw(st.booleans()) for _ in rows]
    found = ragged(rows).rows_or(ragged(other), np.array(take, bool))
    assert lists(found) == [b if choice else a for a, b, choice in zip(rows, other, take, strict=True)]


@given(ROWS, st.data())
def test_interleave(rows: list[list[int]], data: st.DataObject) -> None:
    other = [data.draw(st.lists(st.integers(31, 60), max_size=6)) for _ in rows]
    both, of_a, of_b = interleave(a := ragged(rows), b := ragged(other))
    assert lists(both) == [row for pair in zip(rows, other, strict=True) for row in pair]
    assert both.flat[of_a].tolist() == a.flat.tolist()
    assert both.flat[of_b].tolist() == b.flat.tolist()
