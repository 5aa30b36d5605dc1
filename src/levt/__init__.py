"""levt: text generation by editing. The names listed in ``__all__`` are the public surface; nothing else is promised.

They are loaded when they are first used, so that ``import levt`` is quick and does not import torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

from levt.errors import LevtError

if TYPE_CHECKING:
    from levt.edits.trace import Trace
    from levt.engine.batching import Budget
    from levt.engine.model import Model, load
    from levt.engine.result import Result
    from levt.refine.options import Options
    from levt.refine.rerank import Candidates
    from levt.refine.search import SearchOptions
    from levt.refine.wish import Wish

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
