"""Made-up drafts: each kind is what it says, in its share, and lessons from them are right."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lessons import bounded, levt_config, network, ragged, rows_of, sentences, store_of

from levt.data.mixture import Mixture
from levt.data.pack import Packed
from levt.errors import ConfigError
from levt.imitation.drafts import Drafts, disordered, noisy, unfinished, with_drafts
from levt.imitation.lessons import LevTLessons
from levt.imitation.neighbours import neighbours
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.ragged import Ragged
from levt.imitation.roll_in import RollIn
from levt.text.specials import PLH

SEEDS = st.integers(0, 10**6)


def lists(rows: Ragged) -> list[list[int]]:
    return rows_of(rows.flat, rows.lengths, len(rows.lengths))


@settings(max_examples=60)
@given(seed=SEEDS, count=st.integers(1, 6))
def test_every_draft_is_bounded_and_made_of_known_tokens(seed: int, count: int) -> None:
    target = sentences(count, seed=seed)
    near = sentences(count, seed=seed + 1)
    config = Drafts(noisy=0.4, unfinished=0.3, mismatched=0.3, noise=0.9, disorder=1.0)
    longest = max(map(len, target)) + 2
    draw = np.random.default_rng(seed)
    found = lists(with_drafts(ragged(target).bounded(), None, ragged(near).bounded(), config, longest, draw))
    assert len(found) == count
    known = {token for row in [*target, *near] for token in row}
    for row, other in zip(found, near, strict=True):
        assert (row[0], row[-1]) == (1, 2)
        assert set(row[1:-1]) <= known
        assert len(row) <= max(longest, len(other) + 2)


@settings(max_examples=60)
@given(seed=SEEDS)
def test_unfinished_is_a_beginning(seed: int) -> None:
    target = sentences(8, seed=seed)
    for row, whole in zip(
        lists(unfinished(ragged(target).bounded(), np.random.default_rng(seed))), target, strict=True
    ):
        inner = row[1:-1]
        assert inner == whole[: len(inner)]
        assert len(inner) < len(whole) or not whole


@settings(max_examples=60)
@given(seed=SEEDS)
def test_disorder_moves_a_part_and_loses_nothing(seed: int) -> None:
    target = sentences(8, seed=seed)
    rows = ragged(target).bounded()
    chosen = np.arange(8) % 2 == 0
    order = disordered(rows, chosen, np.random.default_rng(seed))
    moved = lists(Ragged(rows.flat[order], rows.lengths))
    for row, whole, changed in zip(moved, bounded(target), chosen, strict=True):
        assert Counter(row) == Counter(whole)
        assert (row[0], row[-1]) == (1, 2)
        if not changed or len(whole) < 4:
            assert row == whole
    places = [order[begin : begin + n] for begin, n in zip(rows.begins, rows.lengths, strict=True)]
    for inside, begin, changed in zip(places, rows.begins, chosen, strict=True):
        if changed and len(inside) >= 4:
            assert (inside != begin + np.arange(len(inside))).any()


def test_no_noise_is_the_target() -> None:
    rows = ragged(sentences(20)).bounded()
    quiet = noisy(rows, Drafts(noise=0.0, disorder=0.0), np.random.default_rng(0))
    assert lists(quiet) == lists(rows)


def test_noise_has_its_rate() -> None:
    rows = ragged([[7] * 50] * 400).bounded()
    loud = noisy(rows, Drafts(noise=0.3, disorder=0.0), np.random.default_rng(0))
    lengths = np.asarray(loud.lengths) - 2
    # A third of 15 % is missing, half as much again goes along; another third is there twice.
    assert 48 < lengths.mean() < 50
    assert lengths.min() < 47
    assert lengths.max() > 51


def test_shares() -> None:
    target = ragged([[5, 6, 7, 8]] * 4000).bounded()
    given_, near = ragged([[9]] * 4000).bounded(), ragged([[10, 11]] * 4000).bounded()
    config = Drafts(unfinished=0.2, mismatched=0.3)
    found = Counter(
        tuple(row[1:-1])
        for row in lists(with_drafts(target, given_, near, config, 9, np.random.default_rng(0)))
    )
    assert found[(10, 11)] / 4000 == pytest.approx(0.3, abs=0.03)
    assert found[(9,)] / 4000 == pytest.approx(0.5, abs=0.03)
    assert sum(n for row, n in found.items() if row not in {(9,), (10, 11)}) / 4000 == pytest.approx(
        0.2, abs=0.03
    )


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="noisy must be between 0 and 1, got 2"):
        Drafts(noisy=2.0)
    with pytest.raises(ConfigError, match="at most 1"):
        Drafts(noisy=0.6, mismatched=0.6)


def test_neighbours_begin_or_end_alike(tmp_path: Path) -> None:
    sources = [[5, 6, 7], [9, 9, 7], [5, 6, 8], [12, 9, 7], [20]]
    tmp_path.mkdir(exist_ok=True)
    store = store_of(tmp_path, source=sources, target=sources)
    forth, back = neighbours(store)
    assert sorted(forth) == sorted(back) == list(range(5))
    assert forth[2] == 0
    assert {back[1], back[3]} & {1, 3}
    slow = sorted(range(5), key=lambda i: sources[i][::-1])
    assert [int(back[i]) for i in slow] == [slow[-1], *slow[:-1]]


@pytest.mark.parametrize("with_given", [False, True])
def test_lessons_fit_their_shape_and_drafts_reach_the_deletion_policy(
    tmp_path: Path, with_given: bool
) -> None:
    source, target = sentences(400, least=3), sentences(400, seed=1, least=3)
    fields = {"source": source, "target": target}
    if with_given:
        fields = {
            "source": source,
            "draft": [[7, 7, 7, 7] if i % 3 == 0 else [] for i in range(400)],
            "target": target,
        }
    store = store_of(tmp_path, **fields)
    drafts = Drafts(noisy=0.2, unfinished=0.2, mismatched=0.3)
    lessons = LevTLessons(
        store,
        Packed.fitting(store, target=800),
        network(levt_config()),
        roll_in=RollIn(alpha=1.0, drafts=drafts),
        objective=ObjectiveConfig(),
    )
    plain = LevTLessons(
        store, lessons.budget, network(levt_config()), roll_in=RollIn(alpha=1.0), objective=ObjectiveConfig()
    )
    count = 70
    rows = np.arange(count)
    sizes = set()
    strangers = givens = 0
    for seed in range(12):
        lesson, decided = lessons.make(rows, np.random.default_rng(seed))
        sizes.add(tuple(len(array) for array in lesson.values()))
        assert (decided > 0).all()
        everything = bounded(target)
        for row, own in zip(
            rows_of(lesson["delete"], lesson["delete_lengths"], count), bounded(target), strict=False
        ):
            strangers += row != own and row in everything
            givens += row == [1, 7, 7, 7, 7, 2]
    assert len(sizes) == 1, "one shape for all"
    assert strangers > 0.15 * 12 * count, "mismatched drafts"
    assert (givens > 0) == with_given
    again, _ = lessons.make(rows, np.random.default_rng(3))
    before, _ = lessons.make(rows, np.random.default_rng(3))
    assert all((again[name] == before[name]).all() for name in again)
    if with_given:
        assert lessons.shape.kept < plain.shape.kept, "what is made up is known beforehand"


def test_what_is_to_be_repaired_always_has_a_draft_that_somebody_made_up() -> None:
    target = ragged([[5, 6, 7, 8]] * 3000).bounded()
    near = ragged([[10, 11]] * 3000).bounded()
    always = np.arange(3000) >= 1000
    config = Drafts(unfinished=0.1, mismatched=0.1)
    found = lists(with_drafts(target, None, near, config, 9, np.random.default_rng(0), always))
    other = [row == [1, 10, 11, 2] for row in found]
    assert np.mean(other[:1000]) == pytest.approx(0.1, abs=0.04)
    assert np.mean(other[1000:]) == pytest.approx(0.5, abs=0.04), "the shares are those of the kinds"
    # Whatever is not of another source is a beginning, and never the whole.
    assert all(row != [1, 5, 6, 7, 8, 2] for row in found)


def test_what_is_to_be_repaired_is_never_learnt_from_nothing(tmp_path: Path) -> None:
    target = sentences(60, seed=1, least=4)
    store = store_of(tmp_path, source=target, target=target)
    lessons = LevTLessons(
        store, Packed.fitting(store, target=1200), network(levt_config()), objective=ObjectiveConfig(),
        roll_in=RollIn(alpha=0.0, beta=0.0, drafts=Drafts(unfinished=0.1)), repaired=30,
    )  # fmt: skip
    lesson, _ = lessons.make(np.arange(60), np.random.default_rng(0))
    deleted = rows_of(lesson["delete"], lesson["delete_lengths"], 60)
    inserted = rows_of(lesson["insert"], lesson["insert_lengths"], 120)[0::2]
    beginnings = [row[:-1] == own[: len(row) - 1] for row, own in zip(inserted, bounded(target), strict=True)]
    some = [row for row in range(30, 60) if PLH not in deleted[row]]
    assert len(some) > 20, "the rest drew a beginning of no words"
    assert all(beginnings[row] for row in some), "whatever α and β are, both states are of the draft"
    assert all(inserted[row] == deleted[row] for row in some)
    assert sum(beginnings[:30]) < 20
    assert all(PLH in row or row == own for row, own in zip(deleted[:30], bounded(target)[:30], strict=True))


def test_neighbours_in_a_mixture_are_of_the_same_part(tmp_path: Path) -> None:
    stores = []
    for name, count in (("one", 5), ("two", 7)):
        (tmp_path / name).mkdir()
        rows = sentences(count, seed=count, least=2)
        stores.append(store_of(tmp_path / name, source=rows, target=rows))
    found = neighbours(Mixture([(stores[0], 2), (stores[1], 1)]))
    alone = [neighbours(store) for store in stores]
    for at, part in ((0, alone[0]), (5, alone[0]), (10, alone[1])):
        assert (found[:, at : at + part.shape[1]] == part + at).all()
