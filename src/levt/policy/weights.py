"""The weights of a network in a safetensors file: tied tensors once, each mismatch named. Knows no folder."""

import hashlib
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
"""What weights may be stored as."""
CODES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
"""How safetensors calls them."""


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


def write_weights(path: Path, model: nn.Module, dtype: str) -> None:
    """Write the tensors of a network."""
    tensors = {
        name: tensor.to("cpu", DTYPES[dtype]).contiguous() for name, tensor in stored_tensors(model).items()
    }
    save_file(tensors, path, metadata={"format": "pt"})


def read_weights(path: Path, model: nn.Module, dtype: str) -> list[str]:
    """Fill a network in place, in its own precision; or leave it as it is and say what is wrong."""
    wanted = stored_tensors(model)
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            there = set(file.keys())
            problems = [f"the tensor {name} is missing" for name in wanted if name not in there]
            problems += [
                f"the tensor {name} is not part of the model" for name in sorted(there - set(wanted))
            ]
            for name in wanted:
                if name in there:
                    piece = file.get_slice(name)
                    shape, code = tuple(piece.get_shape()), piece.get_dtype()
                    if shape != tuple(wanted[name].shape):
                        problems.append(
                            f"the tensor {name} must have the shape {tuple(wanted[name].shape)}, has {shape}"
                        )
                    if CODES.get(code) != dtype:
                        problems.append(f"the tensor {name} must be {dtype}, is {CODES.get(code, code)}")
            if not problems:
                with torch.no_grad():
                    for name, tensor in wanted.items():
                        tensor.copy_(file.get_tensor(name))
            return problems
    except (SafetensorError, OSError, ValueError) as error:
        return [f"not a readable safetensors file ({error})"]


def sha256(path: Path) -> str:
    """Checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
