"""Multi30k English→German: image captions, the quick benchmark. Small models, minutes on one GPU."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from levt.imitation.roll_in import RollIn
from levt.policy.config import AutoregressiveConfig, LevTConfig
from levt.recipes.experiment import Experiment
from levt.recipes.sizes import SMALL
from levt.training.config import TrainingConfig

CAPTIONS: dict[str, Any] = {**SMALL, "max_length": 256}
"""A caption is short."""


def multi30k_ar() -> Experiment:
    """The autoregressive teacher on Multi30k."""
    return Experiment(
        corpus=Path("corpora/multi30k"),
        out=Path("runs/multi30k-ar"),
        model=AutoregressiveConfig(**CAPTIONS, dropout=0.3),
        training=TrainingConfig(
            tokens=12_288, learning_rate=1e-3, warmup=300, schedule="cosine", max_steps=4_000, ema=0.998,
            validate_every=500, save_every=500,
        ),
    )  # fmt: skip


def multi30k_levt() -> Experiment:
    """LevT on Multi30k, from the references (oracle)."""
    return Experiment(
        corpus=Path("corpora/multi30k"),
        out=Path("runs/multi30k-levt"),
        model=LevTConfig(**CAPTIONS, dropout=0.3),
        roll_in=RollIn(),
        training=TrainingConfig(
            tokens=12_288, learning_rate=1e-3, warmup=500, schedule="cosine", max_steps=8_000, ema=0.999,
            validate_every=1_000, save_every=1_000,
        ),
    )  # fmt: skip


def multi30k_levt_distilled() -> Experiment:
    """LevT on Multi30k, from what a teacher wrote; that is easier, so less is dropped."""
    plain = multi30k_levt()
    return replace(
        plain,
        corpus=Path("corpora/multi30k-distilled"),
        out=Path("runs/multi30k-levt-distilled"),
        model=replace(plain.model, dropout=0.2),
        training=replace(plain.training, max_steps=9_000),
    )
