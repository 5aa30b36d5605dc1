"""Which of several ways to do the same a captured engine takes; all give the same edits, up to rounding."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """The ways; which is the fastest is for ``benchmarks/latency.py --variants`` to say."""

    compile: bool = False
    """Compile the work before it is captured: fewer launches, for minutes of waiting at the first use."""
    fused: bool = True
    """Use our own kernels between the matrix products: of a step of the autoregressive model, of blocks of LevT."""


def compiled(work: Callable[..., Any]) -> Callable[..., Any]:
    """The work compiled for its shapes; as it is, where compiling fails."""
    fast = torch.compile(work, dynamic=False)
    failed = False

    def run(*args: Any, **kwargs: Any) -> Any:
        nonlocal failed
        if not failed:
            try:
                # Every shape is compiled on its own, and there are as many as there are buckets.
                with torch._dynamo.config.patch(recompile_limit=64):
                    return fast(*args, **kwargs)
            except Exception:
                log.warning("compiling failed: going on without", exc_info=True)
                failed = True
        return work(*args, **kwargs)

    return run
