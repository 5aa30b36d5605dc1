"""What a run asks of lessons: which states go together, which examples are repaired, how many decisions count."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_lessons import lesson_of, levt_config, network, rows_of, sentences, shape_for, store_of

from levt.data.pack import Packed
from levt.imitation.drafts import Drafts
from levt.imitation.lesson import LessonShape
from levt.imitation.lessons import LevTLessons
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.roll_in import RollIn


def lessons_of(
    folder: Path, count: int = 12, config: dict[str, Any] | None = None, **more: Any
) -> LevTLessons:
    target = sentences(count, seed=1, least=4)
    store = store_of(folder, source=target, target=target)
    settings: dict[str, Any] = {"roll_in": RollIn(), "objective": ObjectiveConfig(), **more}
    budget = Packed.fitting(store, target=40 * count)
    return LevTLessons(store, budget, network(levt_config(**(config or {}))), **settings)


@pytest.mark.parametrize(
    ("config", "joint"),
    [
        ({}, True),
        ({"delete_exit": 1}, True),
        ({"placeholder_exit": 1}, False),
        ({"placeholder_exit": 2, "token_exit": 2}, True),
        ({"sharing": "plh+tok"}, True),
        ({"sharing": "plh+del"}, False),
        ({"sharing": "none"}, False),
    ],
)
def test_states_go_together_where_both_policies_see_alike(
    tmp_path: Path, config: dict[str, Any], joint: bool
) -> None:
    assert lessons_of(tmp_path, config=config).shape.joint == joint


def test_decisions_after_own_deletions_are_those_of_the_whole_target(tmp_path: Path) -> None:
    lessons = lessons_of(tmp_path, objective=ObjectiveConfig(own_deletions=0.5))
    rows = np.arange(3, 10)
    _, counted = lessons.make(rows, np.random.default_rng(0))
    words = int(lessons.store.lengths("target", rows).sum())
    found = dict(zip(lessons.names, counted.tolist(), strict=True))
    assert found["own placeholder"] == words + len(rows)
    assert found["own token"] == words


def test_the_first_example_to_be_repaired_is(tmp_path: Path) -> None:
    roll_in = RollIn(alpha=0.0, beta=0.0, empty=1.0, drafts=Drafts(mismatched=1.0))
    lessons = lessons_of(tmp_path, roll_in=roll_in, repaired=8)
    lesson, _ = lessons.make(np.arange(12), np.random.default_rng(0))
    deleted = rows_of(lesson["delete"], lesson["delete_lengths"], 12)
    known = [[1, *lessons.store.target(i).tolist(), 2] for i in range(12)]
    assert [row in known for row in deleted] == [i >= 8 for i in range(12)]


@pytest.mark.parametrize("drafts", [Drafts(), Drafts(noisy=0.5)])
def test_a_place_is_left_for_what_is_padding(drafts: Drafts) -> None:
    """Also where the tokens of a batch would fill all places of their array."""
    sizes = {"source": 640, "target": 640, "longest": 30, "joint": True}
    for draft in (0, 640, 704):
        shape = LessonShape.of(rows=32, draft=draft, roll_in=RollIn(drafts=drafts), **sizes)
        assert shape.delete > max(640, draft)


def test_drafts_leave_that_place_too() -> None:
    target, draft = [[5, 6, 7, 8]] * 10, [[5, 6, 7, 8, 9]] * 10
    roll_in = RollIn(alpha=1.0)
    shape = replace(shape_for(target, target, draft, roll_in=roll_in, joint=True), delete=66)
    lesson = lesson_of(target, target, draft, roll_in=roll_in, shape=shape)
    # Five of ten drafts are one token longer than what they replace; a sixth would take the last place.
    assert lesson["delete_lengths"].sum() == 65
