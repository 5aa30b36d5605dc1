"""LevT on a CPU by our own code, compiled on the machine where it runs: the fastest there, for one text or many.

Bytes as in onnx-int8, so texts may differ from the exact ones; with ``dtype`` float32 they are those of torch. Needs a
C compiler on the first use and nothing else; made for processors with AVX-512 VNNI, right but slow on all others.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import torch

from levt.engine.native_loop import plain, refine_plain
from levt.engine.native_network import NativePrecision, Packed
from levt.engine.native_policy import NativeMemory, NativePolicy
from levt.engine.onnx_sessions import thread_count
from levt.engine.torch_engine import TorchEngine
from levt.errors import ConfigError
from levt.policy.folder import Tokenizers, load_folder, open_folder
from levt.policy.levt import LevT
from levt.policy.memory import Memory
from levt.refine.loop import Outcome
from levt.refine.request import Request, Tokens


class NativeEngine(TorchEngine):
    """Runs a packed LevT; requests that somebody steers go through the plain loop."""

    network: NativePolicy

    def __init__(self, network: NativePolicy, tokenizers: Tokenizers) -> None:
        super().__init__(network, tokenizers)

    @property
    def device(self) -> torch.device:
        """The CPU."""
        return torch.device("cpu")

    @property
    def threads(self) -> int:
        """Threads of a pass."""
        return self.network.packed.threads

    def encode(self, sources: Sequence[Tokens], drafts: Sequence[Tokens] | None = None) -> Memory:
        """Read a batch."""
        return self.network.read(sources)

    def refine(
        self, memory: Memory, requests: Sequence[Request], rows: Sequence[int] | None = None
    ) -> list[Outcome]:
        """Algorithm 2."""
        assert isinstance(memory, NativeMemory)
        chosen = list(range(len(requests))) if rows is None else list(rows)
        simple = [i for i, request in enumerate(requests) if plain(request)]
        sources = [memory.sources[chosen[i]] for i in simple]
        found = dict(
            zip(simple, refine_plain(self.network, sources, [requests[i] for i in simple]), strict=True)
        )
        rest = [i for i in range(len(requests)) if i not in found]
        if rest:
            steered = super().refine(memory, [requests[i] for i in rest], [chosen[i] for i in rest])
            found |= zip(rest, steered, strict=True)
        return [found[i] for i in range(len(requests))]


def load(folder: Path, device: str | None = None, dtype: str | None = None) -> NativeEngine:
    """Read a model folder and pack its weights, in bytes unless float32 is asked for."""
    if device not in (None, "cpu"):
        raise ConfigError(f"the engine native runs on the CPU, got device {device!r}", hint="--engine torch")
    precision: NativePrecision = "int8" if dtype is None else named(dtype)
    kind = open_folder(folder).model.kind
    if kind != "levt":
        raise ConfigError(
            f"the engine native runs models of kind levt, got {kind}", hint="--engine onnx-int8"
        )
    loaded = load_folder(folder)
    network = loaded.model
    assert isinstance(network, LevT)
    return NativeEngine(
        NativePolicy(Packed(network, precision, thread_count()), network.config), loaded.tokenizers
    )


def named(dtype: str) -> NativePrecision:
    """A precision by its name."""
    for known in get_args(NativePrecision):
        if dtype == known:
            found: NativePrecision = known
            return found
    raise ConfigError(
        f"dtype must be int8 or float32 for the engine native, got {dtype!r}",
        hint="leave it out for int8; --engine torch has others",
    )
