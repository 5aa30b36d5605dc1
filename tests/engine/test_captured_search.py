"""Search at fixed shapes finds what the plain search finds."""

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

from levt.edits.state import State
from levt.engine.captured_search import CapturedSearch
from levt.engine.cuda_engine import CudaSearchEngine
from levt.engine.model import Model
from levt.engine.torch_engine import TorchEngine
from levt.engine.tuning import Tuning
from levt.policy.autoregressive import Autoregressive
from levt.policy.build import build
from levt.policy.config import AutoregressiveConfig
from levt.policy.folder import Tokenizers
from levt.refine.search import SearchOptions, beam_search
from levt.text.tokenizer import Tokenizer

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
        [rng.randrange(5, VOCABULARY) for _ in range(rng.randint(1, 12))]
        for _ in range(rng.choice([1, 2, 3, 5, 11]))
    ]
    memory = model.encode(State.of(rows, width=16, device=device).y)
    options = SearchOptions(beam=rng.choice([1, 2, 4]), length_penalty=rng.choice([0.0, 1.0]))
    limits = [rng.randint(3, 20) for _ in rows]
    found = fast.search([tuple(row) for row in rows], limits, options)
    for one, other in zip(found, beam_search(model, memory, limits, options), strict=True):
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


def test_texts_through_the_engine() -> None:
    model = network(4)
    pieces = Tokenizers.joint(Tokenizer.from_pieces([f"p{i}" for i in range(VOCABULARY - 5)]))
    fast, plain = Model(CudaSearchEngine(model, pieces)), Model(TorchEngine(model, pieces))
    texts = [" ".join(f"p{(i * j) % 20}" for j in range(1, 3 + i % 6)) for i in range(12)]
    expected = [result.text for result in plain.translate(texts, beam=2)]
    assert [result.text for result in fast.translate(texts, beam=2)] == expected
    assert fast.score(texts, expected) == pytest.approx(plain.score(texts, expected), abs=1e-4)


def test_threads_take_turns() -> None:
    model = network(4)
    options, limits = SearchOptions(beam=2), [12, 20, 9]
    batches = [[tuple(range(5 + i, 12 + 2 * i)), (6, 5 + i), (7,) * (i + 1)] for i in range(4)]
    expected = [CapturedSearch(model).search(batch, limits, options) for batch in batches]
    fast = CapturedSearch(model)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: fast.search(batches[i % 4], limits, options), range(12)))
    assert found == expected * 3


def test_shapes_of_long_ago_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    model, options = network(4), SearchOptions(beam=2)
    batches = [[tuple(range(5, 8 + 9 * i))] for i in range(3)]
    expected = [CapturedSearch(model).search(batch, [20], options) for batch in batches]
    fast, start, most = CapturedSearch(model), Autoregressive.start, 1

    def in_little_memory(*given: Any) -> Any:
        if len(fast._stages) >= most:
            raise torch.OutOfMemoryError
        return start(*given)

    monkeypatch.setattr(Autoregressive, "start", in_little_memory)
    assert [fast.search(batch, [20], options) for batch in batches] == expected
    most = 0
    with pytest.raises(torch.OutOfMemoryError):
        fast.search(batches[0], [20], options)


@pytest.mark.gpu
@pytest.mark.parametrize("fused", [False, True])
def test_the_same_hypotheses_on_a_gpu(fused: bool) -> None:
    model = network(5).cuda()
    fast = CapturedSearch(model, tuning=Tuning(fused=fused))
    with torch.inference_mode():
        for trial in range(60):
            compare(model, fast, trial, "cuda")
