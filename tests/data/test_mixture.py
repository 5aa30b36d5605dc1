"""A mixture reads as the store that copies on disk would have made, and nothing is copied."""

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from levt.data.batches import Batches
from levt.data.mixture import Mixture, open_mixture
from levt.data.order import Order
from levt.data.pack import Packed
from levt.errors import ConfigError, StoreError

ROW = st.lists(st.integers(0, 299), max_size=6)
TRIPLES = st.lists(st.tuples(ROW, ROW, ROW), max_size=7)


def columns(triples):
    return {name: [row[i] for row in triples] for i, name in enumerate(("source", "draft", "target"))}


@given(real=TRIPLES, synthetic=TRIPLES, times=st.integers(1, 4), shard=st.integers(1, 4))
@settings(max_examples=60)
def test_as_if_copied(make_store, real, synthetic, times: int, shard: int) -> None:
    mixed = Mixture(
        [
            (make_store(columns(real), shard_size=shard), times),
            (make_store(columns(synthetic), shard_size=5), 1),
        ]
    )
    copied = make_store(columns(real * times + synthetic))
    assert len(mixed) == len(copied)
    rows = np.random.default_rng(0).permutation(len(copied))
    for field in copied.fields:
        for one, other in zip(mixed.gather(field, rows), copied.gather(field, rows), strict=True):
            assert one.tolist() == other.tolist()
        assert mixed.tokens(field) == copied.tokens(field)
        assert mixed.longest(field) == copied.longest(field)
        assert mixed.lengths(field, rows).tolist() == copied.lengths(field, rows).tolist()
    for i in range(len(copied)):
        assert mixed.source(i).tolist() == copied.source(i).tolist()
        draft, known = mixed.draft(i), copied.draft(i)
        assert draft is not None
        assert known is not None
        assert draft.tolist() == known.tolist()


def test_an_epoch_sees_each_as_often_as_it_counts(make_store) -> None:
    real, synthetic = [([5], [6], [7])], [([8], [8], [i]) for i in range(20)]
    mixed = Mixture([(make_store(columns(real)), 10), (make_store(columns(synthetic)), 1)])
    mixed.verify()
    batches = Batches(mixed, Packed(source=12, draft=12, target=12, rows=4), order=Order(seed=1))
    seen: Counter[int] = Counter()
    for rows in batches.plan(0):
        seen.update(int(mixed.target(int(i))[0]) for i in rows)
    assert seen == Counter({7: 10 + 1, **{i: 1 for i in range(20) if i != 7}})


def test_another_process_opens_the_parts(make_store) -> None:
    mixed = Mixture([(make_store(columns([([5], [6], [7])])), 3), (make_store(columns([([1], [], [2])])), 1)])
    again = pickle.loads(pickle.dumps(mixed))
    assert isinstance(again, Mixture)
    assert [again.target(i).tolist() for i in range(4)] == [[7], [7], [7], [2]]
    assert len(open_mixture([(store.folder, times) for store, times in mixed.parts])) == 4
    assert "3 × Store(" in repr(mixed)


@pytest.mark.parametrize("part", [0, 1])
def test_damage_in_any_part_is_found(make_store, part: int) -> None:
    stores = [make_store(columns([([5], [6], [7])])) for _ in range(2)]
    path = next(stores[part].folder.glob("*.target.tokens"))
    path.write_bytes(bytes(byte ^ 0x40 for byte in path.read_bytes()))
    with pytest.raises(StoreError, match=f"{path.name} is damaged"):
        Mixture([(store, 1) for store in stores]).verify()


def test_says_of_itself_what_its_parts_say(make_store) -> None:
    one, two = make_store(columns([([5], [6], [7])] * 3), shard_size=2), make_store(columns([([1], [], [2])]))
    meta = Mixture([(one, 2), (two, 1)]).meta
    assert meta["version"] == one.meta["version"]
    assert meta["shards"] == [*one.meta["shards"], *one.meta["shards"], *two.meta["shards"]]


@pytest.mark.parametrize("field", ["source", "draft", "target"])
def test_another_vocabulary_is_refused_with_how_to_prepare_it(make_store, field: str) -> None:
    one, other = (make_store(columns([([5], [6], [7])])) for _ in range(2))
    other.meta["fields"][field]["tokenizer"] = "another"
    with pytest.raises(StoreError, match=f"another vocabulary of the {field}") as caught:
        Mixture([(one, 1), (other, 1)])
    assert caught.value.hint == f"prepare it with --tokenizer {one.folder.parent / 'tokenizer.json'}"


def test_only_like_with_like(make_store) -> None:
    triples = make_store(columns([([5], [6], [7])]))
    pairs = make_store({"source": [[5]], "target": [[7]]})
    with pytest.raises(StoreError, match="has source, target"):
        Mixture([(triples, 1), (pairs, 1)])
    for parts in ([], [(triples, 0)], [(triples, 1), (triples, 0)]):
        with pytest.raises(ConfigError, match="once at least"):
            Mixture(parts)
