"""The texts of a split of a corpus, as people wrote them."""

from collections.abc import Sequence
from pathlib import Path

from levt.data.prepare import load_tokenizers
from levt.data.sample import spread
from levt.data.store import Store
from levt.recipes.experiment import as_input


def texts_of(corpus: Path, split: str, limit: int | None = None) -> tuple[list[str], list[str]]:
    """Sources, ready for a model, and references; with a limit so many, from all over the split."""
    source, target = load_tokenizers(corpus)
    store = Store.open(corpus / split)
    rows = spread(len(store), len(store) if limit is None else limit)
    sources = as_input(source, [store.source(i).tolist() for i in rows])
    references: Sequence[str] = target.decode_batch([store.target(i).tolist() for i in rows])
    return sources, list(references)
