"""The compiled passes of ``native.c``: built once by the compiler of the machine, kept in the cache. Knows no network.

$XDG_CACHE_HOME/levt/native/KEY.so, the key being a checksum of the source, the flags and the processor: the code
is made for the instructions of the very machine.
"""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from levt.engine.cache import cache_folder
from levt.errors import ConfigError, reason

SOURCE = Path(__file__).with_name("native.c")
# Sums may be ordered anew, as every library of matrices does; -ffast-math itself would change the whole process.
FLAGS = [
    *("-O3", "-march=native", "-pthread", "-shared", "-fPIC", "-fno-math-errno", "-fno-trapping-math"),
    *("-fassociative-math", "-fno-signed-zeros", "-ffinite-math-only", "-freciprocal-math"),
]

if platform.machine() in ("x86_64", "AMD64"):
    FLAGS.append("-mprefer-vector-width=512")

Array = np.ndarray[Any, np.dtype[Any]]


class Linear(ctypes.Structure):
    """A linear map; weights are packed."""

    _fields_ = [
        ("inputs", ctypes.c_int32), ("outputs", ctypes.c_int32), ("bytes", ctypes.c_void_p),
        ("floats", ctypes.c_void_p), ("scale", ctypes.c_void_p), ("middle", ctypes.c_void_p), ("bias", ctypes.c_void_p),
    ]  # fmt: skip


class Norm(ctypes.Structure):
    """A normalisation, or none."""

    _fields_ = [
        ("gain", ctypes.c_void_p), ("bias", ctypes.c_void_p), ("eps", ctypes.c_float), ("here", ctypes.c_int32),
    ]  # fmt: skip


class Layer(ctypes.Structure):
    """A block."""

    _fields_ = [
        *((name, Linear) for name in ("qkv", "out", "query", "cross_out", "into", "back")),
        *((name, Norm) for name in ("self_norm", "cross_norm", "feed_norm")),
    ]  # fmt: skip


class Stack(ctypes.Structure):
    """An encoder or a tower, with its embedding."""

    _fields_ = [
        *((name, ctypes.c_int32) for name in ("width", "hidden", "heads", "pre_norm", "activation")),
        ("positions_here", ctypes.c_int32), ("cross", ctypes.c_int32), ("scale", ctypes.c_float),
        ("table", ctypes.c_void_p), ("positions", ctypes.c_void_p),
        ("embed_norm", Norm), ("norm", Norm), ("layers", ctypes.c_void_p),
    ]  # fmt: skip


def address(array: Array) -> int:
    """Where the numbers of an array lie; who asks keeps the array."""
    place: int = array.__array_interface__["data"][0]
    return place


def compiler() -> str:
    """The compiler of this machine: CC, cc, gcc or clang."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise ConfigError(
        "the engine native is compiled on its first use, and there is no C compiler",
        hint="install gcc or clang, or --engine onnx-int8",
    )


@cache
def library() -> Any:
    """The compiled library, built first where the cache has none."""
    place = cache_folder("native") / f"{key()}.so"
    if not os.path.isfile(place):  # nor where it may not be looked for, which Path.is_file would raise
        build(place)
    try:
        found = ctypes.CDLL(str(place))
    except OSError as error:
        raise ConfigError(
            f"{place} cannot be loaded: {error}",
            hint="remove it, and it is built anew; XDG_CACHE_HOME moves the cache",
        ) from error
    i, p = ctypes.c_int, ctypes.c_void_p
    for name, kinds in (
        ("levt_states", [p, i, i, p, p, p, p, p, i]),
        ("levt_map", [p, i, i, p, i, p, i, i, p, p, i]),
    ):
        getattr(found, name).argtypes = kinds
    return found


@cache
def fast() -> bool:
    """Whether the library can be had here and is faster than torch: it is written for AVX-512."""
    if "avx512f" not in processor():
        return False
    try:
        library()
    except ConfigError:
        return False
    return True


def processor() -> str:
    """What the processor can do, as the kernel lists it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    except OSError:
        return platform.processor()


def key() -> str:
    """What the code is made from and for, in one checksum."""
    made_of = [SOURCE.read_text(encoding="utf-8"), *FLAGS, platform.machine(), processor()]
    return hashlib.sha256("\n".join(made_of).encode()).hexdigest()[:32]


def build(place: Path) -> None:
    """Compile, and put the result into its place whole or not at all."""
    command = compiler()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as folder:
            new = Path(folder) / place.name
            done = subprocess.run(
                [command, *FLAGS, "-o", str(new), str(SOURCE), "-lm"],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise ConfigError(
                    f"{command} cannot compile {SOURCE.name}: {done.stderr.strip()[:500]}",
                    hint="CC names another compiler; --engine onnx-int8 needs none",
                )
            new.replace(place)
    except OSError as error:
        raise ConfigError(
            f"the engine native cannot be built in {place.parent}: {reason(error)}",
            hint="XDG_CACHE_HOME moves the cache",
        ) from error
