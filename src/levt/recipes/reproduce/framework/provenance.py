"""Where a number comes from: code, packages, hardware. Knows no step."""

import hashlib
import importlib.metadata
import os
import platform
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

import levt

PACKAGES = ("torch", "numpy", "tokenizers", "sacrebleu", "mecab-python3")


@lru_cache(maxsize=1)
def surroundings() -> dict[str, Any]:
    """The machine and everything on it that a number may depend on."""
    return {"hardware": hardware(), "versions": versions(), "code": code()}


def hardware() -> dict[str, Any]:
    """Processor and GPU."""
    found: dict[str, Any] = {"cpu": _cpu(), "cores": os.cpu_count()}
    if torch.cuda.is_available():
        found["gpu"] = torch.cuda.get_device_name()
        found["cuda"] = torch.version.cuda
    return found


def versions() -> dict[str, str]:
    """Python, levt, and the packages that compute or score."""
    found = {"python": platform.python_version(), "levt": levt.__version__}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    found["torch"] = torch.__version__
    return found


def code() -> str:
    """Changes with any line of levt: SHA-256 over its Python files, 16 digits."""
    root = Path(levt.__file__).parent
    whole = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        whole.update(path.relative_to(root).as_posix().encode())
        whole.update(path.read_bytes())
    return whole.hexdigest()[:16]


def _cpu() -> str:
    """The name of the processor, as far as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
