"""Reads a checkpoint written by ``torch.save`` without executing anything in it. Knows no architecture.

A checkpoint is a pickle, and a pickle is a program: each global it names is looked up and may be called.
Here every name is looked up in one short table instead, nothing is ever imported, and each entry of the
table only puts plain data together. Any other name is refused before the step that would call it.

Tensors are references until they are asked for (``Checkpoint.tensor``), so the optimiser's part of a
checkpoint, two thirds of most files, is never read. Both layouts are understood: the zip of torch 1.6 and
later, and the single stream of pickles before it.
"""

import io
import math
import pickle
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from levt.errors import ModelError

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
LEGACY_PROTOCOL = 1001
WRITTEN = "it must be a file written by torch.save; is it complete?"


class StorageRef(NamedTuple):
    """A block of numbers in the file. A tuple, as ``TensorRef`` is, so that a pickle cannot change it."""

    key: str
    dtype: torch.dtype
    length: int
    """In elements."""


class TensorRef(NamedTuple):
    """A view of a block; two equal references are the same, tied, tensor."""

    storage: StorageRef
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]


class Settings:
    """Stands in for ``argparse.Namespace``: attributes become ``values``, and nothing else can happen."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
            raise pickle.UnpicklingError("the settings are not a table of names and values")
        self.values = dict(state)


class _Entry:
    """What a name stands for: a builder of plain data, or a kind of storage. A pickle cannot alter it."""

    __slots__ = ("build", "dtype")

    def __init__(self, *, build: Callable[..., Any] | None = None, dtype: torch.dtype | None = None) -> None:
        self.build = build
        self.dtype = dtype

    def __call__(self, *args: Any) -> Any:
        if self.build is None:
            raise pickle.UnpicklingError("a storage class cannot be called")
        return self.build(*args)

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("the checkpoint tries to change a name")


def _tensor(storage: Any, offset: Any, shape: Any, stride: Any, *_: Any) -> TensorRef:
    """``torch._utils._rebuild_tensor_v2``, as data."""
    numbers = [offset, *shape, *stride]
    if not isinstance(storage, StorageRef) or len(shape) != len(stride):
        raise pickle.UnpicklingError("a tensor without a storage")
    if not all(isinstance(number, int) and number >= 0 for number in numbers):
        raise pickle.UnpicklingError("a tensor with a negative or fractional size")
    return TensorRef(storage, offset, tuple(shape), tuple(stride))


def _parameter(data: Any, *_: Any) -> Any:
    """``torch._utils._rebuild_parameter``, as data: the tensor alone."""
    return data


def _ordered(*pairs: Any) -> "OrderedDict[Any, Any]":
    """``collections.OrderedDict``, as data."""
    return OrderedDict(*pairs)


def _size(items: Any = ()) -> tuple[Any, ...]:
    """``torch.Size``, as a tuple."""
    return tuple(items)


STORAGES = {
    "FloatStorage": torch.float32,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "DoubleStorage": torch.float64,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ShortStorage": torch.int16,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
}

GLOBALS: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): _Entry(build=_ordered),
    ("argparse", "Namespace"): Settings,
    ("torch._utils", "_rebuild_tensor"): _Entry(build=_tensor),
    ("torch._utils", "_rebuild_tensor_v2"): _Entry(build=_tensor),
    ("torch._utils", "_rebuild_parameter"): _Entry(build=_parameter),
    ("torch", "Size"): _Entry(build=_size),
    **{("torch", name): _Entry(dtype=dtype) for name, dtype in STORAGES.items()},
    **{("torch", str(dtype).removeprefix("torch.")): dtype for dtype in STORAGES.values()},
}
"""All that a checkpoint may name, and what it becomes. Nothing outside this table can be reached."""


class _Reader(pickle.Unpickler):
    """The standard library's machine, with its only two doors to the outside walled up."""

    def __init__(self, file: io.BufferedIOBase) -> None:
        super().__init__(file, encoding="utf-8")
        self.storages: dict[str, StorageRef] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Look a name up in ``GLOBALS``, never in a module."""
        if (module, name) not in GLOBALS:
            raise ModelError(
                f"the checkpoint asks for {module}.{name}, which no model needs; nothing was run",
                hint="if you trust it, load it where it was made and save its 'model' and 'args' or 'cfg'",
            )
        return GLOBALS[module, name]

    def persistent_load(self, pid: Any) -> StorageRef:
        """Note a storage, without reading it."""
        kind, entry, key, _location, length, *view = pid
        if kind != "storage" or not isinstance(entry, _Entry) or entry.dtype is None or any(view):
            raise pickle.UnpicklingError("a storage of an unknown kind")
        if not isinstance(key, str) or not isinstance(length, int) or length < 0:
            raise pickle.UnpicklingError("a storage without a name or a length")
        return self.storages.setdefault(key, StorageRef(key, entry.dtype, length))


class Checkpoint:
    """What a checkpoint says, with its tensors still in the file."""

    def __init__(self, path: Path, data: Any, block: Callable[[StorageRef], bytes]) -> None:
        self.path = path
        self.data = data
        self._block = block

    def tensor(self, ref: TensorRef) -> Tensor:
        """The numbers of one tensor, in memory of its own."""
        storage, offset, shape, stride = ref
        if 0 in shape:
            return torch.empty(shape, dtype=storage.dtype)
        last = offset + sum((n - 1) * step for n, step in zip(shape, stride, strict=True))
        # A stride of 0 could make a small file claim a tensor of any size.
        if last >= storage.length or math.prod(shape) > storage.length:
            raise ModelError(
                f"{self.path}: a tensor of shape {shape} reaches past its storage {storage.key}",
                hint="is the file complete?",
            )
        raw = self._block(storage)
        if len(raw) < storage.length * storage.dtype.itemsize:
            raise ModelError(f"{self.path}: storage {storage.key} is cut short", hint="is the file complete?")
        flat = torch.frombuffer(bytearray(raw), dtype=storage.dtype, count=storage.length)
        return flat.as_strided(shape, stride, offset).clone(memory_format=torch.contiguous_format)


def read_checkpoint(path: Path) -> Checkpoint:
    """Open a checkpoint of either layout."""
    if not path.is_file():
        raise ModelError(
            f"there is no checkpoint {path}",
            hint="name the file that fairseq saved, such as checkpoint_best.pt",
        )
    if sys.byteorder != "little":
        raise ModelError(
            "checkpoints can be read on little-endian machines only", hint="convert it on another machine"
        )
    try:
        return _read_zip(path) if zipfile.is_zipfile(path) else _read_stream(path)
    except ModelError as error:
        raise ModelError(f"{path}: {error.message}", hint=error.hint) from error
    except Exception as error:
        # A damaged or hostile pickle can fail anywhere in the machine, with any exception.
        raise ModelError(
            f"{path}: not a readable checkpoint ({type(error).__name__}: {error})",
            hint=WRITTEN,
        ) from error


def _read_zip(path: Path) -> Checkpoint:
    """The zip of torch 1.6 and later: NAME/data.pkl, and one entry NAME/data/KEY for each storage."""
    with zipfile.ZipFile(path) as archive:
        programs = [
            name for name in archive.namelist() if name.count("/") == 1 and name.endswith("/data.pkl")
        ]
        if len(programs) != 1:
            raise ModelError("the archive holds no checkpoint (no data.pkl)", hint=WRITTEN)
        folder = programs[0].removesuffix("data.pkl")
        # torch stores and never compresses; a compressed entry could unpack to any size.
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
            raise ModelError("the archive is compressed, which torch.save never does", hint=WRITTEN)
        if f"{folder}byteorder" in archive.namelist() and archive.read(f"{folder}byteorder") != b"little":
            raise ModelError(
                "the checkpoint was written on a big-endian machine",
                hint="load it with torch on a usual machine and save it again",
            )
        data = _Reader(io.BytesIO(archive.read(programs[0]))).load()

    def block(storage: StorageRef) -> bytes:
        try:
            with zipfile.ZipFile(path) as archive:
                return archive.read(f"{folder}data/{storage.key}")
        except Exception as error:
            # Bytes of an archive that are damaged can mean anything: cut short, encrypted, named in no alphabet.
            raise ModelError(
                f"{path}: storage {storage.key} cannot be read ({type(error).__name__}: {error})",
                hint=WRITTEN,
            ) from error

    return Checkpoint(path, data, block)


def _read_stream(path: Path) -> Checkpoint:
    """The stream of torch before 1.6: magic, protocol, system, object, keys (all pickles), then storages."""
    places: dict[str, tuple[int, int]] = {}
    with path.open("rb") as file:
        if _Reader(file).load() != LEGACY_MAGIC or _Reader(file).load() != LEGACY_PROTOCOL:
            raise ModelError("not a checkpoint of torch (its magic number is missing)", hint=WRITTEN)
        if not _Reader(file).load()["little_endian"]:
            raise ModelError(
                "the checkpoint was written on a big-endian machine",
                hint="load it with torch on a usual machine and save it again",
            )
        reader = _Reader(file)
        data = reader.load()
        for key in _Reader(file).load():
            # A storage is its number of elements in 8 bytes, then the elements.
            length = int.from_bytes(file.read(8), "little", signed=True)
            size = max(length, 0) * reader.storages[key].dtype.itemsize
            places[key] = (file.tell(), size)
            file.seek(size, 1)

    def block(storage: StorageRef) -> bytes:
        if storage.key not in places:
            raise ModelError(f"{path}: storage {storage.key} is not in the file", hint=WRITTEN)
        start, size = places[storage.key]
        with path.open("rb") as file:
            file.seek(start)
            return file.read(size)

    return Checkpoint(path, data, block)
