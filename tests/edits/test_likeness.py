"""Likeness against the table of the reference oracle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from levt.edits.likeness import common, likeness
from levt.edits.oracle_reference import lcs_table

rows = st.lists(st.integers(0, 4), max_size=90)


@given(rows, rows)
def test_it_is_one_less_the_distance(one: list[int], other: list[int]) -> None:
    longest = lcs_table(one, other)[-1][-1]
    assert common(one, other) == common(other, one) == longest
    distance = len(one) + len(other) - 2 * longest
    assert likeness(one, other) == pytest.approx(1 - distance / max(len(one) + len(other), 1))
    assert (likeness(one, other) == 1.0) == (one == other)
