"""A lesson taken apart: its arrays rebuild every state, and following the expert in them reaches the target."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lessons import (
    VOCABULARY,
    Rows,
    bounded,
    lesson_of,
    levt_config,
    network,
    noisy,
    rows_of,
    sentences,
    shape_for,
    store_of,
)

from levt.data.batches import Batches
from levt.data.order import Order
from levt.data.pack import Packed
from levt.edits.oracle_reference import align_reference
from levt.edits.state import State, fill, insert
from levt.imitation.lesson import Arrays, decisions, fixed
from levt.imitation.lessons import LevTLessons
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.text.specials import BOS, EOS, PAD, PLH

ROLL_INS = st.fixed_dictionaries(
    {
        "alpha": st.sampled_from([0.0, 0.5, 1.0]),
        "beta": st.sampled_from([0.0, 0.5, 1.0]),
        "empty": st.sampled_from([0.0, 0.3]),
        "complete": st.sampled_from([0.0, 0.3]),
        "deletion": st.sampled_from(["model", "noise"]),
    }
)
"""As keywords: building one checks types, which draws random numbers, which hypothesis does not like."""


def insertion_rows(lesson: Arrays, count: int, *, joint: bool) -> tuple[Rows, Rows]:
    """All y_ins and all y_ins′ of a lesson, and that their joint rows are next to each other."""
    if joint:
        rows = rows_of(lesson["insert"], lesson["insert_lengths"], 2 * count)
        return rows[0::2], rows[1::2]
    kept = rows_of(lesson["kept"], lesson["kept_lengths"], count)
    return kept, rows_of(lesson["holes"], lesson["target_lengths"], count)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 7),
    fields=ROLL_INS,
    joint=st.booleans(),
    drafts=st.booleans(),
    room=st.sampled_from([0, 1, 100]),
)
def test_every_array(
    seed: int, count: int, fields: dict[str, Any], joint: bool, drafts: bool, room: int
) -> None:
    roll_in = RollIn(**fields)
    source, target = sentences(count, seed=seed), sentences(count, seed=seed + 1)
    draft = noisy(target, seed=seed) if drafts else None
    shape = shape_for(source, target, draft, roll_in=roll_in, joint=joint, room=room)
    lesson = lesson_of(source, target, draft, roll_in=roll_in, shape=shape, seed=seed)
    assert all(array.dtype == np.int32 for array in lesson.values())

    # Sources and targets are what they were, and what is left is padding.
    for name, rows in (("source", source), ("target", target)):
        assert rows_of(lesson[name], lesson[f"{name}_lengths"], count) == bounded(rows)
        used = sum(map(len, rows)) + 2 * count
        assert (lesson[name][used:] == PAD).all()
        assert (lesson[f"{name}_lengths"][count:] == 0).all()

    # From y_ins, p* opens the placeholders of y_ins′, and t* fills them: the target.
    y_ins, holes = insertion_rows(lesson, count, joint=joint)
    real_gaps = int((lesson["gap_counts"] >= 0).sum())
    counts = iter(lesson["gap_counts"][:real_gaps].tolist())
    tokens = iter(lesson["hole_tokens"].tolist())
    gap_at, hole_at = iter(lesson["gap_at"].tolist()), iter(lesson["hole_at"].tolist())
    lengths = lesson["insert_lengths"] if joint else None
    for i, (kept, opened, wanted) in enumerate(zip(y_ins, holes, bounded(target), strict=True)):
        own = [next(counts) for _ in kept[1:]]
        state = State.of([kept[1:-1]])
        state = insert(state, torch.tensor([own]), len(wanted))
        assert state.y[0].tolist() == opened
        places = [j for j, token in enumerate(opened) if token == PLH]
        canvas = torch.zeros(1, len(wanted), dtype=torch.long)
        canvas[0, places] = torch.tensor([next(tokens) for _ in places], dtype=torch.long)
        assert fill(state, canvas).y[0].tolist() == wanted
        # No shorter way: as many insertions as the longest common subsequence leaves open.
        assert sum(own) == len(wanted) - sum(j >= 0 for j in align_reference(kept, wanted))
        # Where decisions stand in the arrays that go through the network.
        begin = int(lengths[: 2 * i].sum()) if lengths is not None else sum(map(len, y_ins[:i]))
        assert [next(gap_at) for _ in own] == list(range(begin, begin + len(own)))
        begin = int(lengths[: 2 * i + 1].sum()) if lengths is not None else sum(map(len, holes[:i]))
        assert [next(hole_at) for _ in places] == [begin + j for j in places]
    assert (lesson["gap_counts"][real_gaps:] == -1).all()
    assert all(token == -1 for token in tokens)

    # y_del: a draft, or y_ins′ with the model's own tokens, or a corrupted target.
    own_tokens = np.arange(1000, 1000 + len(lesson["hole_tokens"]))
    y_del = lesson["delete"].copy()
    y_del[lesson["fill_to"]] = own_tokens[lesson["fill_from"]]
    assert lesson["delete_lengths"].sum() < len(y_del), "the last place is nobody's"
    rows = rows_of(y_del, lesson["delete_lengths"], count)
    number = 1000
    for i, row in enumerate(rows):
        filled = [number + holes[i][:j].count(PLH) if t == PLH else t for j, t in enumerate(holes[i])]
        number += holes[i].count(PLH)
        assert (row[0], row[-1]) == (BOS, EOS)
        if draft is not None and row == bounded(draft)[i]:
            continue
        if roll_in.deletion == "model":
            assert row == filled
        else:
            assert len(row) == len(target[i]) + 2
            assert all(5 <= token < VOCABULARY for token in row[1:-1])
    if roll_in.deletion == "noise":
        assert (lesson["fill_to"] == shape.delete - 1).all()

    found = decisions(lesson).tolist()
    assert found == [sum(len(r) - 2 for r in rows), sum(len(r) - 1 for r in y_ins), number - 1000]


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), joint=st.booleans())
def test_drafts_after_oracle_deletion(seed: int, joint: bool) -> None:
    """With β = 1, y_ins is the draft without what the oracle deletes; with α = 1, y_del is the draft."""
    target = sentences(6, seed=seed)
    draft = [row or [7] for row in noisy(target, seed=seed)]
    roll_in = RollIn(alpha=1.0, beta=1.0)
    shape = shape_for(target, target, draft, roll_in=roll_in, joint=joint)
    lesson = lesson_of(target, target, draft, roll_in=roll_in, shape=shape, seed=seed)
    y_ins, _ = insertion_rows(lesson, 6, joint=joint)
    for own, kept, wanted in zip(bounded(draft), y_ins, bounded(target), strict=True):
        match = align_reference(own, wanted)
        assert kept == [token for token, j in zip(own, match, strict=True) if j >= 0]
    deletion = rows_of(lesson["delete"], lesson["delete_lengths"], 6)
    longer = sum(len(row) + 2 for row in draft) >= shape.delete
    assert longer or deletion == bounded(draft)


@pytest.mark.parametrize("seed", range(20))
def test_any_mixture_of_drafts_and_targets_fits(seed: int) -> None:
    """Long drafts of short targets and short drafts of long targets: the mixture may be longer than both."""
    count = 60
    target = [[5] * (30 if i % 2 else 2) for i in range(count)]
    draft = [[6] * (2 if i % 2 else 30) for i in range(count)]
    roll_in = RollIn()
    shape = shape_for(target, target, draft, roll_in=roll_in, joint=True)
    lesson = lesson_of(target, target, draft, roll_in=roll_in, shape=shape, seed=seed)
    rows = rows_of(lesson["delete"], lesson["delete_lengths"], count)
    from_draft = np.array([6 in row for row in rows])
    assert 0.2 < from_draft.mean() < 0.7
    for i, row in enumerate(rows):
        assert len(row) == len((draft if from_draft[i] else target)[i]) + 2


def test_lessons_of_whole_epochs_fit_their_shape(tmp_path: Path) -> None:
    """Through the store and the packer, with budgets that are really filled; every example once an epoch."""
    source, target = sentences(400, seed=1, most=12), sentences(400, seed=2, most=12)
    draft = noisy(target, seed=3)
    model = network(levt_config())
    for number, rows in enumerate(({}, {"draft": draft})):
        folder = tmp_path / f"store{number}"
        folder.mkdir()
        store = store_of(folder, source=source, **rows, target=target)
        budget = Packed.fitting(store, target=512)
        lessons = LevTLessons(store, budget, model, roll_in=RollIn(), objective=ObjectiveConfig())
        sizes: set[tuple[tuple[str, int], ...]] = set()
        for epoch in range(3):
            seen: list[int] = []
            for batch, examples in enumerate(Batches(store, budget, order=Order(seed=4)).plan(epoch)):
                lesson, _ = lessons.make(examples, np.random.default_rng([epoch, batch]))
                sizes.add(tuple((name, len(array)) for name, array in lesson.items()))
                got = rows_of(lesson["target"], lesson["target_lengths"], len(examples))
                assert got == bounded([target[i] for i in examples])
                seen += examples.tolist()
            assert sorted(seen) == list(range(400))
        assert len(sizes) == 1


def test_no_example_at_all() -> None:
    """A worker that gets nothing in the last round of an epoch has an empty lesson."""
    roll_in = RollIn()
    shape = shape_for([[5]], [[6]], [[7]], roll_in=roll_in, joint=True)
    lesson = lesson_of([], [], [], roll_in=roll_in, shape=shape)
    assert decisions(lesson).tolist() == [0, 0, 0]
    shape = shape_for([[5]], [[6]], roll_in=roll_in, joint=False)
    assert decisions(lesson_of([], [], roll_in=roll_in, shape=shape)).tolist() == [0, 0, 0]


def test_the_same_seed_gives_the_same_lesson() -> None:
    rows = sentences(9, seed=5)
    shape = shape_for(rows, rows, rows, roll_in=RollIn(), joint=True)
    one, two, other = (lesson_of(rows, rows, rows, roll_in=RollIn(), shape=shape, seed=s) for s in (1, 1, 2))
    assert all((one[name] == two[name]).all() for name in one)
    assert any((one[name] != other[name]).any() for name in one)


def test_fixed() -> None:
    assert fixed(np.array([4, 5]), 4, -1).tolist() == [4, 5, -1, -1]
    with pytest.raises(AssertionError, match="3 values do not fit into 2"):
        fixed(np.array([4, 5, 6]), 2, 0)
