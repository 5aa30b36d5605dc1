"""The GPU engine: fixed shapes and CUDA graphs for LevT and its autoregressive sibling. Same edits as ``torch``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from levt.edits.state import State
from levt.engine.batching import Budget, batches
from levt.engine.captured import Captured
from levt.engine.captured_search import CapturedSearch
from levt.engine.graph import FEW, WIDTHS, bucket
from levt.engine.torch_engine import TorchEngine
from levt.engine.torch_engine import load as load_torch
from levt.engine.tuning import Tuning
from levt.errors import ConfigError
from levt.policy.autoregressive import Autoregressive
from levt.policy.folder import Tokenizers
from levt.policy.levt import LevT
from levt.policy.memory import Memory
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
        capture: bool | None = None,
        tuning: Tuning | None = None,
    ) -> None:
        super().__init__(network, tokenizers)
        self.captured = CapturedSearch(network, capture=capture, tuning=tuning)

    def encode(self, sources: Sequence[Tokens], drafts: Sequence[Tokens] | None = None) -> Memory:
        """Read a batch; a small one at a width that has been captured."""
        if drafts is not None or len(sources) > FEW or not sources:
            return super().encode(sources, drafts)
        width = bucket(2 + max(map(len, sources)), WIDTHS, self.config.max_length)
        with torch.inference_mode():
            memory: Memory = self.captured.network.encode(
                State.of(sources, width=width, device=self.device).y
            )
        return memory

    def search(self, memory: Memory, limits: Sequence[int], options: SearchOptions) -> list[list[Hypothesis]]:
        """Beam search."""
        if self.captured.serves(memory, options):
            return self.captured.search(memory, limits, options)
        return super().search(memory, limits, options)


class CudaEngine(TorchEngine):
    """Runs LevT by captured graphs where that pays, and everything else like the plain engine."""

    def __init__(
        self,
        network: LevT,
        tokenizers: Tokenizers,
        *,
        capture: bool | None = None,
        tuning: Tuning | None = None,
    ) -> None:
        super().__init__(network, tokenizers)
        self.captured = Captured(network, capture=capture, tuning=tuning)

    def encode(self, sources: Sequence[Tokens], drafts: Sequence[Tokens] | None = None) -> Any:
        """Keep the sources: reading is part of refining."""
        return Unread(tuple(sources))

    def refine(
        self, memory: Any, requests: Sequence[Request], rows: Sequence[int] | None = None
    ) -> list[Outcome]:
        """Algorithm 2."""
        if Captured.serves(requests):
            return self.captured.refine(requests)
        return super().refine(super().encode(memory.sources), requests, rows)

    def gather(self, requests: Sequence[Request]) -> list[Outcome]:
        """Refine any number of requests, in batches that rows join and leave."""
        outcomes: dict[int, Outcome] = {}
        fixed = [i for i, request in enumerate(requests) if Captured.serves([request])]
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
    if isinstance(plain.network, Autoregressive):
        return CudaSearchEngine(plain.network, plain.tokenizers)
    return plain
