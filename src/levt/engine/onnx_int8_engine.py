"""ONNX Runtime on the CPU, with products of bytes: sooner still, where the processor has them.

Scores differ from the exact ones by a percent or two, so a text may; the batch it is in changes nothing.
"""

from pathlib import Path

from levt.engine.onnx_engine import OnnxEngine, load_precision
from levt.errors import ConfigError


def load(folder: Path, device: str | None = None, dtype: str | None = None) -> OnnxEngine:
    """Read the int8 graphs of a model folder, writing them first where there are none."""
    if dtype not in (None, "int8"):
        raise ConfigError(f"the engine onnx-int8 has the dtype int8, got {dtype!r}", hint="--engine onnx")
    return load_precision(folder, device, "int8")
