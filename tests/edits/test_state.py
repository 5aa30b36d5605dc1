"""The edits against their definitions on plain lists."""

from dataclasses import replace

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given

from device_waits import no_waiting
from levt.edits.state import State, delete, fill, fit, insert
from levt.text.specials import BOS, EOS, PAD, PLH

tokens = st.lists(st.integers(5, 9), max_size=8)
batches = st.lists(tokens, min_size=1, max_size=5)


def random_bool(like: torch.Tensor, seed: int) -> torch.Tensor:
    return torch.rand(like.shape, generator=torch.Generator().manual_seed(seed)) < 0.5


def test_of_and_rows_are_inverse() -> None:
    rows = [[], [7], [5, 6, 7]]
    state = State.of(rows)
    assert state.rows() == rows
    assert state.y.tolist()[0] == [BOS, EOS, PAD, PAD, PAD]
    assert state.lengths.tolist() == [2, 3, 5]
    assert State.of([], width=4).y.shape == (0, 4)


@given(batches, st.integers(0, 10**6))
def test_delete_removes_just_what_is_dropped(rows: list[list[int]], seed: int) -> None:
    state = State.of(rows)
    drop = random_bool(state.y, seed)
    after = delete(state, drop)
    expected = [
        [t for t, gone in zip(row, gones[1:], strict=False) if not gone]
        for row, gones in zip(rows, drop.tolist(), strict=True)
    ]
    assert after.rows() == expected
    assert after.y.shape == state.y.shape
    assert after.y[:, 0].eq(BOS).all()


@given(batches, st.integers(0, 10**6))
def test_locked_tokens_survive_and_stay_locked(rows: list[list[int]], seed: int) -> None:
    plain = State.of(rows)
    state = replace(plain, locked=random_bool(plain.y, seed) & plain.inner)
    after = delete(state, torch.ones_like(state.locked))
    assert after.rows() == [
        [t for t, lock in zip(row, locks[1:], strict=False) if lock]
        for row, locks in zip(rows, state.locked.tolist(), strict=True)
    ]
    assert after.locked.sum(1).tolist() == state.locked.sum(1).tolist()
    grown = insert(after, torch.ones_like(after.y[:, 1:]), 30)
    assert grown.y[grown.locked].tolist() == after.y[after.locked].tolist()


@given(batches, st.integers(0, 10**6), st.integers(10, 40))
def test_insert_opens_counts_and_never_exceeds_the_width(
    rows: list[list[int]], seed: int, width: int
) -> None:
    state = State.of(rows)
    counts = torch.randint(-1, 5, state.gaps.shape, generator=torch.Generator().manual_seed(seed))
    real = fit(state, counts, width)
    after = insert(state, counts, width)
    for before, row, p in zip(rows, after.y.tolist(), real.tolist(), strict=True):
        expected = [BOS]
        for gap, token in enumerate([*before, EOS]):
            expected += [PLH] * p[gap] + [token]
        assert row == expected + [PAD] * (width - len(expected))
    asked = (counts.clamp(min=0) * state.gaps).sum(1)
    assert torch.equal(real.sum(1), asked.minimum(width - state.lengths))
    assert (real <= counts.clamp(min=0)).all()


def test_where_there_is_no_room_nothing_opens() -> None:
    state = State.of([[5, 6, 7], []])
    assert fit(state, torch.ones_like(state.y[:, 1:]), 3).tolist() == [[0, 0, 0, 0], [1, 0, 0, 0]]


def test_nothing_comes_between_glued_tokens() -> None:
    state = State.of([[5, 6, 7]], locked=[[True, True, False]], glued=[[False, True, False]])
    grown = insert(state, torch.full((1, 4), 1), 9)
    assert grown.rows() == [[PLH, 5, 6, PLH, 7, PLH]]
    again = insert(delete(grown, torch.ones_like(grown.locked)), torch.full((1, 8), 2), 9)
    assert again.rows() == [[PLH, PLH, 5, 6, PLH, PLH]]


def test_fill_touches_placeholders_only() -> None:
    state = insert(State.of([[7, 8], []]), torch.tensor([[1, 0, 2], [1, 9, 9]]), 7)
    after = fill(state, torch.full((2, 7), 6))
    assert after.rows() == [[6, 7, 8, 6, 6], [6]]
    assert not after.placeholders.any()


@given(batches, st.integers(0, 10**6), st.integers(0, 6))
def test_padding_changes_nothing(rows: list[list[int]], seed: int, extra: int) -> None:
    state, wide = State.of(rows), State.of(rows, width=max(map(len, rows)) + 2 + extra)
    drop = random_bool(wide.y, seed)
    short = delete(state, drop[:, : state.y.shape[1]])
    assert delete(wide, drop).rows() == short.rows()
    counts = torch.randint(0, 3, wide.gaps.shape, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(insert(wide, counts, 40).y, insert(state, counts[:, : state.y.shape[1] - 1], 40).y)


@pytest.mark.gpu
def test_edits_do_not_wait_for_the_device() -> None:
    state = State.of([[7, 8, 9], [5]], device="cuda")
    drop, counts = torch.ones_like(state.locked), torch.ones_like(state.y[:, 1:])
    with no_waiting():
        after = fill(insert(delete(state, drop), counts, 8), torch.full((2, 8), 6, device="cuda"))
    assert after.rows() == [[6], [6]]
