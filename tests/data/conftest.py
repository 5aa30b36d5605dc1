"""Small stores to try things on."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from levt.data.store import Store
from levt.data.write import StoreWriter

Rows = Sequence[Sequence[int]]
MakeStore = Callable[..., Store]


@pytest.fixture(scope="session")
def make_store(tmp_path_factory: pytest.TempPathFactory) -> MakeStore:
    """A store of given rows of ids, or of random ones with lengths like those of sentences."""

    def make(
        rows: dict[str, Rows] | None = None,
        *,
        count: int = 0,
        draft: bool = False,
        seed: int = 0,
        shard_size: int = 1 << 24,
        size: int = 300,
    ) -> Store:
        fields = ("source", "draft", "target") if draft else ("source", "target")
        if rows is None:
            rng = np.random.default_rng(seed)
            base = rng.lognormal(2.3, 0.6, count)
            rows = {
                field: [
                    rng.integers(5, size, int(length)).tolist()
                    for length in np.clip(base * rng.uniform(0.7, 1.3, count), 0, 60)
                ]
                for field in fields
            }
        folder: Path = tmp_path_factory.mktemp("store")
        writer = StoreWriter(folder, {field: (size, f"f-{field}") for field in rows}, shard_size=shard_size)
        writer.add(rows)
        writer.close()
        return Store.open(folder)

    return make
