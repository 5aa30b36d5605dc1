"""How long does one sentence take on a GPU? Tokens in, tokens out, both sides on the captured engine.

    python benchmarks/latency.py                       # base size, random weights, 28 source and 28 target tokens
    python benchmarks/latency.py --variants fused plain compile both       # ways to do the same, beside each other

LevT is made to write 26 tokens, to delete three of them and to write three others: two iterations with edits, five
decoder passes (and two more to confirm with --confirm). Yardsticks on an H200: the reference implementation 43 ms
(LevT), 216 ms (greedy), 213 ms (beam 4).
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from levt.engine.cuda_engine import CudaEngine, CudaSearchEngine
from levt.engine.tuning import Tuning
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
SURE = 1e4
"""A score that no random network gives; put in one place, so that the answer costs as good as nothing."""


class Scripted(LevT):
    """The whole network, with answers added to its logits that make it take two iterations with edits."""

    def embed_target(self, y: Tensor, layout: Any) -> Tensor:
        """Remember the state, so that the heads can answer to it."""
        self.state = y
        return super().embed_target(y, layout)

    def delete_logits(self, h: Tensor) -> Tensor:
        """Delete three tokens of the first iteration."""
        place = torch.arange(self.state.shape[1], device=h.device)
        gone = (self.state == FIRST) & (place >= 5) & (place < 8)
        return super().delete_logits(h).scatter_(-1, gone.long().unsqueeze(-1), SURE)

    def placeholder_logits(self, h: Tensor) -> Tensor:
        """Open 26 placeholders in an empty canvas, three where three are missing."""
        missing = 28 - (self.state != PAD).sum(1, keepdim=True)
        gap = torch.where(missing == 26, 0, 4)
        places = torch.arange(self.state.shape[1] - 1, device=h.device)
        wanted = torch.where((places == gap) & (missing > 0), missing.clamp(max=26), 0)
        return super().placeholder_logits(h).scatter_(-1, wanted.unsqueeze(-1), SURE)

    def token_logits(self, h: Tensor) -> Tensor:
        """Write one token in the first iteration, another in the second."""
        logits = super().token_logits(h)
        first = (self.state == PLH).sum(1) == 26
        chosen = torch.where(first, FIRST, SECOND).view(-1, 1, 1)
        # At some places alone: which rows they are in is not said, but all rows are alike.
        chosen = chosen[:1, 0] if h.dim() == 2 else chosen
        return logits.scatter_(-1, chosen.expand(*h.shape[:-1], 1), SURE)


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


VARIANTS = {
    "fused": Tuning(),
    "plain": Tuning(fused=False),
    "compile": Tuning(fused=False, compile=True),
    "both": Tuning(compile=True),
}
"""Ways to do the same, to be compared in one run."""


def levt_call(engine: CudaEngine, request: Request) -> tuple[Callable[[], Any], Callable[[], str]]:
    """A sentence through LevT, and what it took."""

    def call() -> Any:
        return engine.refine(engine.encode([request.source]), [request])[0]

    def note() -> str:
        before = engine.captured.synchronisations
        outcome = call()
        waits = engine.captured.synchronisations - before
        work = f"{outcome.iterations} iterations, {outcome.passes} passes, {waits} waits"
        return f"{work}, {len(outcome.tokens)} tokens"

    return call, note


def ar_call(
    engine: CudaSearchEngine, source: tuple[int, ...], beam: int
) -> tuple[Callable[[], Any], Callable[[], str]]:
    """A sentence from left to right, and what it took."""
    search = SearchOptions(beam=beam)

    def call() -> Any:
        return engine.search(engine.encode([source]), [28], search)[0][0]

    def note() -> str:
        before = engine.captured.synchronisations
        tokens = len(call().tokens)
        return f"{tokens} tokens, {engine.captured.synchronisations - before} waits"

    return call, note


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float16", "float32"])
    parser.add_argument(
        "--confirm", action="store_true", help="count the iteration that only confirms as well"
    )
    parser.add_argument("--small", action="store_true", help="tiny networks, to try the script on a CPU")
    parser.add_argument(
        "--variants", nargs="+", default=["fused"], choices=list(VARIANTS), help="ways to do the same"
    )
    parser.add_argument("--only", nargs="*", default=[], help="only what has one of these in its name")
    parser.add_argument("--output", type=Path, help="append the table to this Markdown file")
    given = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = getattr(torch, given.dtype) if device == "cuda" else torch.float32
    size = {"width": 32, "hidden": 64, "heads": 2} if given.small else {}
    source = tuple(range(300, 326))
    request = Request(source=source, options=Options(max_iterations=10 if given.confirm else 2))
    machine = torch.cuda.get_device_name() if device == "cuda" else "CPU"

    def say(line: str) -> None:
        """At once, also into the file: what comes later may fail."""
        print(line, flush=True)
        if given.output is not None:
            with given.output.open("a") as file:
                file.write(line + "\n")

    say(f"\ntorch {torch.__version__}, {machine}, {dtype}, load {os.getloadavg()[0]:.1f}\n")
    say("| system | way | p50 ms | p95 ms | p99 ms | |\n|---|---|---|---|---|---|")

    def row(name: str, variant: str, call: Callable[[], Any], note: Callable[[], str]) -> None:
        times = timed(call, given.repeats)
        p50, p95, p99 = (times[int(len(times) * q)] for q in (0.5, 0.95, 0.99))
        say(f"| {name} | {variant} | {p50:.2f} | {p95:.2f} | {p99:.2f} | {note()} |")

    def wanted(name: str) -> bool:
        return not given.only or any(part in name for part in given.only)

    for name, exit_ in (("LevT 6-6-6", None), ("LevT 3-3-6", 3), ("LevT 1-1-6", 1)):
        if wanted(name):
            network = scripted(device, dtype, delete_exit=exit_, placeholder_exit=exit_, **size)
            for variant in given.variants:
                engine = CudaEngine(network, tokenizers(), tuning=VARIANTS[variant])
                row(name, variant, *levt_call(engine, request))
    for name, beam, layers in (
        ("AR 6-6 greedy", 1, (6, 6)),
        ("AR 6-6 beam 4", 4, (6, 6)),
        ("AR 12-1 greedy", 1, (12, 1)),
    ):
        if wanted(name):
            writer = autoregressive(device, dtype, encoder_layers=layers[0], decoder_layers=layers[1], **size)
            for variant in given.variants:
                searcher = CudaSearchEngine(writer, tokenizers(), tuning=VARIANTS[variant])
                row(name, variant, *ar_call(searcher, source, beam))


if __name__ == "__main__":
    main()
