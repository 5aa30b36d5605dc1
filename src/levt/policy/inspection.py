"""What a model folder holds: settings, sizes, checksums, and whether all is well. Knows not how to print."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import nn

from levt.policy.folder import damaged_files, open_folder, read_folder
from levt.policy.weights import stored_tensors


@dataclass(frozen=True, kw_only=True)
class FileReport:
    """One file of the folder."""

    bytes: int
    """Size that it must have."""
    sha256: str
    """Checksum that it must have."""
    problem: str | None
    """What is wrong with it."""


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """Everything there is to know about a folder without running the model."""

    folder: str
    levt: str
    """Version that wrote it."""
    dtype: str
    """Precision of the stored weights."""
    model: Mapping[str, Any]
    """Kind and settings of the network."""
    vocabulary: Mapping[str, int]
    """Pieces by tokenizer."""
    parameters: Mapping[str, int]
    """Parameters by part; tied ones are counted once."""
    files: Mapping[str, FileReport]
    training: Mapping[str, Any] | None
    problems: list[str]
    """All that would keep it from loading."""

    @property
    def total(self) -> int:
        """Number of parameters."""
        return sum(self.parameters.values())

    def to_json(self) -> dict[str, Any]:
        """All of it, as JSON values."""
        return {**asdict(self), "total": self.total}


def inspect_folder(folder: Path) -> Inspection:
    """Read a folder as far as it can be read, and verify it."""
    config = open_folder(folder)
    damaged = damaged_files(folder, config)
    model, tokenizers, problems = read_folder(folder, config, damaged)
    sizes = {} if tokenizers is None else {"target": tokenizers.target.size, "source": tokenizers.source.size}
    if tokenizers is not None and not config.separate_tokenizers:
        sizes = {"joint": tokenizers.target.size}
    return Inspection(
        folder=str(folder),
        levt=config.levt,
        dtype=config.dtype,
        model=config.model.to_json(),
        vocabulary=sizes,
        parameters=parameters_by_part(model),
        files={
            name: FileReport(bytes=record.bytes, sha256=record.sha256, problem=damaged.get(name))
            for name, record in config.files.items()
        },
        training=config.training,
        problems=problems,
    )


def parameters_by_part(model: nn.Module) -> dict[str, int]:
    """Numbers of parameters by the first part of their names; decoder towers one by one.

    >>> parameters_by_part(nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3)))
    {'0': 9, '1': 6}
    """
    found: dict[str, int] = {}
    for name, tensor in stored_tensors(model).items():
        parts = name.split(".")
        part = ".".join(parts[: 2 if parts[0] == "decoders" else 1])
        found[part] = found.get(part, 0) + tensor.numel()
    return found
