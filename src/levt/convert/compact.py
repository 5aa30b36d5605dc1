"""A model in less space: the same network with its weights stored in half precision, as bytes or as half bytes.

Stored is not computed: what is read is float32 again on a CPU, so a compact model runs on every engine. Knows no
other format.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch

from levt.errors import ModelError
from levt.policy.folder import load_folder, save_folder
from levt.policy.folder_config import CARD, CONFIG, StoredDtype
from levt.policy.weights import stored_tensors


@dataclass(frozen=True, kw_only=True)
class Compacted:
    """What came of it."""

    before: int
    """Bytes of the folder that was read."""
    after: int
    """Bytes of the folder that was written."""
    error: float
    """Largest relative error of a tensor: |W' − W| / |W|, as Frobenius norms."""


def compact(folder: Path, out: Path, dtype: StoredDtype = "int8", *, card: str | None = None) -> Compacted:
    """Write a copy of a model folder with weights stored as ``dtype``; the card is copied unless one is given."""
    found = load_folder(folder)
    if out.exists() and out.samefile(folder):
        raise ModelError(
            f"{out} is the model itself, whose weights would be lost",
            hint="choose another folder for the copy",
        )
    old_card, before = folder / CARD, _size(folder, found.config.files)
    text = card or (old_card.read_text("utf-8") if old_card.is_file() else "")
    save_folder(out, found.model, found.tokenizers, text, dtype=dtype, training=found.config.training)
    kept = load_folder(out)
    pairs = zip(stored_tensors(found.model).values(), stored_tensors(kept.model).values(), strict=True)
    errors = [float((b - a).norm() / a.norm().clamp(min=1e-12)) for a, b in pairs if a.is_floating_point()]
    return Compacted(
        before=before,
        after=_size(out, kept.config.files),
        error=float(torch.tensor(errors).max()) if errors else 0.0,
    )


def _size(folder: Path, files: Iterable[str]) -> int:
    names = [*files, CONFIG, CARD]
    return sum((folder / name).stat().st_size for name in names if (folder / name).is_file())
