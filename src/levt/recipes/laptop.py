"""A pair of your own without a GPU: tens of thousands of short sentences, half an hour on two cores.

    levt chain laptop-ar laptop-levt --corpus corpora/mine --out runs/mine --processes 2

What counts on a CPU is the number of steps, so they are small: few layers, narrow, 512 tokens at a time; the norm
stands before the blocks because then the learning rate may be high. With steps as on a GPU the same minutes teach next
to nothing.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from levt.recipes.experiment import Experiment
from levt.recipes.multi30k import multi30k_ar, multi30k_levt_distilled

SIZE: dict[str, Any] = {
    "width": 128, "hidden": 512, "encoder_layers": 3, "decoder_layers": 3, "norm": "pre", "dropout": 0.1,
}  # fmt: skip
TRAINING: dict[str, Any] = {"tokens": 512, "learning_rate": 3e-3, "max_steps": 100_000}  # the minutes end it


def laptop_ar() -> Experiment:
    """The teacher for short sentences without a GPU: 10 minutes on two cores.

    levt prepare --train train.en train.de --dev dev.en dev.de --test test.en test.de --vocabulary 8000
        --max-length 128 --out corpora/mine
    """
    return _small(multi30k_ar(), minutes=10.0)


def laptop_levt() -> Experiment:
    """LevT for short sentences without a GPU, 12 minutes on two cores; the corpus as for laptop-ar.

    `levt chain laptop-ar laptop-levt` has the teacher write its targets first, and begin it.
    """
    return _small(multi30k_levt_distilled(), minutes=12.0)


def _small(experiment: Experiment, *, minutes: float) -> Experiment:
    name = "laptop-ar" if experiment.model.kind == "autoregressive" else "laptop-levt"
    return replace(
        experiment,
        corpus=Path("corpora/mine"),
        out=Path("runs") / name,
        model=replace(experiment.model, **SIZE),
        training=replace(experiment.training, **TRAINING, max_minutes=minutes),
    )
