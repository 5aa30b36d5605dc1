"""The siblings that write from left to right: step by step is the whole pass, and nobody sees the future."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import (
    VOCABULARY,
    autoregressive_config,
    network,
    pad,
    post_editing_config,
    recurrent_config,
    sentences,
    unpadded,
)
from torch import Tensor
from torch.nn import functional as F

from levt.errors import ConfigError
from levt.policy.build import build
from levt.policy.config import ModelConfig
from levt.policy.memory import Memory
from levt.policy.stepwise import Cache, Stepwise
from packed_rows import packed_rows

CONFIGS: dict[str, ModelConfig] = {
    "autoregressive": autoregressive_config(),
    "pre-norm": autoregressive_config(norm="pre", positions="learned"),
    "post-editing": post_editing_config(),
    "two vocabularies": post_editing_config(joint_embeddings=False, source_vocabulary=VOCABULARY + 5),
    "recurrent": recurrent_config(),
    "bidirectional": recurrent_config(bidirectional=True),
}


def encode(model: Any, sources: list[list[int]], width: int | None = None) -> Memory:
    x = pad(sources, width)
    if hasattr(model, "encode_pair"):
        drafts = sentences(len(sources), seed=77)
        return model.encode_pair(x, pad(drafts))
    return model.encode(x)


def encode_packed(model: Any, sources: list[list[int]], **shape: int) -> Memory:
    if hasattr(model, "encode_pair"):
        pairs = list(zip(sources, sentences(len(sources), seed=77), strict=True))
        tokens, layout = packed_rows([[*source, *draft] for source, draft in pairs], **shape)
        tail = [0] * (len(tokens) - sum(len(part) for pair in pairs for part in pair))
        parts = [number for pair in pairs for number, part in enumerate(pair) for _ in part] + tail
        places = [i for pair in pairs for part in pair for i in range(len(part))] + tail
        return model.encode_joined(
            tokens, torch.tensor(parts), replace(layout, positions=torch.tensor(places))
        )
    return model.encode(*packed_rows(sources, **shape))


@pytest.mark.parametrize("kind", CONFIGS)
@torch.no_grad()
def test_steps_are_the_whole_pass(kind: str) -> None:
    model = network(CONFIGS[kind])
    assert isinstance(model, Stepwise)
    sources, y = encode(model, sentences(3, seed=1)), torch.tensor(sentences(3, seed=2, least=6, most=6))
    whole = model.logits(sources, y)
    cache = model.start(sources, 12)
    assert isinstance(cache, Cache)
    for i in range(y.shape[1]):
        torch.testing.assert_close(model.step(sources, y[:, i], cache), whole[:, i], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", CONFIGS)
@torch.no_grad()
def test_nobody_sees_the_future_or_the_padding(kind: str) -> None:
    model = network(CONFIGS[kind])
    rows = sentences(7, seed=3)
    sources = sentences(7, seed=4)
    whole = model.logits(encode(model, sources, 15), pad(rows, 14))
    alone = model.logits(encode(model, sources), pad([row[:2] for row in rows]))
    for i, row in enumerate(rows):
        n = min(2, len(row))
        torch.testing.assert_close(whole[i, :n], alone[i, :n], rtol=1e-5, atol=1e-5)
    changed = pad(rows).clone()
    changed[:, 1:] = torch.where(changed[:, 1:] > 4, 5, changed[:, 1:])
    other = model.logits(encode(model, sources), changed)
    assert torch.equal(other[:, 0].argmax(-1), whole[:, 0].argmax(-1))


@pytest.mark.parametrize("kind", CONFIGS)
@torch.no_grad()
def test_packed_is_padded(kind: str) -> None:
    model = network(CONFIGS[kind])
    sources, rows = sentences(4, seed=5), sentences(4, seed=6)
    y, layout = packed_rows(rows, total=60, count=5, longest=12)
    flat = encode_packed(model, sources, total=110, count=5, longest=26)
    expected = unpadded(model.logits(encode(model, sources), pad(rows)), rows)
    got = model.logits(flat, y, layout)
    assert got.isfinite().all()
    torch.testing.assert_close(got[: len(expected)], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["autoregressive", "recurrent"])
@settings(max_examples=15)
@given(st.lists(st.integers(0, 5), min_size=6, max_size=6))
@torch.no_grad()
def test_hypotheses_can_be_reordered(kind: str, order: list[int]) -> None:
    """Beams of two: after reordering, each row goes on from the prefix it was given."""
    order = [2 * (i // 2) + o % 2 for i, o in enumerate(order)]  # a beam stays with its source
    model = network(CONFIGS[kind])
    memory = encode(model, sentences(3, seed=7))
    prefix = torch.tensor(sentences(6, seed=8, least=3, most=3))[:, :4]
    cache = model.start(memory, 9, copies=2)
    for i in range(3):
        model.step(memory, prefix[:, i], cache)
    cache = model.reorder(cache, torch.tensor(order))
    got = model.step(memory, prefix[order, 3], cache)
    expected = model.logits(memory, prefix[order])[:, 3]
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_finished_rows_may_leave() -> None:
    model = network(CONFIGS["autoregressive"])
    memory = encode(model, sentences(4, seed=9))
    y = torch.tensor(sentences(4, seed=10, least=3, most=3))
    cache, kept = model.start(memory, 9), torch.tensor([3, 1])
    model.step(memory, y[:, 0], cache)
    cache = model.reorder(cache, kept)
    got = model.step(memory.select(kept), y[kept, 1], cache)
    torch.testing.assert_close(got, model.logits(memory, y)[kept, 1], rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_a_cache_can_be_filled_from_another() -> None:
    for kind in ("autoregressive", "recurrent"):
        model = network(CONFIGS[kind])
        memory = encode(model, sentences(2))
        one, two = model.start(memory, 5), model.start(memory, 5)
        tokens = torch.tensor([1, 1])
        model.step(memory, tokens, one)
        two.copy_(one)
        assert torch.equal(model.step(memory, tokens + 6, one), model.step(memory, tokens + 6, two))


def test_a_cache_has_no_more_places_than_there_are_positions() -> None:
    model = network(CONFIGS["autoregressive"])
    with pytest.raises(ConfigError, match="between 1 and 64"):
        model.start(encode(model, sentences(1)), 65)


@torch.no_grad()
def test_the_post_editor_tells_source_from_draft() -> None:
    model = network(CONFIGS["post-editing"])
    x, draft, y = (torch.tensor(sentences(1, seed=s, least=4, most=4)) for s in (1, 2, 3))
    straight = model.logits(model.encode_pair(x, draft), y)
    swapped = model.logits(model.encode_pair(draft, x), y)
    assert not torch.allclose(straight, swapped, atol=1e-3)
    model.languages[1] = model.languages[0]
    # With one language and restarted positions nothing is left that could tell them apart.
    straight, swapped = (
        model.logits(model.encode_pair(x, draft), y),
        model.logits(model.encode_pair(draft, x), y),
    )
    torch.testing.assert_close(straight, swapped, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_parameter_learns(kind: str) -> None:
    model = network(CONFIGS[kind]).train()
    rows = sentences(4, seed=11, least=3)
    loss: Tensor = F.cross_entropy(
        model.logits(encode(model, rows), pad(rows))[:, :-1].flatten(0, 1), pad(rows)[:, 1:].flatten()
    )
    loss.backward()
    missing = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert missing == []


def test_an_lstm_soon_looks_at_the_source() -> None:
    """Words of the source in reverse order: who cannot look there guesses among fifty."""
    torch.manual_seed(3)
    model: Any = build(recurrent_config(width=64, dropout=0.0, source_vocabulary=55, target_vocabulary=55))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
    losses = []
    for _ in range(110):
        x = torch.randint(5, 55, (32, 8))
        y = torch.cat([torch.zeros(32, 1, dtype=torch.long), x.flip(1)], 1)
        logits = model.logits(model.encode(x), y[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), y[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert sum(losses[-10:]) / 10 < 1.25
