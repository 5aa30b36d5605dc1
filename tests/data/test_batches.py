"""Each example exactly once, budgets kept, the same order again, and from any point on."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from levt.data.batches import Batches, padding_share
from levt.data.order import Order
from levt.data.pack import Packed
from levt.data.store import Store
from levt.errors import ConfigError

# Settings are built in the tests: type checkers draw random numbers, which strategies must not.
LAYOUTS = st.fixed_dictionaries(
    {
        "source": st.integers(64, 700),
        "target": st.integers(64, 700),
        "draft": st.just(600),
        "rows": st.integers(1, 60),
    }
)
ORDERS = st.fixed_dictionaries(
    {"seed": st.integers(0, 3), "window": st.integers(1, 300), "block": st.sampled_from([None, 1, 7, 1000])}
)


@pytest.fixture(scope="module")
def stores(make_store) -> list[Store]:
    return [
        make_store(count=1, seed=1),
        make_store(count=130, seed=2, shard_size=50),
        make_store(count=257, seed=3, draft=True),
    ]


def all_rows(store: Store, layout, order: dict, epoch: int, workers: int) -> list[list[list[int]]]:
    return [
        [rows.tolist() for rows in Batches(store, layout, order=order, worker=i, workers=workers).plan(epoch)]
        for i in range(workers)
    ]


@given(
    which=st.integers(0, 2), layout=LAYOUTS, order=ORDERS, epoch=st.integers(0, 2), workers=st.integers(1, 5)
)
@settings(max_examples=150)
def test_every_example_exactly_once(
    stores, which: int, layout, order: dict, epoch: int, workers: int
) -> None:
    store = stores[which]
    plans = all_rows(store, Packed(**layout), Order(**order), epoch, workers)
    seen = sorted(i for plan in plans for rows in plan for i in rows)
    assert seen == list(range(len(store)))
    assert len({len(plan) for plan in plans}) == 1
    # A worker is idle only in the last round, when it has fewer examples than workers.
    for number, batches in enumerate(zip(*plans, strict=True), start=1):
        if not all(batches):
            assert number == len(plans[0])
            assert sum(map(len, batches)) < workers


@given(which=st.integers(0, 2), layout=LAYOUTS, order=ORDERS, workers=st.integers(1, 3))
@settings(max_examples=100)
def test_budgets_hold(stores, which: int, layout, order: dict, workers: int) -> None:
    store = stores[which]
    layout = Packed(**layout)
    for worker in range(workers):
        batches = Batches(store, layout, order=Order(**order), worker=worker, workers=workers)
        for rows in batches.plan(0):
            lengths = {field: store.lengths(field, rows) + 2 for field in store.fields}
            assert len(rows) <= layout.rows
            for field, length in lengths.items():
                assert length.sum() <= getattr(layout, field)


@given(
    which=st.integers(1, 2), layout=LAYOUTS, order=ORDERS, start=st.integers(0, 40), workers=st.integers(1, 3)
)
@settings(max_examples=100)
def test_resumes_where_it_was(stores, which: int, layout, order: dict, start: int, workers: int) -> None:
    def plan(start: int) -> list[list[int]]:
        batches = Batches(
            stores[which], Packed(**layout), order=Order(**order), worker=workers - 1, workers=workers
        )
        return [rows.tolist() for rows in batches.plan(1, start=start)]

    assert plan(start) == plan(0)[start:]


def test_order_depends_on_seed_and_epoch_alone(stores) -> None:
    layout = Packed(source=256, target=256, rows=64)

    def plan(seed: int, epoch: int) -> list[list[int]]:
        return [rows.tolist() for rows in Batches(stores[1], layout, order=Order(seed=seed)).plan(epoch)]

    assert plan(0, 0) == plan(0, 0)
    assert len({str(plan(seed, epoch)) for seed in range(3) for epoch in range(3)}) == 9


def test_windows_mix_the_whole_store(make_store) -> None:
    """Neighbours on disk must not be neighbours in training, whatever the length of the store."""
    store = make_store(count=2000, seed=5)
    layout = Packed(source=400, target=400, rows=100)
    batches = Batches(store, layout, order=Order(window=256))
    spread = [np.ptp(rows) / len(store) for rows in islice(batches.plan(0), 20)]
    assert np.median(spread) > 0.8


@pytest.mark.parametrize("draft", [False, True])
def test_packed_batches_are_full(make_store, draft: bool) -> None:
    store = make_store(count=6000, seed=6, draft=draft)
    layout = Packed.fitting(store, target=3000)
    batches = Batches(store, layout)
    # The last batch holds what is left.
    full = list(batches.plan(0))[:-1]
    assert len(full) > 20
    for field in store.fields:
        filled = [(store.lengths(field, rows) + 2).sum() / getattr(layout, field) for rows in full]
        assert np.mean(filled) > (0.99 if field == "target" else 0.96)
    assert padding_share(batches) < 0.05


def test_padding_share_counts_positions(make_store) -> None:
    store = make_store({"source": [[7] * 6, [7] * 2], "target": [[7] * 4, [7] * 4]})
    # 8 + 4 source and 6 + 6 target positions are used.
    assert padding_share(Batches(store, Packed(source=16, target=16, rows=2))) == pytest.approx(1 - 24 / 32)
    # Two batches of one row each.
    assert padding_share(Batches(store, Packed(source=16, target=16, rows=1))) == pytest.approx(1 - 24 / 64)


def test_padding_share_of_drafts_and_of_nothing(make_store) -> None:
    triple = make_store({"source": [[7] * 6], "draft": [[7] * 3], "target": [[7] * 4]})
    # 8 + 5 + 6 of three times 16 positions are used.
    layout = Packed(source=16, draft=16, target=16, rows=1)
    assert padding_share(Batches(triple, layout)) == pytest.approx(1 - 19 / 48)
    assert padding_share(Batches(make_store({"source": [], "target": []}), layout)) == 0.0


@pytest.mark.parametrize(("workers", "sizes"), [(1, [8]), (2, [4, 4]), (3, [2, 4, 2]), (4, [2, 2, 2, 2])])
def test_the_last_batch_is_shared_evenly(make_store, workers: int, sizes: list[int]) -> None:
    """Whoever had most of it would keep the others waiting."""
    store = make_store({"source": [[7]] * 8, "target": [[7]] * 8})
    plans = all_rows(store, Packed(source=64, target=64, rows=8), Order(), 0, workers)
    assert [[len(rows) for rows in plan] for plan in plans] == [[size] for size in sizes]


def test_larger_than_a_batch(make_store) -> None:
    store = make_store({"source": [[7] * 9], "target": [[7] * 30]})
    with pytest.raises(ConfigError, match="longest target has 32 tokens with boundaries, a batch holds 31"):
        Batches(store, Packed(source=99, target=31, rows=9))
    assert [rows.tolist() for rows in Batches(store, Packed(source=11, target=32, rows=1)).plan(0)] == [[0]]


def test_settings_are_checked(make_store) -> None:
    store = make_store(count=3)
    for worker in (-1, 2):
        with pytest.raises(ConfigError, match=f"worker must lie in 0 … 1, got {worker}"):
            Batches(store, Packed(source=99, target=99, rows=9), worker=worker, workers=2)
    for wrong in ({"source": 1}, {"rows": 0}, {"draft": -1}):
        with pytest.raises(ConfigError, match="must be at least"):
            Packed(**{"source": 9, "target": 9, "rows": 9, **wrong})
    for wrong in ({"seed": -1}, {"window": 0}, {"block": 0}):
        with pytest.raises(ConfigError, match="order"):
            Order(**wrong)
