"""Asking in chunks changes no answer, whatever the lengths."""

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from levt.edits.state import State
from levt.engine import chunked
from levt.engine.chunked import Chunked, cut
from levt.engine.continuous import continuous
from levt.engine.torch_engine import TorchEngine
from levt.refine.request import Request
from levt.text.specials import PLH
from tiny_models import LINES, TOKENIZERS, network, tiny


@given(st.lists(st.integers(1, 200), max_size=80), st.integers(1, 4), st.integers(1, 5))
def test_every_row_is_in_one_chunk(lengths: list[int], threads: int, least: int) -> None:
    chunks = cut(lengths, threads, least=least)
    assert sorted(i for rows in chunks for i in rows) == [i for i, n in enumerate(lengths) if n >= least]
    for rows in chunks:
        widths = [lengths[i] for i in rows]
        assert widths == sorted(widths, reverse=True)
        assert sum(widths[0] - width for width in widths) <= chunked.WORTH


@pytest.mark.parametrize("threads", [1, 3])
@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(5, 339) | st.just(PLH), max_size=40), min_size=1, max_size=12))
def test_the_same_answers(threads: int, rows: list[list[int]]) -> None:
    torch.manual_seed(0)
    levt = network("levt", 1)
    memory = levt.encode(State.of([TOKENIZERS.source.encode(LINES[i % 5]) for i in range(len(rows))]).y)  # type: ignore[operator]
    state = State.of(rows)
    before, chunked.WORTH = chunked.WORTH, 8
    try:
        parts = Chunked(levt, threads)  # type: ignore[arg-type]
        with torch.inference_mode():
            for name, mask in (("delete", state.inner), ("placeholder", state.gaps)):
                whole = getattr(levt, name)(memory, state.y)
                torch.testing.assert_close(getattr(parts, name)(memory, state.y)[mask], whole[mask])
            if state.placeholders.any():
                whole = levt.token(memory, state.y, state.placeholders)  # type: ignore[operator]
                torch.testing.assert_close(parts.token(memory, state.y, state.placeholders), whole)
    finally:
        chunked.WORTH = before


def test_a_batch_among_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked, "WORTH", 4)
    engine = tiny(seed=4).engine
    assert isinstance(engine, TorchEngine)
    requests = [Request(source=tuple(TOKENIZERS.source.encode(line))) for line in LINES]
    expected = engine.refine(engine.encode([r.source for r in requests]), requests)
    work = continuous(engine, 3)
    found = work.add(requests)
    while work.alive:
        work.step()
    assert [o.tokens for o in found] == [o.tokens for o in expected]
