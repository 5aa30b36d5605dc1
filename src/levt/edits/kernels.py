"""Triton where there is Triton. Builds of torch without CUDA come without it; their kernels can still be read."""

import importlib
import importlib.util
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

HAVE_TRITON = importlib.util.find_spec("triton") is not None

triton: Any = importlib.import_module("triton") if HAVE_TRITON else None
tl: Any = importlib.import_module("triton.language") if HAVE_TRITON else SimpleNamespace(constexpr=int)


def kernel(function: Callable[..., Any]) -> Any:
    """A function as a Triton kernel; without Triton it stays what it is, and nobody calls it."""
    return triton.jit(function) if HAVE_TRITON else function
