"""What is written is read, in any shards; damage of any kind is found."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from levt.data.store import Store
from levt.data.write import StoreWriter
from levt.errors import StoreError

ROW = st.lists(st.integers(0, 299), max_size=6)


@given(pairs=st.lists(st.tuples(ROW, ROW, ROW), max_size=12), shard=st.integers(1, 5), draft=st.booleans())
@settings(max_examples=60)
def test_written_is_read(make_store, pairs, shard: int, draft: bool) -> None:
    source, middle, target = ([pair[i] for pair in pairs] for i in range(3))
    rows = (
        {"source": source, "draft": middle, "target": target}
        if draft
        else {"source": source, "target": target}
    )
    store = make_store(rows, shard_size=shard)
    store.verify()
    assert len(store) == len(pairs)
    assert store.has_draft is draft
    for i, pair in enumerate(pairs):
        assert store.source(i).tolist() == pair[0]
        assert store.target(i).tolist() == pair[2]
        found = store.draft(i)
        assert found.tolist() == pair[1] if draft else found is None
    numbers = np.random.default_rng(0).permutation(len(pairs))
    for field, known in rows.items():
        flat, lengths = store.gather(field, numbers)
        assert lengths.tolist() == [len(known[i]) for i in numbers] == store.lengths(field, numbers).tolist()
        assert flat.tolist() == [token for i in numbers for token in known[i]]
        assert store.tokens(field) == sum(map(len, known))
        assert store.longest(field) == max(map(len, known), default=0)
        assert store.fingerprint(field) == f"f-{field}"


def test_chunks_of_any_size_give_the_same_files(tmp_path: Path) -> None:
    rows = [[i] * (i % 4) for i in range(20)]
    for name, step in (("one", 20), ("many", 3)):
        (tmp_path / name).mkdir()
        writer = StoreWriter(tmp_path / name, {"source": (50, "a"), "target": (50, "b")}, shard_size=7)
        for i in range(0, 20, step):
            writer.add({"source": rows[i : i + step], "target": rows[i : i + step]})
        writer.close()
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert len(files) == 3 * 4 + 1
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "many" / name).read_bytes()


@pytest.mark.parametrize(("size", "dtype"), [(65536, np.uint16), (65537, np.uint32)])
def test_ids_are_as_wide_as_the_vocabulary(make_store, size: int, dtype: type) -> None:
    store = make_store({"source": [[size - 1]], "target": [[0]]}, size=size)
    assert store.source(0).dtype == dtype
    assert store.source(0).tolist() == [size - 1]


def test_is_read_only_and_mapped(make_store) -> None:
    store = make_store({"source": [[7, 8]], "target": [[9]]})
    assert isinstance(store.source(0), np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        store.source(0)[0] = 1
    for wrong in (-1, 1):
        with pytest.raises(IndexError):
            store.source(wrong)
    again = pickle.loads(pickle.dumps(store))
    assert again.target(0).tolist() == [9]


def test_every_truncation_is_found_on_opening(make_store) -> None:
    store = make_store(count=30, shard_size=20, draft=True)
    files = sorted(path for path in store.folder.iterdir() if path.suffix != ".json")
    assert len(files) == 12
    for path in files:
        whole = path.read_bytes()
        for damaged in (whole[:-1], whole + b"\0"):
            path.write_bytes(damaged)
            with pytest.raises(StoreError, match=f"{path.name} should be {len(whole)} bytes"):
                Store.open(store.folder)
        path.unlink()
        with pytest.raises(StoreError, match="is missing"):
            Store.open(store.folder)
        path.write_bytes(whole)
    Store.open(store.folder).verify()


def test_every_flipped_byte_is_found_by_verify(make_store) -> None:
    store = make_store(count=5)
    for path in store.folder.glob("0*"):
        whole = path.read_bytes()
        for at in range(0, len(whole), 7):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1 :])
            with pytest.raises(StoreError, match=f"{path.name} is damaged"):
                Store.open(store.folder).verify()
        path.write_bytes(whole)


def test_ids_outside_the_vocabulary_are_found_by_verify(make_store) -> None:
    store = make_store({"source": [[300]], "target": [[1]]}, size=300)
    with pytest.raises(StoreError, match="source holds ids outside"):
        store.verify()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"version": 2}, "store of version 2, not 1"),
        ({"version": None}, "version None"),
        ({"count": 7}, "damaged: ValueError the shards do not add up"),
        ({"shards": []}, "damaged"),
        ({"shards": None}, "damaged: TypeError"),
        ({"fields": {}}, "unknown fields"),
        ({"fields": {"target": {}, "source": {}}}, "unknown fields"),
    ],
)
def test_wrong_meta(make_store, change: dict, problem: str) -> None:
    store = make_store(count=3)
    path = store.folder / "meta.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(StoreError, match=problem):
        Store.open(store.folder)


def test_files_elsewhere_are_not_read(make_store) -> None:
    store = make_store(count=3)
    path = store.folder / "meta.json"
    meta = json.loads(path.read_text())
    for shard in meta["shards"]:
        shard["name"] = f"../{store.folder.name}/{shard['name']}"  # the same files, and of the right sizes
    path.write_text(json.dumps(meta))
    with pytest.raises(StoreError, match="a file lies outside the folder"):
        Store.open(store.folder)


def test_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a store"):
        Store.open(tmp_path / "nothing")
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "meta.json").write_text("{")
    with pytest.raises(StoreError, match="it holds the stores train"):
        Store.open(tmp_path)
    for text in ("{", "[" * 100_000):
        (tmp_path / "train" / "meta.json").write_text(text)
        with pytest.raises(StoreError, match=r"meta\.json is damaged"):
            Store.open(tmp_path / "train")
