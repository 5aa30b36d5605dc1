"""Search at fixed shapes finds what the plain search finds."""

import random
from typing import Any

import pytest
import torch

from levt.edits.state import State
from levt.engine.captured_search import CapturedSearch
from levt.engine.tuning import Tuning
from levt.policy.autoregressive import Autoregressive
from levt.policy.build import build
from levt.policy.config import AutoregressiveConfig
from levt.refine.search import SearchOptions, beam_search

VOCABULARY = 30


def network(seed: int, **settings: Any) -> Autoregressive:
    torch.manual_seed(seed)
    config = AutoregressiveConfig(
        source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY, width=32, hidden=48, heads=2, encoder_layers=1,
        decoder_layers=2, max_length=64, **settings,
    )  # fmt: skip
    model = build(config).eval()
    assert isinstance(model, Autoregressive)
    return model


def compare(model: Autoregressive, fast: CapturedSearch, seed: int, device: str) -> None:
    rng = random.Random(seed)
    rows = [
        [rng.randrange(5, VOCABULARY) for _ in range(rng.randint(1, 12))] for _ in range(rng.randint(1, 5))
    ]
    memory = model.encode(State.of(rows, width=16, device=device).y)
    options = SearchOptions(beam=rng.choice([1, 2, 4]), length_penalty=rng.choice([0.0, 1.0]))
    limits = [rng.randint(3, 20) for _ in rows]
    for one, other in zip(
        fast.search(memory, limits, options), beam_search(model, memory, limits, options), strict=True
    ):
        assert [h.tokens for h in one] == [h.tokens for h in other]
        assert [h.ended for h in one] == [h.ended for h in other]
        assert [h.logp for h in one] == pytest.approx([h.logp for h in other], abs=1e-4)


@pytest.mark.parametrize("fused", [False, True])
def test_the_same_hypotheses_as_the_plain_search(fused: bool) -> None:
    for seed, norm in enumerate(("post", "pre", "pre")):
        model = network(seed, norm=norm, activation=["relu", "gelu", "relu"][seed], final_norm=seed < 2)
        with torch.inference_mode():
            fast = CapturedSearch(model, tuning=Tuning(fused=fused))
            for trial in range(10):
                compare(model, fast, trial, "cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("fused", [False, True])
def test_the_same_hypotheses_on_a_gpu(fused: bool) -> None:
    model = network(5).cuda()
    fast = CapturedSearch(model, tuning=Tuning(fused=fused))
    with torch.inference_mode():
        for trial in range(60):
            compare(model, fast, trial, "cuda")
