"""Budgets in proportion to a store; batches against those of a list from which they are taken one by one."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from levt.data import pack
from levt.data.order import Order
from levt.data.pack import Packed
from levt.data.store import Store
from levt.errors import ConfigError


def test_budgets_are_in_proportion_and_a_little_more(make_store) -> None:
    """Boundaries counted: 10 tokens of each target, 8 of each source."""
    store = make_store({"source": [[7] * 6] * 80, "target": [[7] * 8] * 80})
    # 640 source tokens and a half of a percent are more than ten times 64, and 84 examples more than ten times 8.
    assert Packed.fitting(store, target=800) == Packed(source=704, target=800, rows=88)
    assert Packed.fitting(store, target=400) == Packed(source=384, target=400, rows=48)


def test_the_longest_example_fits(make_store) -> None:
    for longest, room in ((62, 64), (63, 128), (127, 192)):
        rows = {"source": [[7] * longest, *[[7]] * 99], "draft": [[7]] * 100, "target": [[7] * 8] * 100}
        found = Packed.fitting(make_store(rows), target=20)
        assert (found.source, found.draft, found.rows) == (room, 64, 8)


def test_a_store_of_nothing_has_budgets_too(make_store) -> None:
    found = Packed.fitting(make_store({"source": [], "target": []}), target=100)
    assert (found.source, found.target) == (128, 100)


@pytest.mark.parametrize(("field", "least"), [("source", 2), ("target", 2), ("rows", 1), ("draft", 0)])
def test_the_least_that_is_allowed(field: str, least: int) -> None:
    Packed(**{"source": 9, "target": 9, "rows": 9, field: least})
    with pytest.raises(ConfigError, match=f"{field} must be at least {least}, got {least - 1}"):
        Packed(**{"source": 9, "target": 9, "rows": 9, field: least - 1})


def obvious(layout: Packed, windows: Iterator[np.ndarray], store: Store) -> Iterator[list[int]]:
    """The same batches, with every step on a list: an example that has been taken leaves None."""
    budget = np.array([*(getattr(layout, field) for field in store.fields), layout.rows])
    places: list[int | None] = []

    def take() -> list[int]:
        while places[0] is None:
            del places[0]
        view = places[: layout.rows + 2 * pack.LOOKAHEAD]
        free = [place for place, row in enumerate(view) if row is not None]
        rows = np.array([places[place] for place in free])
        lengths = [store.lengths(field, rows) + 2 for field in store.fields]
        chosen = pack._fill(np.stack([*lengths, np.ones_like(rows)], 1), budget)
        for i in chosen:
            places[free[i]] = None
        batch: list[int] = rows[chosen].tolist()
        return batch

    def left() -> int:
        return sum(row is not None for row in places)

    for window in windows:
        places = [*(row for row in places if row is not None), *window.tolist()]
        while left() >= layout.rows + pack.LOOKAHEAD:
            yield take()
    while left():
        yield take()


@pytest.fixture(scope="module")
def store(make_store) -> Store:
    found: Store = make_store(count=90, seed=7)
    return found


@given(
    tokens=st.tuples(st.integers(64, 300), st.integers(64, 300)),
    rows=st.integers(1, 30),
    window=st.integers(1, 60),
    chosen=st.integers(1, 6),
    lookahead=st.integers(6, 12),
)
@settings(max_examples=40)
def test_holes_change_nothing(
    store: Store, tokens: tuple[int, int], rows: int, window: int, chosen: int, lookahead: int
) -> None:
    layout = Packed(source=tokens[0], target=tokens[1], rows=rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack, "CHOSEN", chosen)
        patch.setattr(pack, "LOOKAHEAD", lookahead)
        found = [batch.tolist() for batch in layout.cut(Order(window=window).windows(90, 0), store)]
        assert found == list(obvious(layout, Order(window=window).windows(90, 0), store))
