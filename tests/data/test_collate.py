"""Arrays hold the examples between their boundaries, and nothing else."""

import numpy as np
import pytest

from levt.data.batches import Batches
from levt.data.pack import Packed
from levt.data.pad import Padded
from levt.text.specials import BOS, EOS, PAD


def row(store, field: str, i: int) -> list[int]:
    return [BOS, *getattr(store, field)(i).tolist(), EOS]


@pytest.mark.parametrize("draft", [False, True])
def test_padded(make_store, draft: bool) -> None:
    store = make_store(count=150, draft=draft, shard_size=40)
    for batch in Batches(store, Padded(tokens=300, multiple=4)).padded(0):
        assert (batch.draft is not None) is draft
        real = batch.index >= 0
        for field in store.fields:
            array = getattr(batch, field)
            assert (array[~real] == PAD).all()
            for i, tokens in zip(batch.index[real], array[real], strict=True):
                expected = row(store, field, int(i))
                assert tokens[: len(expected)].tolist() == expected
                assert (tokens[len(expected) :] == PAD).all()


@pytest.mark.parametrize("draft", [False, True])
def test_packed(make_store, draft: bool) -> None:
    store = make_store(count=150, draft=draft, shard_size=40)
    layout = Packed(source=300, target=310, draft=320 if draft else 0, rows=40)
    shapes = set()
    for batch in Batches(store, layout).packed(0):
        assert (batch.draft is not None) is draft
        used = batch.index[batch.index >= 0]
        for field in store.fields:
            flat = getattr(batch, field)
            rows = [flat.tokens[a:b].tolist() for a, b in zip(flat.offsets, flat.offsets[1:], strict=False)]
            assert rows[: len(used)] == [row(store, field, int(i)) for i in used]
            assert not any(rows[len(used) :])
            assert (flat.tokens[flat.offsets[-1] :] == PAD).all()
            expected = [i for i, tokens in enumerate(rows) for _ in tokens]
            assert flat.rows.tolist() == expected + [layout.rows] * (len(flat.tokens) - len(expected))
            shapes.add((field, flat.tokens.shape, flat.offsets.shape, batch.index.shape))
    assert len(shapes) == len(store.fields)


def test_a_worker_without_examples_gets_padding(make_store) -> None:
    store = make_store({"source": [[7]], "target": [[8, 9]]})
    padded = list(Batches(store, Padded(tokens=64), worker=1, workers=2).padded(0))
    assert [batch.index.max() for batch in padded] == [-1]
    assert not padded[0].source.any()
    (packed,) = Batches(store, Packed(source=8, target=8, rows=2), worker=1, workers=2).packed(0)
    assert packed.index.tolist() == [-1, -1]
    assert packed.target.offsets.tolist() == [0, 0, 0]
    assert not packed.target.tokens.any()


def test_types(make_store) -> None:
    store = make_store(count=9)
    (batch,) = Batches(store, Packed.fitting(store, target=1000)).packed(0)
    assert batch.source.tokens.dtype == batch.target.offsets.dtype == batch.index.dtype == np.int64
