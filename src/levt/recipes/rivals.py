"""The models that the paper compares itself with, on our blocks: MaskT, IT and the Insertion Transformer.

The quick corpora and the networks of the LevT recipes, so that only the model differs. As with LevT, a student is
the same recipe with a distilled corpus. The dev set is decoded with length beam 1, as the paper compares; MaskT's
own authors use 5: levt translate --length-beam 5.
"""

from pathlib import Path
from typing import Any

from levt.imitation.denoising_lessons import DenoisingTeaching
from levt.imitation.insertion_lessons import InsertionTeaching
from levt.imitation.masked_lessons import MaskedTeaching
from levt.policy.denoising import DenoisingConfig
from levt.policy.insertion import InsertionConfig
from levt.policy.masked import MaskedConfig
from levt.recipes.experiment import Experiment
from levt.recipes.sizes import BASE, SMALL
from levt.training.config import TrainingConfig


def _multi30k(kind: str, **fields: Any) -> Experiment:
    return Experiment(
        corpus=Path("corpora/multi30k"),
        out=Path(f"runs/multi30k-{kind}"),
        training=TrainingConfig(
            tokens=12_288, learning_rate=1e-3, warmup=500, schedule="cosine", max_steps=12_000, ema=0.999,
            validate_every=1_000, save_every=1_000,
        ),
        **fields,
    )  # fmt: skip


def _en_de(kind: str, **fields: Any) -> Experiment:
    return Experiment(
        corpus=Path("corpora/en-de"),
        out=Path(f"runs/en-de-{kind}"),
        training=TrainingConfig(
            tokens=32_768, learning_rate=7e-4, warmup=2_000, schedule="cosine", max_steps=40_000, ema=0.9995
        ),
        **fields,
    )


def multi30k_maskt() -> Experiment:
    """MaskT on Multi30k: masked tokens and a length, decoded by mask-predict."""
    return _multi30k("maskt", model=MaskedConfig(**SMALL, dropout=0.3), teaching=MaskedTeaching())


def multi30k_it() -> Experiment:
    """IT on Multi30k: a first translation, then refinement by denoising."""
    return _multi30k("it", model=DenoisingConfig(**SMALL, dropout=0.3), teaching=DenoisingTeaching())


def multi30k_insertion() -> Experiment:
    """The Insertion Transformer on Multi30k, with the loss of balanced trees."""
    return _multi30k("insertion", model=InsertionConfig(**SMALL, dropout=0.3), teaching=InsertionTeaching())


def en_de_maskt() -> Experiment:
    """MaskT for English→German; the corpus as for en-de-ar."""
    return _en_de("maskt", model=MaskedConfig(**BASE, dropout=0.1), teaching=MaskedTeaching())


def en_de_it() -> Experiment:
    """IT for English→German; the corpus as for en-de-ar."""
    return _en_de("it", model=DenoisingConfig(**BASE, dropout=0.1), teaching=DenoisingTeaching())


def en_de_insertion() -> Experiment:
    """The Insertion Transformer for English→German; the corpus as for en-de-ar."""
    return _en_de("insertion", model=InsertionConfig(**BASE, dropout=0.1), teaching=InsertionTeaching())
