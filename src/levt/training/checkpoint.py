"""Checkpoints: everything a run needs to go on as if it had never stopped. Safetensors and JSON, never a pickle.

    RUN/checkpoints/step-00001000/state.json            where the run stands
    RUN/checkpoints/step-00001000/weights.safetensors   master weights, optimiser, moving average

Nothing else has a state: batches, lessons and what is random in a step are pure functions of their number.
"""

import json
import shutil
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from levt.errors import ModelError
from levt.policy.atomic import whole_folder
from levt.training.feed import Position

VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where a run stands."""

    step: int = 0
    """Steps done."""
    position: Position = field(default_factory=Position)
    """The next batch."""
    seconds: float = 0.0
    """Time spent so far, in all sittings."""
    best: float | None = None
    """Best validation score."""
    best_step: int = 0
    """Step of the best score."""
    stale: int = 0
    """Validations since then."""


def write_checkpoint(
    folder: Path, standing: Standing, state: dict[str, Tensor], identity: dict[str, Any]
) -> None:
    """Write a checkpoint whole or not at all; ``identity`` says which run it belongs to."""
    with whole_folder(folder) as temporary:
        save_file(
            {name: tensor.cpu().contiguous() for name, tensor in state.items()},
            temporary / "weights.safetensors",
        )
        record = {"version": VERSION, "standing": asdict(standing), "identity": identity}
        (temporary / "state.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def read_checkpoint(folder: Path, identity: dict[str, Any]) -> tuple[Standing, dict[str, Tensor]]:
    """Read a checkpoint; one of a run with other settings is refused."""
    try:
        record = json.loads((folder / "state.json").read_text("utf-8"))
        if record["version"] != VERSION:
            raise ModelError(f"{folder} is a checkpoint of version {record['version']}, not {VERSION}")
        found = record["standing"]
        if set(found) != {f.name for f in fields(Standing)}:
            raise KeyError(*(set(found) ^ {f.name for f in fields(Standing)}))
        standing = Standing(**{**found, "position": Position(**found["position"])})
        known = dict(record["identity"])
        state = load_file(folder / "weights.safetensors")
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise ModelError(
            f"the checkpoint {folder} is damaged: {type(error).__name__} {error}",
            hint="remove this folder; training resumes from the checkpoint before it",
        ) from error
    other = sorted(k for k in identity.keys() | known.keys() if identity.get(k) != known.get(k))
    if other:
        was = ", ".join(f"{k} was {known.get(k)!r} and is {identity.get(k)!r}" for k in other)
        raise ModelError(
            f"{folder} belongs to a run with other settings: {was}",
            hint="use another --out folder, or the settings of that run",
        )
    return standing, state


def checkpoints(run: Path) -> list[Path]:
    """The checkpoints of a run, oldest first."""
    return sorted(p for p in (run / "checkpoints").glob("step-*") if (p / "state.json").is_file())


def checkpoint_path(run: Path, step: int) -> Path:
    """Where the checkpoint of a step lies."""
    return run / "checkpoints" / f"step-{step:08d}"


def prune(run: Path, keep: int) -> None:
    """Remove all but the last ``keep`` checkpoints, and what a killed run has left half-written."""
    for old in [*checkpoints(run)[:-keep], *(run / "checkpoints").glob(".step-*")]:
        shutil.rmtree(old)


def average_masters(folders: list[Path]) -> Tensor:
    """The mean of the master weights of several checkpoints."""
    total = torch.zeros(())
    for folder in folders:
        total = total + load_file(folder / "weights.safetensors")["master"]
    return total / len(folders)
