"""What an engine is, and which there are: a file ``NAME_engine.py`` in this folder adds the engine NAME.

In the name of a file a dash is an underscore: ``onnx_int8_engine.py`` is the engine onnx-int8.
An engine runs the network of one model folder on one device; it knows no text, no batching and no order of
terms. Whatever makes it fast, it must give the edits that ``levt.refine`` defines. Its module has a function
``load(folder, device, dtype)``; the module is imported, with what it needs, only when it is asked for.
"""

import importlib
import pkgutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from levt.errors import ConfigError
from levt.policy.config import ModelConfig
from levt.policy.folder import Tokenizers
from levt.refine.loop import Outcome
from levt.refine.request import Request, Tokens
from levt.refine.search import Hypothesis, SearchOptions

_SUFFIX = "_engine"

AUTO = "auto"
"""The fastest engine that computes what was trained, up to rounding: ``cuda`` on a GPU; on a CPU ``native`` in single
precision, for a LevT where that is fast, else ``torch``."""


@runtime_checkable
class Engine(Protocol):
    """Runs one model. What ``encode`` gives is handed back to the other methods, and to nobody else."""

    @property
    def config(self) -> ModelConfig:
        """The network."""
        ...

    @property
    def tokenizers(self) -> Tokenizers:
        """The tokenizers of both sides."""
        ...

    def encode(self, sources: Sequence[Tokens], drafts: Sequence[Tokens] | None = None) -> Any:
        """Read a batch of sources (without boundaries), with their drafts where the encoder reads those too."""
        ...

    def refine(
        self, memory: Any, requests: Sequence[Request], rows: Sequence[int] | None = None
    ) -> list[Outcome]:
        """Refine requests; ``rows`` says for each which source of the memory it belongs to (None: its own)."""
        ...

    def search(self, memory: Any, limits: Sequence[int], options: SearchOptions) -> list[list[Hypothesis]]:
        """Write from left to right, no output longer than its limit (boundaries counted)."""
        ...

    def score(self, memory: Any, targets: Sequence[Tokens], rows: Sequence[int] | None = None) -> list[float]:
        """Mean log-probability of each target's tokens, as a model that writes from left to right sees it."""
        ...


def engines() -> list[str]:
    """Names of all engines.

    >>> "torch" in engines()
    True
    """
    folder = [str(Path(__file__).parent)]
    return sorted(
        m.name.removesuffix(_SUFFIX).replace("_", "-")
        for m in pkgutil.iter_modules(folder)
        if m.name.endswith(_SUFFIX)
    )


def load_engine(name: str, folder: Path, device: str | None = None, dtype: str | None = None) -> Engine:
    """The engine of that name for a model folder; None leaves device and precision to the engine."""
    if not isinstance(device, str | None):
        raise ConfigError(
            f"device must be cpu, cuda or cuda:N as text, got {device!r}",
            hint="leave it out for a GPU where there is one",
        )
    if name == AUTO:
        name, dtype = _exact(folder, device, dtype)
    if name not in engines():
        raise ConfigError(
            f"engine must be one of {', '.join([AUTO, *engines()])}, got {name!r}",
            hint="auto takes what is exact and fast; on a CPU native and onnx-int8 are faster",
        )
    module = importlib.import_module(f"levt.engine.{name.replace('-', '_')}{_SUFFIX}")
    engine: Engine = module.load(folder, device, dtype)
    return engine


def on_gpu(device: str | None) -> bool:
    """Whether a device, None for the default, is a GPU."""
    import torch

    return torch.cuda.is_available() if device is None else device.startswith("cuda")


def _exact(folder: Path, device: str | None, dtype: str | None) -> tuple[str, str | None]:
    """The engine and the precision that ``auto`` stands for."""
    from levt.edits.kernels import HAVE_TRITON
    from levt.engine.native_library import fast
    from levt.policy.folder import open_folder

    if on_gpu(device):
        return "cuda" if HAVE_TRITON else "torch", dtype
    here = device in (None, "cpu") and dtype in (None, "float32")
    if here and open_folder(folder).model.kind == "levt" and fast():
        return "native", "float32"
    return "torch", dtype
