"""How long does one sentence take on a GPU? Tokens in, tokens out, both sides on the captured engine.

    python benchmarks/latency.py                       # base size, random weights, 28 source and 28 target tokens

LevT is made to write 26 tokens, to delete three of them and to write three others: two iterations with edits, five
decoder passes (and two more to confirm with --confirm). Yardsticks on an H200: the reference implementation 43 ms
(LevT), 216 ms (greedy), 213 ms (beam 4).
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from levt.engine.cuda_engine import CudaEngine, CudaSearchEngine
from levt.policy.autoregressive import Autoregressive
from levt.policy.build import build
from levt.policy.config import AutoregressiveConfig, LevTConfig
from levt.policy.folder import Tokenizers
from levt.policy.levt import LevT
from levt.refine.options import Options
from levt.refine.request import Request
from levt.refine.search import SearchOptions
from levt.text.specials import PAD, PLH
from levt.text.tokenizer import Tokenizer

VOCABULARY = 32_000
FIRST, SECOND = 100, 200
"""Tokens that mark what was written in the first and in the second iteration."""


class Scripted(LevT):
    """The whole network, with answers added to its logits that make it take two iterations with edits."""

    def hidden(self, memory: Any, y: Tensor, layout: Any, policy: Any) -> Tensor:
        """Remember the state, so that the heads can answer to it."""
        self.state = y
        return super().hidden(memory, y, layout, policy)

    def delete_logits(self, h: Tensor) -> Tensor:
        """Delete three tokens of the first iteration."""
        logits = super().delete_logits(h)
        place = torch.arange(self.state.shape[1], device=h.device)
        gone = (self.state == FIRST) & (place >= 5) & (place < 8)
        return torch.stack([logits[..., 0] * 0, torch.where(gone, 9.0, -9.0) + logits[..., 1] * 0], -1)

    def placeholder_logits(self, h: Tensor) -> Tensor:
        """Open 26 placeholders in an empty canvas, three where three are missing."""
        logits = super().placeholder_logits(h) * 0
        missing = 28 - (self.state != PAD).sum(1)
        gap = torch.where(missing == 26, 0, 4).view(-1, 1, 1)
        places = torch.arange(logits.shape[1], device=h.device).view(1, -1, 1)
        counts = torch.arange(logits.shape[2], device=h.device).view(1, 1, -1)
        wanted = torch.where(places == gap, missing.view(-1, 1, 1), 0)
        return logits + torch.where(counts == wanted, 9.0, 0.0)

    def token_logits(self, h: Tensor) -> Tensor:
        """Write one token in the first iteration, another in the second."""
        logits = super().token_logits(h) * 0
        first = (self.state == PLH).sum(1) == 26
        column = torch.arange(logits.shape[-1], device=h.device)
        chosen = torch.where(first, FIRST, SECOND).view(-1, 1, 1)
        if h.dim() == 2:
            # At some places alone: which rows they are in is not said, but all rows are alike.
            chosen = chosen[:1, 0]
        return logits + torch.where(column == chosen, 9.0, 0.0)


def tokenizers() -> Tokenizers:
    return Tokenizers.joint(Tokenizer.from_pieces([f"p{i}" for i in range(VOCABULARY - 5)]))


def scripted(device: str, dtype: torch.dtype, *, vocabulary: int = VOCABULARY, **settings: Any) -> LevT:
    config = LevTConfig(source_vocabulary=vocabulary, target_vocabulary=vocabulary, dropout=0.0, **settings)
    return Scripted(config).eval().to(device, dtype)


def autoregressive(device: str, dtype: torch.dtype, **settings: Any) -> Autoregressive:
    config = AutoregressiveConfig(
        source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY, dropout=0.0, **settings
    )
    model = build(config).eval().to(device, dtype)
    assert isinstance(model, Autoregressive)
    return model


def timed(call: Callable[[], object], repeats: int) -> list[float]:
    """Milliseconds of each call, sorted; the device is idle before and after each."""
    for _ in range(10):
        call()
    times = []
    for _ in range(repeats):
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    return sorted(times)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float16", "float32"])
    parser.add_argument(
        "--confirm", action="store_true", help="count the iteration that only confirms as well"
    )
    parser.add_argument("--small", action="store_true", help="tiny networks, to try the script on a CPU")
    given = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = getattr(torch, given.dtype) if device == "cuda" else torch.float32
    size = {"width": 32, "hidden": 64, "heads": 2} if given.small else {}
    source = tuple(range(300, 326))
    options = Options(max_iterations=10 if given.confirm else 2)
    request = Request(source=source, options=options)
    calls: list[tuple[str, Callable[[], object], Callable[[], str]]] = []

    for name, delete_exit, placeholder_exit in (("6-6-6", None, None), ("3-3-6", 3, 3), ("1-1-6", 1, 1)):
        engine = CudaEngine(
            scripted(device, dtype, delete_exit=delete_exit, placeholder_exit=placeholder_exit, **size),
            tokenizers(),
        )

        def levt(engine: CudaEngine = engine) -> Any:
            return engine.refine(engine.encode([source]), [request])[0]

        def note(engine: CudaEngine = engine, call: Callable[[], Any] = levt) -> str:
            before = engine.captured.synchronisations
            outcome = call()
            waits = engine.captured.synchronisations - before
            work = f"{outcome.iterations} iterations, {outcome.passes} passes, {waits} waits"
            return f"{work}, {len(outcome.tokens)} tokens"

        calls.append((f"LevT {name}", levt, note))
    for name, beam, layers in (
        ("AR 6-6 greedy", 1, (6, 6)),
        ("AR 6-6 beam 4", 4, (6, 6)),
        ("AR 12-1 greedy", 1, (12, 1)),
    ):
        network = autoregressive(device, dtype, encoder_layers=layers[0], decoder_layers=layers[1], **size)
        searcher = CudaSearchEngine(network, tokenizers())
        search = SearchOptions(beam=beam)

        def ar(searcher: CudaSearchEngine = searcher, search: SearchOptions = search) -> Any:
            return searcher.search(searcher.encode([source]), [28], search)[0][0]

        calls.append((name, ar, lambda call=ar: f"{len(call().tokens)} tokens"))  # type: ignore[misc]

    print(
        f"torch {torch.__version__}, {torch.cuda.get_device_name() if device == 'cuda' else 'CPU'}, {dtype}"
    )
    print("| system | p50 ms | p95 ms | p99 ms | |\n|---|---|---|---|---|")
    for name, call, what in calls:
        times = timed(call, given.repeats)
        p50, p95, p99 = (times[int(len(times) * q)] for q in (0.5, 0.95, 0.99))
        print(f"| {name} | {p50:.2f} | {p95:.2f} | {p99:.2f} | {what()} |", flush=True)


if __name__ == "__main__":
    main()
