"""LevT's rivals on our blocks: MaskT and IT, with which the paper compares itself, and the Insertion Transformer.

Corpora, sizes and training are those of the LevT recipes, so that only the model differs. As with LevT, a student is
the same recipe with a distilled corpus. The dev set is decoded with length beam 1, as the paper compares; `levt
translate` takes 5 unless told otherwise, as MaskT's own authors do.
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
from levt.recipes.paper import TRAINING
from levt.recipes.sizes import BASE, SMALL
from levt.training.config import TrainingConfig


def _multi30k(kind: str, **fields: Any) -> Experiment:
    return Experiment(
        corpus=Path("corpora/multi30k"),
        out=Path(f"runs/multi30k-{kind}"),
        training=TrainingConfig(
            tokens=12_288, learning_rate=1e-3, warmup=500, schedule="cosine", max_steps=9_000, ema=0.999,
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


def _wmt14_en_de(kind: str, **fields: Any) -> Experiment:
    return Experiment(
        corpus=Path("corpora/wmt14-en-de"),
        out=Path(f"runs/wmt14-en-de-{kind}"),
        training=TRAINING,
        dev_limit=3_000,
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


def wmt14_en_de_maskt() -> Experiment:
    """Table 2, WMT14 English→German: MaskT (26.56 BLEU distilled); the corpus as for wmt14-en-de-ar."""
    return _wmt14_en_de("maskt", model=MaskedConfig(**BASE), teaching=MaskedTeaching())


def wmt14_en_de_it() -> Experiment:
    """Table 2, WMT14 English→German: IT (21.61 BLEU distilled); the corpus as for wmt14-en-de-ar."""
    return _wmt14_en_de("it", model=DenoisingConfig(**BASE), teaching=DenoisingTeaching())


def wmt14_en_de_insertion() -> Experiment:
    """The Insertion Transformer for WMT14 English→German; the corpus as for wmt14-en-de-ar."""
    return _wmt14_en_de("insertion", model=InsertionConfig(**BASE), teaching=InsertionTeaching())
