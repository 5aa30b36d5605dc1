"""Tiny models with random weights and a real tokenizer, in memory or in a folder."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from levt.engine.batching import Budget
from levt.engine.model import Model
from levt.engine.torch_engine import TorchEngine
from levt.policy.build import build
from levt.policy.card import Card
from levt.policy.config import CONFIGS
from levt.policy.folder import Tokenizers, save_folder
from levt.text.tokenizer import Tokenizer

LINES = [
    "A dog runs over the snow.",
    "Two cats sleep on a warm stone, and one of them snores.",
    "Ein Hund läuft über den Schnee.",
    "Zwei Katzen schlafen auf einem warmen Stein.",
    "Is this (really) the 10th try?",
] * 4
TOKENIZERS = Tokenizers.joint(Tokenizer.train(LINES, 340))


def network(kind: str, seed: int = 0, **more: Any) -> nn.Module:
    torch.manual_seed(seed)
    size = TOKENIZERS.target.size
    shape: dict[str, Any] = {
        "source_vocabulary": size,
        "target_vocabulary": size,
        "width": 16,
        "max_length": 64,
    }
    if kind != "recurrent":
        shape |= {"hidden": 24, "heads": 2, "encoder_layers": 1, "decoder_layers": 2}
    if kind == "levt":
        shape |= {"max_count": 6}
    model: nn.Module = build(CONFIGS[kind](**{**shape, **more}))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.eval()


def tiny(kind: str = "levt", seed: int = 0, *, rows: int = 64, window: int = 1000, **more: Any) -> Model:
    return Model(TorchEngine(network(kind, seed, **more), TOKENIZERS), Budget(rows=rows, window=window))


def save_tiny(folder: Path, kind: str = "levt", seed: int = 0, **more: Any) -> Path:
    save_folder(folder, network(kind, seed, **more), TOKENIZERS, Card(name="tiny"))
    return folder
