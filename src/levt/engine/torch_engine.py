"""The plain engine: torch, eager, on any device. The reference for all others."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from levt.edits.state import State
from levt.engine.alternatives import Found, Place, ask
from levt.engine.chunked import Chunked
from levt.engine.continuous import Continuous, Rolling, distinct
from levt.errors import ConfigError
from levt.policy.config import ModelConfig
from levt.policy.folder import Tokenizers, load_folder
from levt.policy.memory import Memory
from levt.policy.post_editing import PostEditor
from levt.refine.canvas import ParallelOptions
from levt.refine.decoders import DECODERS
from levt.refine.guidance import Guidance
from levt.refine.loop import Outcome, refine
from levt.refine.phases import Policy
from levt.refine.request import Request, Tokens
from levt.refine.rerank import Teacher, teacher_scores
from levt.refine.search import Hypothesis, SearchOptions, beam_search

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


class TorchEngine:
    """Runs a network of ``levt.policy`` as it is."""

    def __init__(self, network: nn.Module, tokenizers: Tokenizers) -> None:
        self.network = network.eval()
        self._tokenizers = tokenizers

    @property
    def config(self) -> ModelConfig:
        """The network."""
        config = self.network.config
        assert isinstance(config, ModelConfig)
        return config

    @property
    def tokenizers(self) -> Tokenizers:
        """The tokenizers of both sides."""
        return self._tokenizers

    @property
    def device(self) -> torch.device:
        """Where the network lies."""
        return next(self.network.parameters()).device

    @torch.inference_mode()
    def encode(self, sources: Sequence[Tokens], drafts: Sequence[Tokens] | None = None) -> Memory:
        """Read a batch."""
        x = self._padded(sources)
        network: Any = self.network
        if isinstance(self.network, PostEditor):
            assert drafts is not None, "a post-editor reads drafts"
            return self.network.encode_pair(x, self._padded(drafts))
        memory: Memory = network.encode(x)
        return memory

    def refine(
        self, memory: Memory, requests: Sequence[Request], rows: Sequence[int] | None = None
    ) -> list[Outcome]:
        """Algorithm 2."""
        assert isinstance(self.network, Policy)
        guidance = Guidance.of(
            requests,
            positions=self.config.max_length,
            vocabulary=self.config.target_vocabulary,
            device=self.device,
        )
        return refine(self.network, self._rows(memory, rows), requests, guidance)

    def continuous(self, threads: int = 1) -> Continuous:
        """Algorithm 2 on requests that come and go; read plainly, whatever an engine made of this one does."""
        assert isinstance(self.network, Policy)
        # What runs without weights of torch has threads of its own.
        own = next(self.network.parameters(), None) is not None
        cpu = self.device.type == "cpu"
        policy = Chunked(self.network, threads if own else 1) if cpu else self.network
        return Rolling(partial(TorchEngine.encode, self), self.config, policy, self.device)

    def alternatives(self, places: Sequence[Place]) -> list[Found]:
        """What else could stand in some places: one pass, or two where a place has several placeholders."""
        assert isinstance(self.network, Policy)
        sources, rows = distinct([place.source for place in places])
        return ask(self.network, self._rows(TorchEngine.encode(self, sources), rows), places, self.device)

    def search(self, memory: Memory, limits: Sequence[int], options: SearchOptions) -> list[list[Hypothesis]]:
        """Beam search."""
        network: Any = self.network
        return beam_search(network, memory, limits, options)

    def decode(self, memory: Memory, limits: Sequence[int], options: ParallelOptions) -> list[Outcome]:
        """All tokens at once, in the way of this kind."""
        return DECODERS[self.config.kind].decode(self.network, memory, limits, options)

    def score(
        self, memory: Memory, targets: Sequence[Tokens], rows: Sequence[int] | None = None
    ) -> list[float]:
        """One pass over all targets."""
        assert isinstance(self.network, Teacher)
        return teacher_scores(self.network, self._rows(memory, rows), targets)

    def _rows(self, memory: Memory, rows: Sequence[int] | None) -> Memory:
        if rows is None or list(rows) == list(range(memory.rows)):
            return memory
        return memory.select(torch.tensor(list(rows), device=self.device))

    def _padded(self, sequences: Sequence[Tokens]) -> Int[Tensor, "b s"]:
        return State.of(sequences, device=self.device).y


def load(folder: Path, device: str | None = None, dtype: str | None = None) -> TorchEngine:
    """Read a model folder; by default onto the GPU in bfloat16 where there is one, else the CPU in float32."""
    where = device_named(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    precision = dtype or ("bfloat16" if where.type == "cuda" else "float32")
    if precision not in DTYPES:
        raise ConfigError(
            f"dtype must be one of {', '.join(DTYPES)}, got {precision!r}",
            hint="leave it out for bfloat16 on a GPU, float32 elsewhere; int8 is of --engine native or onnx-int8",
        )
    loaded = load_folder(folder, device=where, dtype=DTYPES[precision])
    return TorchEngine(loaded.model, loaded.tokenizers)


def device_named(name: str) -> torch.device:
    """A device that is there, by its name."""
    try:
        where: torch.device | None = torch.device(name)
    except RuntimeError:
        where = None
    if where is None or where.type not in ("cpu", "cuda"):
        raise ConfigError(
            f"device must be cpu, cuda or cuda:N, got {name!r}",
            hint="leave it out for a GPU where there is one",
        )
    if where.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"device is {name!r}, but torch sees no GPU", hint="--device cpu")
    if where.type == "cuda" and (where.index or 0) >= (count := torch.cuda.device_count()):
        raise ConfigError(
            f"device is {name!r}, but torch sees GPUs up to {count - 1}", hint="--device cuda:0"
        )
    return where
