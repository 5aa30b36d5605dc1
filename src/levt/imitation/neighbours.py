"""Similar examples of a corpus: those whose sources begin, or end, with the same tokens. On the host, once."""

import numpy as np
from jaxtyping import Int64

from levt.data.mixture import Mixture
from levt.data.store import Store


def neighbours(store: Store) -> Int64[np.ndarray, "2 n"]:
    """For every example its neighbour when sources are sorted, and when they are sorted from their ends.

    So the neighbour of "Tom is a teacher." is something like "Tom is a tall man.", or "Is Mary a teacher." In a
    mixture neighbours are of the same part: in another it would be the very same source.
    """
    if isinstance(store, Mixture):
        parts = [(neighbours(part), times) for part, times in store.parts]
        repeated = [part for part, times in parts for _ in range(times)]
        starts = np.cumsum([0, *(part.shape[1] for part in repeated)])
        return np.concatenate([part + start for part, start in zip(repeated, starts, strict=False)], axis=1)
    count = len(store)
    flat, lengths = store.gather("source", np.arange(count))
    ends = np.cumsum(lengths)
    # Four bytes a token, the highest first: bytes sort as the tokens do. Backwards the rows come in reverse as well.
    forth, back = flat.astype(">u4").tobytes(), flat[::-1].astype(">u4").tobytes()
    total = len(flat)
    found = np.empty((2, count), np.int64)
    for side, (text, begins, stops) in enumerate(
        ((forth, ends - lengths, ends), (back, total - ends, total - ends + lengths))
    ):
        spans = list(zip((4 * begins).tolist(), (4 * stops).tolist(), strict=True))
        order = np.array(sorted(range(count), key=lambda i: text[spans[i][0] : spans[i][1]]), np.int64)
        found[side, order] = np.roll(order, 1)
    return found
