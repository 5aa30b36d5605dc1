"""Beam search against the exhaustive one, and its independence of batch mates."""

from itertools import product
from typing import Any

import pytest
import torch
from torch import nn

from levt.edits.state import State
from levt.policy.build import build
from levt.policy.config import CONFIGS
from levt.policy.memory import Memory
from levt.policy.scores import log_softmax_tokens
from levt.refine.request import Tokens
from levt.refine.rerank import teacher_scores
from levt.refine.search import Hypothesis, SearchOptions, beam_search

VOCABULARY = 8
KINDS = ("autoregressive", "post-editing", "recurrent")
SOURCES: list[Tokens] = [(5, 6), (7,), (6, 6, 5, 7, 5), (), (5,), (7, 7, 6)]


def network(kind: str, vocabulary: int = VOCABULARY, seed: int = 0) -> Any:
    torch.manual_seed(seed)
    shape: dict[str, Any] = {"width": 8, "max_length": 16, "source_vocabulary": vocabulary}
    if kind != "recurrent":
        shape |= {"hidden": 8, "heads": 2, "encoder_layers": 1, "decoder_layers": 2}
    model: nn.Module = build(CONFIGS[kind](target_vocabulary=vocabulary, **shape))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.4)
    return model.eval()


def remember(model: Any, kind: str, sources: list[Tokens]) -> Memory:
    x = State.of(sources).y
    drafts = State.of([source[::-1] for source in sources]).y
    return model.encode_pair(x, drafts) if kind == "post-editing" else model.encode(x)


def exhaustive(model: Any, memory: Memory, limit: int, options: SearchOptions) -> list[Hypothesis]:
    """Every output of at most limit − 2 tokens, scored by a pass over the whole of it."""
    outputs = [y for n in range(limit - 1) for y in product(range(5, VOCABULARY), repeat=n)]
    y = State.of(outputs).y
    memory = memory.select(torch.zeros(len(outputs), dtype=torch.long))
    logp = log_softmax_tokens(model.logits(memory, y[:, :-1]))
    each = logp.gather(2, y[:, 1:, None]).squeeze(2).masked_fill(y[:, 1:].eq(0), 0.0)
    found = [
        Hypothesis(tokens, total, options.score(total, len(tokens)))
        for tokens, total in zip(outputs, each.sum(1).tolist(), strict=True)
    ]
    return sorted(found, key=lambda hypothesis: -hypothesis.score)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0])
@torch.no_grad()
def test_a_large_beam_is_exhaustive(kind: str, length_penalty: float) -> None:
    model = network(kind)
    options = SearchOptions(beam=40, n_best=7, length_penalty=length_penalty)
    limits = [5, 4, 3, 2, 5, 4]
    found = beam_search(model, remember(model, kind, SOURCES), limits, options)
    for source, limit, ranked in zip(SOURCES, limits, found, strict=True):
        expected = exhaustive(model, remember(model, kind, [source]), limit, options)[:7]
        assert [h.tokens for h in ranked] == [h.tokens for h in expected]
        for ours, theirs in zip(ranked, expected, strict=True):
            assert ours.score == pytest.approx(theirs.score, abs=1e-5)
            assert ours.ended == (len(ours.tokens) < limit - 2)


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_greedy_takes_the_best_token_each_time(kind: str) -> None:
    model = network(kind, vocabulary=30, seed=3)
    limits = [12] * len(SOURCES)
    found = beam_search(model, remember(model, kind, SOURCES), limits, SearchOptions(beam=1))
    for source, [hypothesis] in zip(SOURCES, found, strict=True):
        memory = remember(model, kind, [source])
        tokens: list[int] = []
        while True:
            logits = model.logits(memory, torch.tensor([[1, *tokens]]))[0, -1]
            logits[[0, 1, 3, 4]] = float("-inf")
            best = 2 if len(tokens) == 10 else int(logits.argmax())
            if best == 2:
                break
            tokens.append(best)
        assert hypothesis.tokens == tuple(tokens)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beam", [1, 3, 4])
@torch.no_grad()
def test_batch_mates_and_order_change_nothing(kind: str, beam: int) -> None:
    model = network(kind, vocabulary=30, seed=1)
    options = SearchOptions(beam=beam, n_best=beam, length_penalty=0.5)
    limits = [options.limit(len(source) + 2, 16) for source in SOURCES]
    together = beam_search(model, remember(model, kind, SOURCES), limits, options)
    back = beam_search(model, remember(model, kind, SOURCES[::-1]), limits[::-1], options)[::-1]
    for i, source in enumerate(SOURCES):
        alone = beam_search(model, remember(model, kind, [source]), limits[i : i + 1], options)[0]
        for others in (together[i], back[i]):
            assert [h.tokens for h in others] == [h.tokens for h in alone]
            assert [h.logp for h in others] == pytest.approx([h.logp for h in alone], abs=1e-4)
        assert all(5 <= token < 30 for h in alone for token in h.tokens)
        assert len({h.tokens for h in alone}) == len(alone)


@torch.no_grad()
def test_a_broken_network_still_ends() -> None:
    model = network("autoregressive")
    for parameter in model.parameters():
        parameter.fill_(float("nan"))
    found = beam_search(model, remember(model, "autoregressive", SOURCES), [5] * 6, SearchOptions())
    assert [ranked[0].tokens for ranked in found] == [()] * 6


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_the_teacher_scores_what_the_search_scored(kind: str) -> None:
    model = network(kind)
    memory = remember(model, kind, SOURCES)
    options = SearchOptions(beam=3, length_penalty=1.0)
    found = [ranked[0] for ranked in beam_search(model, memory, [8] * len(SOURCES), options)]
    scores = teacher_scores(model, memory, [h.tokens for h in found])
    assert scores == pytest.approx([h.score for h in found], abs=1e-5)
