"""Tiny model folders to save, change and spoil."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from levt.errors import ModelError
from levt.policy.build import build
from levt.policy.card import Card
from levt.policy.config import CONFIGS, ModelConfig
from levt.policy.folder import Tokenizers, load_folder, save_folder
from levt.policy.weights import sha256
from levt.text.tokenizer import Tokenizer

JOINT = Tokenizers.joint(Tokenizer.from_pieces(list("abcdefghij")))
SEPARATE = Tokenizers(Tokenizer.from_pieces(list("uvwxyz")), Tokenizer.from_pieces(list("abcdefghij")))
SMALL: dict[str, Any] = {"width": 8, "max_length": 20}
TRANSFORMER: dict[str, Any] = {"hidden": 12, "heads": 2, "encoder_layers": 1, "decoder_layers": 2}


def config_of(kind: str, tokenizers: Tokenizers = JOINT, **more: Any) -> ModelConfig:
    sizes = {"source_vocabulary": tokenizers.source.size, "target_vocabulary": tokenizers.target.size}
    shape = SMALL if kind == "recurrent" else SMALL | TRANSFORMER
    short = {"max_count": 5} if kind == "levt" else {}
    return CONFIGS[kind](**sizes, **shape, **short, joint_embeddings=not tokenizers.separate, **more)


def saved(folder: Path, kind: str = "levt", tokenizers: Tokenizers = JOINT, seed: int = 0, **how: Any) -> Any:
    torch.manual_seed(seed)
    model = build(config_of(kind, tokenizers))
    save_folder(folder, model, tokenizers, Card(name="tiny"), **how)
    return model


def problems_of(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        load_folder(folder)
    return str(caught.value)


def rewrite(folder: Path, name: str, data: bytes) -> None:
    """Change a file and its record, so that only what it means is wrong."""
    (folder / name).write_bytes(data)
    edit(folder, lambda c: c["files"].update({name: {"bytes": len(data), "sha256": sha256(folder / name)}}))


def edit(folder: Path, change: Callable[[Any], Any]) -> None:
    saved_config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    change(saved_config)
    (folder / "config.json").write_text(json.dumps(saved_config), encoding="utf-8")


def edit_tensors(folder: Path, change: Callable[[dict[str, Tensor]], Any]) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "other")
    data = (folder / "other").read_bytes()
    (folder / "other").unlink()
    rewrite(folder, "model.safetensors", data)
