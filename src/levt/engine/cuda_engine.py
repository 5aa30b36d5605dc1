"""The GPU engine: fixed shapes and CUDA graphs for LevT and its autoregressive sibling. Same edits as ``torch``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from levt.engine.batching import Budget, batches
from levt.engine.captured import Captured
from levt.engine.captured_search import CapturedSearch
from levt.engine.torch_engine import TorchEngine
from levt.engine.torch_engine import load as load_torch
from levt.engine.tuning import Tuning
from levt.errors import ConfigError
from levt.policy.autoregressive import Autoregressive
from levt.policy.folder import Tokenizers
from levt.policy.levt import LevT
from levt.policy.post_editing import PostEditor
from levt.refine.loop import Outcome
from levt.refine.request import Request, Tokens
from levt.refine.search import Hypothesis, SearchOptions


@dataclass(frozen=True)
class Unread:
    """Sources that are read together with whatever else is refined."""

    sources: tuple[Tokens, ...]


class CudaSearchEngine(TorchEngine):
    """Runs an autoregressive sibling by captured graphs, a token each, where that pays."""

    def __init__(
        self,
        network: Autoregressive,
        tokenizers: Tokenizers,
        *,
        tuning: Tuning | None = None,
    ) -> None:
        super().__init__(network, tokenizers)
        self.captured = CapturedSearch(network, tuning=tuning)

    def encode(self, sources: Sequence[Tokens], drafts: Sequence[Tokens] | None = None) -> Any:
        """Keep the sources: reading is part of searching."""
        return Unread(tuple(sources))

    def search(self, memory: Any, limits: Sequence[int], options: SearchOptions) -> list[list[Hypothesis]]:
        """Beam search."""
        if self.captured.serves(memory.sources, options):
            return self.captured.search(memory.sources, limits, options)
        return super().search(super().encode(memory.sources), limits, options)

    def score(self, memory: Any, targets: Sequence[Tokens], rows: Sequence[int] | None = None) -> list[float]:
        """One pass over all targets."""
        return super().score(super().encode(memory.sources), targets, rows)


class CudaEngine(TorchEngine):
    """Runs LevT by captured graphs where that pays, and everything else like the plain engine."""

    def __init__(
        self,
        network: LevT,
        tokenizers: Tokenizers,
        *,
        tuning: Tuning | None = None,
    ) -> None:
        super().__init__(network, tokenizers)
        self.captured = Captured(network, tuning=tuning)

    def encode(self, sources: Sequence[Tokens], drafts: Sequence[Tokens] | None = None) -> Any:
        """Keep the sources: reading is part of refining."""
        return Unread(tuple(sources))

    def refine(
        self, memory: Any, requests: Sequence[Request], rows: Sequence[int] | None = None
    ) -> list[Outcome]:
        """Algorithm 2."""
        if self.captured.serves(requests):
            return self.captured.refine(requests)
        return super().refine(super().encode(memory.sources), requests, rows)

    def gather(self, requests: Sequence[Request]) -> list[Outcome]:
        """Refine any number of requests, in batches that rows join and leave."""
        outcomes: dict[int, Outcome] = {}
        fixed = [i for i, request in enumerate(requests) if self.captured.serves([request])]
        outcomes |= zip(fixed, self.captured.refine([requests[i] for i in fixed]), strict=True)
        rest = [i for i in range(len(requests)) if i not in outcomes]
        for batch in batches(
            [2 + max(len(requests[i].source), len(requests[i].draft)) for i in rest], Budget()
        ):
            numbers = [rest[i] for i in batch]
            sources = self.encode([requests[i].source for i in numbers])
            outcomes |= zip(numbers, self.refine(sources, [requests[i] for i in numbers]), strict=True)
        return [outcomes[i] for i in range(len(requests))]


def load(folder: Path, device: str | None = None, dtype: str | None = None) -> TorchEngine:
    """Read a model folder onto a GPU."""
    if not torch.cuda.is_available():
        raise ConfigError("the engine cuda needs a GPU that torch sees", hint="--engine torch")
    plain = load_torch(folder, device or "cuda", dtype)
    if isinstance(plain.network, LevT):
        return CudaEngine(plain.network, plain.tokenizers)
    if isinstance(plain.network, Autoregressive) and not isinstance(plain.network, PostEditor):
        return CudaSearchEngine(plain.network, plain.tokenizers)
    return plain
