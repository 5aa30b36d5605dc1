"""A mixture: several stores as one, each as many times as wanted. Nothing is copied, on disk or in memory.

The parts follow each other, a part that counts ten times ten times over, and the order of an epoch shuffles all. So
few real examples can weigh as much as many synthetic ones.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from levt.data.store import Store
from levt.errors import ConfigError, StoreError


class Mixture(Store):
    """Stores of the same fields and vocabularies, read as one."""

    def __init__(self, parts: Sequence[tuple[Store, int]]) -> None:
        """Each store with how often it counts."""
        if not parts or any(times < 1 for _, times in parts):
            raise ConfigError(
                f"a mixture needs stores that count once at least, got {[times for _, times in parts]}",
                hint="--times 1 is the default",
            )
        self.parts = tuple(parts)
        first = parts[0][0]
        for store, _ in parts[1:]:
            _check_alike(first, store)
        repeated = [store for store, times in parts for _ in range(times)]
        self.folder = first.folder
        self.fields = first.fields
        self.meta = _meta(repeated, self.fields)
        counts = [np.diff(store._starts) for store in repeated]
        self._starts = np.cumsum([0, *np.concatenate(counts)])
        self._tokens = {f: [one for store in repeated for one in store._tokens[f]] for f in self.fields}
        self._offsets = {f: [one for store in repeated for one in store._offsets[f]] for f in self.fields}

    def verify(self) -> None:
        """Verify every part."""
        for store, _ in self.parts:
            store.verify()

    def __repr__(self) -> str:
        return f"Mixture({', '.join(f'{times} × {store!r}' for store, times in self.parts)})"

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        return open_mixture, ([(str(store.folder), times) for store, times in self.parts],)


def open_mixture(parts: Sequence[tuple[str | Path, int]]) -> Mixture:
    """Open the stores of some folders, each with how often it counts."""
    return Mixture([(Store.open(folder), times) for folder, times in parts])


def _check_alike(first: Store, other: Store) -> None:
    if other.fields != first.fields:
        raise StoreError(
            f"{first.folder} has {', '.join(first.fields)}, {other.folder} has {', '.join(other.fields)}",
            hint="mix triples with triples, and pairs with pairs",
        )
    for field in first.fields:
        if other.fingerprint(field) != first.fingerprint(field):
            raise StoreError(
                f"{other.folder} has another vocabulary of the {field} than {first.folder}",
                hint=f"prepare it with --tokenizer {first.folder.parent / 'tokenizer.json'}",
            )


def _meta(stores: Sequence[Store], fields: Sequence[str]) -> dict[str, Any]:
    """What a store made of all of them would say of itself."""
    return {
        "version": stores[0].meta["version"],
        "count": sum(len(store) for store in stores),
        "fields": {
            field: {
                **stores[0].meta["fields"][field],
                "tokens": sum(store.tokens(field) for store in stores),
                "longest": max(store.longest(field) for store in stores),
            }
            for field in fields
        },
        "shards": [shard for store in stores for shard in store.meta["shards"]],
    }
