"""Insertion states after the model's own deletions, against plain lists."""

import itertools
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import torch
from hypothesis import given, settings
from small_lessons import levt_config, network, sentences

from levt.data.pack import Packed as Budget
from levt.data.store import Store
from levt.data.write import StoreWriter
from levt.edits.oracle_reference import align_reference
from levt.imitation.lessons import LevTLessons
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.own_deletions import left_over
from levt.imitation.roll_in import RollIn
from levt.policy.layout import Packed
from levt.text.specials import BOS, EOS, PLH

rows_of_tokens = st.lists(
    st.tuples(st.lists(st.integers(5, 8), max_size=6), st.lists(st.integers(5, 8), max_size=6)),
    min_size=1,
    max_size=4,
)


@settings(deadline=None, max_examples=60)
@given(rows_of_tokens, st.integers(0, 10**6), st.integers(1, 40))
def test_what_both_keep_is_the_state_and_the_rest_are_the_placeholders(
    pairs: list[tuple[list[int], list[int]]], seed: int, most: int
) -> None:
    states = [[BOS, *y, EOS] for y, _ in pairs]
    targets = [[BOS, *t, EOS] for _, t in pairs]
    y, rows = Packed.of_rows(states, total=sum(map(len, states)) + 3, count=len(pairs) + 2, longest=9)
    target, target_rows = Packed.of_rows(
        targets, total=sum(map(len, targets)) + 5, count=len(pairs) + 2, longest=9
    )
    drop = torch.rand(len(y), generator=torch.Generator().manual_seed(seed)) < 0.5
    match = torch.full_like(y, -1)
    partners = [align_reference(a, b) for a, b in zip(states, targets, strict=True)]
    match[: sum(map(len, states))] = torch.tensor([j for row in partners for j in row])
    left = left_over(match, drop, rows, target, target_rows, most)

    kept_rows, holes, counts, missing = [], [], [], []
    begin = at = 0
    for state, wanted, partner in zip(states, targets, partners, strict=True):
        stay = {
            j for i, j in enumerate(partner) if j >= 0 and (i in (0, len(state) - 1) or not drop[begin + i])
        }
        order = sorted(stay)
        kept_rows.append([wanted[j] for j in order])
        counts += [b - a - 1 for a, b in itertools.pairwise(order)]
        holes.append([t if j in stay else PLH for j, t in enumerate(wanted)])
        missing += [(at + j, t) for j, t in enumerate(wanted) if j not in stay]
        begin += len(state)
        at += len(wanted)
    flat = [t for row in kept_rows for t in row]
    assert left.kept[: len(flat)].tolist() == flat
    assert left.kept_rows.offsets.diff().tolist() == [*map(len, kept_rows), 0, 0]
    assert left.holes[:at].tolist() == [t for row in holes for t in row]
    assert left.gap_counts[left.gap_counts >= 0].tolist() == counts
    some = left.hole_tokens >= 0
    assert (
        list(zip(left.hole_at[some].tolist(), left.hole_tokens[some].tolist(), strict=True)) == missing[:most]
    )


def levt_lessons(folder: Path, rows: list[list[int]], model: Any, own_deletions: float) -> LevTLessons:
    place = folder / f"store-{own_deletions}"
    place.mkdir()
    writer = StoreWriter(place, {"source": (23, "x"), "target": (23, "x")})
    writer.add({"source": rows, "target": rows})
    writer.close()
    store = Store.open(place)
    budget = Budget(source=512, target=512, rows=40)
    config = ObjectiveConfig(own_deletions=own_deletions)
    return LevTLessons(store, budget, model, roll_in=RollIn(), objective=config)


def test_the_objective_learns_from_its_own_deletions_too(tmp_path: Path) -> None:
    rows = sentences(30, least=2)
    model = network(levt_config())
    lessons = levt_lessons(tmp_path, rows, model, own_deletions=0.5)
    assert lessons.names[3:] == ("own placeholder", "own token")
    arrays, counted = lessons.make(np.arange(30), np.random.default_rng(0))
    inner = sum(map(len, rows))
    assert counted[3:].tolist() == [inner + 30, inner]
    torch.manual_seed(0)
    loss, sums = lessons.objective(model)(
        {n: torch.from_numpy(a) for n, a in arrays.items()}, torch.from_numpy(counted).float()
    )
    plain = levt_lessons(tmp_path, rows, model, own_deletions=0.0)
    torch.manual_seed(0)
    without, three = plain.objective(model)(
        {n: torch.from_numpy(a) for n, a in arrays.items()}, torch.from_numpy(counted[:3]).float()
    )
    assert torch.equal(sums[:3], three)
    assert (sums[3:] > 0).all()
    expected = without + 0.5 * (sums[3] / counted[3] + sums[4] / counted[4])
    torch.testing.assert_close(loss, expected)
