"""Orders: each epoch, seed and window is shuffled in its own way; large stores are read block by block."""

from itertools import islice

import numpy as np
import pytest

from levt.data.order import Order


def windows(order: Order, count: int, epoch: int = 0) -> list[list[int]]:
    return [window.tolist() for window in order.windows(count, epoch)]


def test_other_examples_meet_in_every_epoch_and_with_every_seed() -> None:
    """Not the same ones in another order: else a batch could never be made of two that began apart."""
    first = {
        frozenset(windows(Order(seed=seed, window=32), 256, epoch)[0])
        for seed in range(3)
        for epoch in range(3)
    }
    assert len(first) == 9


def test_every_window_is_shuffled_in_its_own_way() -> None:
    found = windows(Order(window=64, block=64), 256)
    ways = {tuple(np.argsort(window).tolist()) for window in found}
    assert len(ways) == len(found) == 4
    assert tuple(range(64)) not in ways


def test_blocks_are_shuffled_too() -> None:
    blocks = [window[0] // 8 for window in windows(Order(window=8, block=8), 256)]
    assert sorted(blocks) == list(range(32)) != blocks


@pytest.mark.parametrize(("window", "block", "longest"), [(10, 4, 8), (12, 4, 12), (3, 4, 4), (1, None, 1)])
def test_a_window_holds_whole_blocks_and_no_more_than_asked(
    window: int, block: int | None, longest: int
) -> None:
    """One block at least."""
    found = windows(Order(window=window, block=block), 240)
    assert {len(rows) for rows in found} == {longest}


@pytest.mark.parametrize(("count", "blocks"), [(1 << 20, None), ((1 << 20) + 1, 8)])
def test_only_in_large_stores_neighbours_stay_together(count: int, blocks: int | None) -> None:
    [window] = islice(Order(window=1024).windows(count, 0), 1)
    assert len(window) == 1024
    different = len(np.unique(window // 128))
    assert different > 700 if blocks is None else different == blocks


def test_every_seed_from_0_on() -> None:
    assert windows(Order(seed=0), 8) == windows(Order(), 8) != windows(Order(seed=1), 8)
