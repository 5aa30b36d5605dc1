"""The weights of a network in a safetensors file: tied tensors once, each mismatch named. Knows no folder.

Stored as int8, every matrix is bytes with a scale for each row; as int4, matrices are half bytes (`few_bits`), save for
tables of tokens, of which each row stands for a word alone, and for rows that make no whole groups. Whatever is no
matrix is small, and stays in float32. Computing is in the network's own precision.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from levt.policy.few_bits import GROUP, from_bytes, from_halves, halves, to_bytes, to_halves

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
"""What weights may be stored as, beside int8 and int4."""
CODES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "I8": "int8", "U8": "uint8"}
"""How safetensors calls them."""
INT8, INT4, SCALE = "int8", "int4", ".scale"
"""The names of the compact ways, and what is added to a matrix's name for its scales."""
TABLE = "_tokens.weight"
"""How the name of a table of tokens ends."""


def stored_tensors(model: nn.Module) -> dict[str, Tensor]:
    """The tensors of a network by name, each once: of tied names the first.

    Tied means the same memory seen the same way, whether or not it is the same ``Parameter`` object.
    """
    found: dict[str, Tensor] = {}
    seen = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        place = (tensor.device, tensor.data_ptr(), tensor.shape, tensor.stride())
        # Tensors without elements, and those of the meta device, have no address to tell them apart.
        key = place if tensor.data_ptr() else id(tensor)
        if key not in seen:
            seen.add(key)
            found[name] = tensor.detach()
    return found


def packed(tensors: Mapping[str, Tensor], dtype: str) -> dict[str, Tensor]:
    """Tensors as they are stored.

    >>> list(packed({"w": torch.ones(2, 32), "b": torch.zeros(2)}, "int4"))
    ['w', 'w.scale', 'b']
    """
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        bits = bits_of(name, tensor, dtype)
        whole = tensor.to("cpu", DTYPES.get(dtype, torch.float32)).contiguous()
        if bits is None:
            found[name] = whole
        else:
            found[name], found[name + SCALE] = to_bytes(whole) if bits == 8 else to_halves(whole)
    return found


def layout(tensors: Mapping[str, Tensor], dtype: str) -> dict[str, tuple[str, tuple[int, ...]]]:
    """What must be in a file for these tensors: type and shape by name."""
    found: dict[str, tuple[str, tuple[int, ...]]] = {}
    for name, tensor in tensors.items():
        bits, shape = bits_of(name, tensor, dtype), tuple(tensor.shape)
        if bits is None:
            found[name] = (dtype if dtype in DTYPES else "float32", shape)
        elif bits == 8:
            found[name], found[name + SCALE] = (INT8, shape), ("float32", shape[:1])
        else:
            found[name] = ("uint8", (shape[0], shape[1] // 2))
            found[name + SCALE] = ("float16", (shape[0], shape[1] // GROUP))
    return found


def bits_of(name: str, tensor: Tensor, dtype: str) -> int | None:
    """In how many bits a tensor is stored, 8 or 4; None: as it is."""
    if dtype in DTYPES or tensor.dim() != 2 or not tensor.numel():
        return None
    return 4 if dtype == INT4 and halves(tensor.shape[1]) and not name.endswith(TABLE) else 8


def write_weights(path: Path, model: nn.Module, dtype: str) -> None:
    """Write the tensors of a network."""
    write_tensors(path, packed(stored_tensors(model), dtype), {"format": "pt"})


def write_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write tensors by their names; trouble with the disk is an OSError, as of any other file."""
    try:
        save_file(tensors, path, metadata=metadata)
    except SafetensorError as error:
        found = re.search(r"\(os error (\d+)\)", str(error))
        if found is None:
            raise
        number = int(found[1])
        raise OSError(number, os.strerror(number), str(path)) from error


def read_weights(path: Path, model: nn.Module, dtype: str) -> list[str]:
    """Fill a network in place, in its own precision; or leave it as it is and say what is wrong."""
    tensors = stored_tensors(model)
    wanted = layout(tensors, dtype)
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            there = set(file.keys())
            problems = [f"the tensor {name} is missing" for name in wanted if name not in there]
            problems += [
                f"the tensor {name} is not part of the model" for name in sorted(there - set(wanted))
            ]
            for name, (kind, size) in wanted.items():
                if name in there:
                    piece = file.get_slice(name)
                    shape, code = tuple(piece.get_shape()), piece.get_dtype()
                    if shape != size:
                        problems.append(f"the tensor {name} must have the shape {size}, has {shape}")
                    if CODES.get(code) != kind:
                        problems.append(f"the tensor {name} must be {kind}, is {CODES.get(code, code)}")
            if not problems:
                with torch.no_grad():
                    for name, tensor in tensors.items():
                        stored = file.get_tensor(name)
                        if name + SCALE in wanted:
                            unpack = from_halves if wanted[name][0] == "uint8" else from_bytes
                            stored = unpack(stored, file.get_tensor(name + SCALE))
                        tensor.copy_(stored)
            return problems
    except (SafetensorError, OSError, ValueError) as error:
        return [f"not a readable safetensors file ({error})"]


def sha256(path: Path) -> str:
    """Checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
