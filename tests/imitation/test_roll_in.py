"""Roll-in: the shares are the ones asked for, both ends occur, and a draft keeps what the oracle keeps."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lessons import VOCABULARY, Rows, bounded, lesson_of, noisy, ragged, rows_of, sentences, shape_for

from levt.edits.oracle_reference import align_reference
from levt.errors import ConfigError
from levt.imitation.roll_in import RollIn, corrupt, draft_deletion, hold_to, random_deletion
from levt.text.specials import BOS, EOS

MANY = 30_000


def kept_counts(length: int, roll_in: RollIn, seed: int = 0) -> np.ndarray:
    """How often 0 … length tokens of a row stay."""
    target = ragged([[BOS, *range(5, 5 + length), EOS]] * MANY)
    kept = random_deletion(target, roll_in, np.random.default_rng(seed))
    rows = kept.reshape(MANY, length + 2)
    assert rows[:, 0].all()
    assert rows[:, -1].all()
    return np.bincount(rows[:, 1:-1].sum(1), minlength=length + 1) / MANY


@pytest.mark.parametrize("length", [1, 2, 7])
def test_the_number_kept_is_uniform_with_both_ends(length: int) -> None:
    shares = kept_counts(length, RollIn())
    # Five standard deviations of a share of about 1 / (length + 1).
    assert np.abs(shares - 1 / (length + 1)).max() < 5 * np.sqrt(1 / (length + 1) / MANY)


def test_any_set_of_a_size_is_as_likely_as_any_other() -> None:
    target = ragged([[BOS, 5, 6, 7, EOS]] * MANY)
    kept = random_deletion(target, RollIn(), np.random.default_rng(1)).reshape(MANY, 5)[:, 1:-1]
    ones = kept[kept.sum(1) == 1]
    assert np.abs(ones.mean(0) - 1 / 3).max() < 0.025


@pytest.mark.parametrize(("empty", "complete"), [(0.3, 0.0), (0.0, 0.3), (0.25, 0.5), (1.0, 0.0), (0.0, 1.0)])
def test_shares_of_empty_and_complete(empty: float, complete: float) -> None:
    rest = 1 - empty - complete
    shares = kept_counts(4, RollIn(empty=empty, complete=complete))
    wanted = np.full(5, rest / 5)
    wanted[0] += empty
    wanted[-1] += complete
    assert np.abs(shares - wanted).max() < 0.015
    deleted = 1 - (shares * np.arange(5)).sum() / 4
    assert deleted == pytest.approx(RollIn(empty=empty, complete=complete).share_deleted(), abs=0.01)


@pytest.mark.parametrize(("empty", "complete"), [(0.0, 0.0), (0.3, 0.1)])
def test_the_spread_of_what_is_deleted(empty: float, complete: float) -> None:
    roll_in, count, length = RollIn(empty=empty, complete=complete), 4000, 300
    target = ragged([[BOS, *[5] * length, EOS]] * count)
    kept = random_deletion(target, roll_in, np.random.default_rng(2)).reshape(count, length + 2)[:, 1:-1]
    assert (1 - kept.mean(1)).std() == pytest.approx(roll_in.spread_deleted(), abs=0.01)


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_a_draft_keeps_what_the_oracle_keeps(seed: int) -> None:
    target = sentences(5, seed=seed)
    draft = noisy(target, seed=seed)
    rows = np.flatnonzero(np.random.default_rng(seed).random(5) < 0.6)
    flat, drafts = ragged(bounded(target)), ragged(bounded(draft))
    before = random_deletion(flat, RollIn(), np.random.default_rng(seed))
    kept = before.copy()
    draft_deletion(flat, drafts, rows, kept)
    for i, (wanted, own) in enumerate(zip(bounded(target), bounded(draft), strict=True)):
        part = slice(flat.begins[i], flat.begins[i] + len(wanted))
        if i not in rows:
            assert (kept[part] == before[part]).all()
            continue
        match = [j for j in align_reference(own, wanted) if j >= 0]
        assert np.flatnonzero(kept[part]).tolist() == match


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.data())
def test_hold_to_changes_as_little_as_needed(seed: int, data: st.DataObject) -> None:
    draw = np.random.default_rng(seed)
    inner = draw.random(40) < 0.8
    kept = (draw.random(40) < 0.5) | ~inner
    # Around what is deleted already, where every step counts.
    already = int((~kept).sum())
    low = data.draw(st.integers(max(already - 3, 0), min(already + 3, 40)) | st.integers(0, 40))
    high = data.draw(st.integers(low, min(low + 3, 40)) | st.integers(low, 40))
    before = kept.copy()
    hold_to(kept, inner, low, high, draw)
    deleted = int((~kept).sum())
    assert kept[~inner].all()
    assert min(low, int(inner.sum())) <= deleted <= high
    changed = int((kept != before).sum())
    assert changed == abs(deleted - int((~before).sum()))
    if low <= (~before).sum() <= high:
        assert changed == 0


def test_corruption_changes_the_share_asked_for_and_nothing_else() -> None:
    row = [5, 6, 7, 8, 9, 10, 11, 12]
    target = ragged([[BOS, *row, EOS]] * 4000)
    same = corrupt(target, RollIn(noise=0.0), VOCABULARY, np.random.default_rng(0))
    assert (same.flat == target.flat).all()
    noisy_ = corrupt(target, RollIn(noise=0.15), VOCABULARY, np.random.default_rng(0))
    assert (noisy_.lengths == target.lengths).all()
    flat = noisy_.flat.reshape(4000, 10)
    assert (flat[:, 0] == BOS).all()
    assert (flat[:, -1] == EOS).all()
    assert flat[:, 1:-1].min() >= 5
    assert flat.max() < VOCABULARY
    # A swap changes two places, so a little more than the share of decisions.
    changed = (flat[:, 1:-1] != np.array(row)).mean()
    assert 0.15 < changed < 0.18
    swapped = sum(sorted(r) == row and r != row for r in flat[:, 1:-1].tolist())
    repeated = sum(a == b for r in flat[:, 1:-1].tolist() for a, b in itertools.pairwise(r))
    assert swapped > 100
    assert repeated > 800


class Swaps(np.random.Generator):
    """Draws nothing but swaps, in half of the places."""

    def random(self, size: int) -> np.ndarray:  # type: ignore[override]
        return np.where(super().random(size) < 0.5, 0.9, 2.0)


def test_swaps_lose_no_token() -> None:
    row = [5, 6, 7, 8, 9, 10, 11, 12]
    target = ragged([[BOS, *row, EOS]] * 500)
    found = corrupt(target, RollIn(noise=1.0), VOCABULARY, Swaps(np.random.PCG64(0))).flat.reshape(500, 10)
    assert all(sorted(one) == sorted([BOS, *row, EOS]) for one in found.tolist())
    assert (found != target.flat.reshape(500, 10)).any(1).mean() > 0.9
    # Neighbours have changed places, and no token has gone further.
    assert {abs(token - 5 - i) for one in found[:, 1:-1].tolist() for i, token in enumerate(one)} == {0, 1}


def test_alpha_and_beta_are_the_shares_of_drafts() -> None:
    """With drafts that share nothing with the target, a draft is an empty canvas for insertion."""
    count = 6000
    target: Rows = [[5, 6, 7, 8, 9, 10]] * count
    draft: Rows = [[15, 16, 17, 18, 19, 20] if i % 3 else [] for i in range(count)]
    roll_in = RollIn(alpha=0.2, beta=0.7, complete=1.0)
    shape = shape_for(target, target, draft, roll_in=roll_in, joint=False)
    lesson = lesson_of(target, target, draft, roll_in=roll_in, shape=shape)
    has = np.arange(count) % 3 > 0
    empty = lesson["kept_lengths"][:count] == 2
    assert not empty[~has].any()
    assert empty[has].mean() == pytest.approx(0.7, abs=0.03)
    rows = rows_of(lesson["delete"], lesson["delete_lengths"], count)
    from_draft = np.array([row[1] >= 15 for row in rows])
    assert not from_draft[~has].any()
    assert from_draft[has].mean() == pytest.approx(0.2, abs=0.03)
    # u and v are drawn apart.
    both = (empty & from_draft)[has].mean()
    assert both == pytest.approx(0.2 * 0.7, abs=0.03)


def test_small_batches_keep_their_distribution() -> None:
    """Arrays have room for the average and some more: that more must be enough for small batches, too."""
    # With so many rows rounding adds nothing to the arrays: what there is more is there on purpose.
    target: Rows = [[5, 6, 7, 8, 9, 10, 11, 12]] * 41
    roll_in = RollIn()
    shape = shape_for(target, target, roll_in=roll_in, joint=False)
    lessons = [lesson_of(target, target, roll_in=roll_in, shape=shape, seed=seed) for seed in range(300)]
    for name, size in (("kept_lengths", shape.kept), ("gap_counts", shape.holes)):
        used = np.array([np.maximum(lesson[name], 0).sum() for lesson in lessons])
        assert (used == size).mean() < 0.01, "hardly any had to be changed to fit"
    kept = np.concatenate([lesson["kept_lengths"][:41] - 2 for lesson in lessons])
    shares = np.bincount(kept, minlength=9) / len(kept)
    assert np.abs(shares - 1 / 9).max() < 5 * np.sqrt(1 / 9 / len(kept))


def test_bad_values_are_named_together() -> None:
    with pytest.raises(ConfigError, match="3 problems") as caught:
        RollIn(alpha=-0.1, empty=0.7, complete=0.7, noise=2.0)
    assert "empty + complete must be at most 1, got 1.4" in str(caught.value)
