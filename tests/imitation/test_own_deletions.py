"""Insertion after the model's own deletions: the states are what oracle and model both leave of the target."""

import itertools
import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lessons import (
    Rows,
    bounded,
    lesson_of,
    levt_config,
    network,
    noisy,
    rows_of,
    sentences,
    shape_for,
    tensors,
)

from levt.edits.oracle_reference import align_reference
from levt.imitation.lesson import decisions
from levt.imitation.objective import LevTObjective, ObjectiveConfig
from levt.imitation.own_deletions import left_over
from levt.imitation.roll_in import RollIn
from levt.policy.layout import Padded
from levt.text.specials import PLH
from packed_rows import packed_rows


def obvious(y: Rows, target: Rows, drop: list[list[bool]]) -> list[list[bool]]:
    """Which target tokens stay: those that the oracle finds in y and the model does not drop; boundaries do."""
    stays = []
    for row, wanted, wish in zip(y, target, drop, strict=True):
        kept = [False] * len(wanted)
        for j, place in enumerate(align_reference(row, wanted)):
            if place >= 0 and (not wish[j] or j in (0, len(row) - 1)):
                kept[place] = True
        stays.append(kept)
    return stays


@settings(max_examples=100)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 6), most=st.sampled_from([3, 200]))
def test_states_and_insertions(seed: int, count: int, most: int) -> None:
    rng = random.Random(seed)
    target = bounded(sentences(count, seed=seed))
    y = bounded(noisy([row[1:-1] for row in target], seed=seed))
    drop = [[rng.random() < 0.4 for _ in row] for row in y]
    flat, rows = packed_rows(y, total=130, count=count + 2, longest=20)
    flat_target, target_rows = packed_rows(target, total=110, count=count + 2, longest=20)
    match = torch.full_like(flat, -1)
    wish = torch.ones_like(flat, dtype=torch.bool)  # what lies in the tail must not matter
    places = [j for a, b in zip(y, target, strict=True) for j in align_reference(a, b)]
    match[: len(places)] = torch.tensor(places)
    wish[: len(places)] = torch.tensor([d for row in drop for d in row])
    found = left_over(match, wish, rows, flat_target, target_rows, most)

    stays = obvious(y, target, drop)
    y_ins = [
        [t for t, k in zip(row, kept, strict=True) if k] for row, kept in zip(target, stays, strict=True)
    ]
    holes = [
        [t if k else PLH for t, k in zip(row, kept, strict=True)]
        for row, kept in zip(target, stays, strict=True)
    ]
    lengths = found.kept_rows.offsets.diff().tolist()
    assert lengths == [*map(len, y_ins), 0, 0]
    flat_kept = [t for row in y_ins for t in row]
    assert found.kept.tolist() == [*flat_kept, *[0] * (110 - len(flat_kept))]
    flat_holes = [t for row in holes for t in row]
    assert found.holes.tolist()[: len(flat_holes)] == flat_holes
    counts = []
    for kept in stays:
        at = [j for j, k in enumerate(kept) if k]
        counts += [b - a - 1 for a, b in itertools.pairwise(at)]
    gaps = [(a, c) for a, c in zip(found.gap_at.tolist(), found.gap_counts.tolist(), strict=True) if c >= 0]
    assert [c for _, c in gaps] == counts
    begins = [sum(map(len, y_ins[:i])) for i in range(count)]
    assert [a for a, _ in gaps] == [
        b + j for b, row in zip(begins, y_ins, strict=True) for j in range(len(row) - 1)
    ]
    missing = [
        (i, t)
        for i, (t, h) in enumerate(zip((t for row in target for t in row), flat_holes, strict=True))
        if h == PLH
    ]
    learnt = [
        (a, t) for a, t in zip(found.hole_at.tolist(), found.hole_tokens.tolist(), strict=True) if t >= 0
    ]
    assert learnt == missing[:most]


@pytest.mark.parametrize("fields", [{}, {"sharing": "none", "placeholder_exit": 1}])
@pytest.mark.parametrize("drafts", [False, True])
def test_the_losses(fields: dict[str, object], drafts: bool) -> None:
    source, target = sentences(6, seed=1), sentences(6, seed=2)
    draft = noisy(target, seed=3) if drafts else None
    roll_in = RollIn(fill="argmax", empty=0.5)
    model = network(levt_config(**fields))
    joint = not fields
    shape = shape_for(source, target, draft, roll_in=roll_in, joint=joint, room=40)
    lesson = lesson_of(source, target, draft, roll_in=roll_in, shape=shape)
    config = ObjectiveConfig(label_smoothing=0.1, decision_smoothing=0.02, own_deletions=0.5)
    total = torch.tensor([*decisions(lesson).tolist(), 1, 1]).float()
    with torch.no_grad():
        _, sums = LevTObjective(model, config, roll_in, shape)(tensors(lesson), total)
        _, plain = LevTObjective(
            model, ObjectiveConfig(label_smoothing=0.1, decision_smoothing=0.02), roll_in, shape
        )(tensors(lesson), total[:3])
    torch.testing.assert_close(sums[:3], plain)

    deletion = rows_of(lesson["delete"], lesson["delete_lengths"], 6)
    wanted = torch.zeros(2)

    def smoothed(logits: torch.Tensor, label: int, smoothing: float) -> torch.Tensor:
        log_p = logits.log_softmax(-1)
        return -(1 - smoothing) * log_p[label] - smoothing * log_p.mean()

    for i, target_row in enumerate(bounded(target)):
        with torch.no_grad():
            memory = model.encode(torch.tensor([[1, *source[i], 2]]))
            y_del = deletion[i]
            if PLH in y_del:
                y = torch.tensor([y_del])
                best = (
                    model.token_logits(model.hidden(memory, y, Padded.of(y), "token"))[0, :, 5:].argmax(-1)
                    + 5
                )
                y_del = [int(best[j]) if t == PLH else t for j, t in enumerate(y_del)]
            wish = model.delete(memory, torch.tensor([y_del]))[0].argmax(-1).eq(1).tolist()
            [kept] = obvious([y_del], [target_row], [wish])
            y_ins = torch.tensor([[t for t, k in zip(target_row, kept, strict=True) if k]])
            at = [j for j, k in enumerate(kept) if k]
            log_p = model.placeholder(memory, y_ins)[0]
            for gap, (a, b) in enumerate(itertools.pairwise(at)):
                wanted[0] += smoothed(log_p[gap], min(b - a - 1, model.config.max_count), 0.02)
            holes = torch.tensor([[t if k else PLH for t, k in zip(target_row, kept, strict=True)]])
            logits = model.token_logits(model.hidden(memory, holes, Padded.of(holes), "token"))[0]
            for j, k in enumerate(kept):
                if not k:
                    wanted[1] += smoothed(logits[j], target_row[j], 0.1)
    torch.testing.assert_close(sums[3:], wanted, rtol=1e-4, atol=1e-4)
    assert wanted.min() > 0
