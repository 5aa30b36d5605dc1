"""The weights of a network in a safetensors file: tied tensors once, each mismatch named. Knows no folder.

Stored as int8, a matrix W is a matrix of bytes Q and a column of scales s, one for each row: W = s · Q, with
s = max |row| / 127. Whatever is no matrix is small, and stays in float32. Computing is in the network's own precision.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
"""What weights may be stored as, beside int8."""
CODES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "I8": "int8"}
"""How safetensors calls them."""
INT8, SCALE = "int8", ".scale"
"""The name of the compact way, and what is added to a matrix's name for its scales."""


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

    >>> packed({"w": torch.tensor([[0.5, -1.27]]), "b": torch.zeros(2)}, "int8")["w"].tolist()
    [[50, -127]]
    """
    if dtype != INT8:
        return {name: tensor.to("cpu", DTYPES[dtype]).contiguous() for name, tensor in tensors.items()}
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        whole = tensor.to("cpu", torch.float32).contiguous()
        if is_matrix(whole):
            scale = whole.abs().amax(1) / 127
            # A row of zeros has no scale; any will do.
            safe = torch.where(scale > 0, scale, 1.0)
            found[name] = (whole / safe.unsqueeze(1)).round().clamp(-127, 127).to(torch.int8)
            found[name + SCALE] = safe
        else:
            found[name] = whole
    return found


def layout(tensors: Mapping[str, Tensor], dtype: str) -> dict[str, tuple[str, tuple[int, ...]]]:
    """What must be in a file for these tensors: type and shape by name."""
    if dtype != INT8:
        return {name: (dtype, tuple(tensor.shape)) for name, tensor in tensors.items()}
    found: dict[str, tuple[str, tuple[int, ...]]] = {}
    for name, tensor in tensors.items():
        found[name] = (INT8 if is_matrix(tensor) else "float32", tuple(tensor.shape))
        if is_matrix(tensor):
            found[name + SCALE] = ("float32", (tensor.shape[0],))
    return found


def is_matrix(tensor: Tensor) -> bool:
    """Whether a tensor is worth a scale for each row."""
    return tensor.dim() == 2 and tensor.numel() > 0


def write_weights(path: Path, model: nn.Module, dtype: str) -> None:
    """Write the tensors of a network."""
    save_file(packed(stored_tensors(model), dtype), path, metadata={"format": "pt"})


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
                        tensor.copy_(file.get_tensor(name))
                        if name + SCALE in wanted:
                            tensor.mul_(file.get_tensor(name + SCALE).to(tensor).unsqueeze(1))
            return problems
    except (SafetensorError, OSError, ValueError) as error:
        return [f"not a readable safetensors file ({error})"]


def sha256(path: Path) -> str:
    """Checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
