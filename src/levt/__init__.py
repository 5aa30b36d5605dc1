"""levt: text generation by editing. The names listed in ``__all__`` are the public surface; nothing else is promised.

They are loaded when they are first used, so that ``import levt`` is quick and does not import torch. What they
are is written down for type checkers in ``__init__.pyi``.
"""

import importlib
from typing import Any

from levt.errors import LevtError

__version__ = "0.1.0"

__all__ = [
    "Budget",
    "Candidates",
    "LevtError",
    "Model",
    "Options",
    "Result",
    "SearchOptions",
    "Trace",
    "Wish",
    "__version__",
    "load",
]

_HOMES = {
    "Budget": "levt.engine.batching",
    "Candidates": "levt.refine.rerank",
    "Model": "levt.engine.model",
    "Options": "levt.refine.options",
    "Result": "levt.engine.result",
    "SearchOptions": "levt.refine.search",
    "Trace": "levt.edits.trace",
    "Wish": "levt.refine.wish",
    "load": "levt.engine.model",
}
"""Where each name that is loaded late lives."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'levt' has no attribute {name!r}")
    found = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
