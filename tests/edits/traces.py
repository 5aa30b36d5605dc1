"""Random traces for the tests of traces and of everything that shows them."""

from typing import Any

import hypothesis.strategies as st

from levt.edits.iteration import Iteration
from levt.edits.script import EditScript
from levt.edits.trace import STOPS, Trace

PIECES = ["▁a", "▁be", "c", "de", ".", "▁", "▁<script>alert(1)</script>", "&\"'", "é"]
"""The texts of the tokens 5 …: words, what attaches, a lone space, and what a page must escape."""


def piece(token: int) -> str:
    return PIECES[token - 5]


vocabulary = st.integers(5, 4 + len(PIECES))
probability = st.floats(0, 1)


def exactly(values: st.SearchStrategy[Any], n: int) -> st.SearchStrategy[Any]:
    return st.lists(values, min_size=n, max_size=n).map(tuple)


Plain = tuple[tuple[int, ...], list[tuple[Any, ...]], str | None]


@st.composite
def plain_traces(draw: st.DrawFn) -> Plain:
    """The parts of a trace; no object of levt, whose checks in the tests draw random numbers."""
    draft = draw(st.lists(vocabulary, max_size=7).map(tuple))
    length = len(draft)
    iterations = []
    for _ in range(draw(st.integers(0, 4))):
        drop = draw(exactly(st.booleans(), length))
        gaps = drop.count(False) + 1
        counts = draw(exactly(st.sampled_from([0, 0, 0, 1, 2]), gaps))
        fill = draw(exactly(vocabulary, sum(counts)))
        known = draw(st.booleans())
        iterations.append(
            (
                (drop, counts, fill),
                draw(exactly(probability, length)) if known else None,
                draw(exactly(probability, gaps)) if known else None,
                draw(exactly(probability, len(fill))) if draw(st.booleans()) else None,
            )
        )
        length = drop.count(False) + len(fill)
    return draft, iterations, draw(st.sampled_from([None, *STOPS]))


def built(plain: Plain) -> Trace:
    """The trace of these parts."""
    draft, iterations, stopped = plain
    return Trace(
        draft=draft,
        draft_pieces=tuple(map(piece, draft)),
        iterations=tuple(
            Iteration(
                script=EditScript(drop=drop, counts=counts, fill=fill),
                pieces=tuple(map(piece, fill)),
                drop_probs=drop_probs,
                counts_probs=counts_probs,
                fill_probs=fill_probs,
            )
            for (drop, counts, fill), drop_probs, counts_probs, fill_probs in iterations
        ),
        stopped=stopped,
    )
