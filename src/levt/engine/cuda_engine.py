"""The GPU engine: CUDA graphs for one sentence or a few, the plain loop for large batches. Same edits as ``torch``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from levt.edits.state import State
from levt.engine.captured import Captured
from levt.engine.captured_search import CapturedSearch
from levt.engine.graph import HEIGHTS, WIDTHS, bucket
from levt.engine.stage import Reading
from levt.engine.torch_engine import TorchEngine
from levt.engine.torch_engine import load as load_torch
from levt.errors import ConfigError
from levt.policy.autoregressive import Autoregressive
from levt.policy.folder import Tokenizers
from levt.policy.levt import LevT
from levt.policy.memory import Memory
from levt.refine.loop import Outcome
from levt.refine.request import Request, Tokens
from levt.refine.search import Hypothesis, SearchOptions


@dataclass(frozen=True)
class Read:
    """Sources that were encoded in place; read again where the place has been used for others since."""

    sources: tuple[Tokens, ...]
    reading: Reading
    generation: int


class CudaSearchEngine(TorchEngine):
    """Runs an autoregressive sibling by captured graphs, a token each, where that pays."""

    def __init__(
        self, network: Autoregressive, tokenizers: Tokenizers, *, capture: bool | None = None
    ) -> None:
        super().__init__(network, tokenizers)
        self.captured = CapturedSearch(network, capture=capture)

    def encode(self, sources: Sequence[Tokens], drafts: Sequence[Tokens] | None = None) -> Memory:
        """Read a batch; a small one at a width that has been captured."""
        if drafts is not None or len(sources) > HEIGHTS[-1] or not sources:
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

    def __init__(self, network: LevT, tokenizers: Tokenizers, *, capture: bool | None = None) -> None:
        super().__init__(network, tokenizers)
        self.captured = Captured(network, capture=capture)

    def encode(self, sources: Sequence[Tokens], drafts: Sequence[Tokens] | None = None) -> Any:
        """Read a batch."""
        if len(sources) > HEIGHTS[-1] or not sources:
            return super().encode(sources, drafts)
        return Read(tuple(sources), *self.captured.read(sources))

    def refine(
        self, memory: Any, requests: Sequence[Request], rows: Sequence[int] | None = None
    ) -> list[Outcome]:
        """Algorithm 2."""
        if not isinstance(memory, Read):
            return super().refine(memory, requests, rows)
        own = rows is None or list(rows) == list(range(len(memory.sources)))
        if not own or not Captured.serves(requests):
            return super().refine(super().encode(memory.sources), requests, rows)
        reading, generation = memory.reading, memory.generation
        if reading.generation != generation:
            reading, _ = self.captured.read(memory.sources)
        return self.captured.refine(reading, requests)


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
