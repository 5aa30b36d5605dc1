"""Quick recipes: corpora that anybody can have, networks that train in minutes to an hour on one GPU.

Corpora are arguments (``--corpus``); where they lie by default is said with the command that makes them.
A student is the same recipe with a distilled corpus, or `levt chain TEACHER STUDENT`.
"""

from pathlib import Path
from typing import Any

from levt.policy.config import AutoregressiveConfig, LevTConfig, PostEditingConfig
from levt.recipes.experiment import AnyConfig, Experiment
from levt.recipes.sizes import BASE, SMALL
from levt.training.config import TrainingConfig

SEPARATE: dict[str, Any] = {"joint_embeddings": False}


def _experiment(
    name: str, kind: str, model: AnyConfig, training: TrainingConfig, **fields: Any
) -> Experiment:
    return Experiment(
        corpus=Path("corpora") / name, out=Path("runs") / f"{name}-{kind}", model=model, training=training, **fields
    )  # fmt: skip


def _teacher(steps: int, tokens: int = 16_384) -> TrainingConfig:
    return TrainingConfig(
        tokens=tokens, learning_rate=1e-3, warmup=1_000, schedule="cosine", max_steps=steps, ema=0.999
    )


def _levt(steps: int, tokens: int = 16_384) -> TrainingConfig:
    return TrainingConfig(
        tokens=tokens, learning_rate=7e-4, warmup=2_000, schedule="cosine", max_steps=steps, ema=0.9995
    )


def en_de_ar() -> Experiment:
    """The autoregressive teacher for English→German: parliament and everyday sentences, 564,000 pairs.

    levt prepare --train europarl/train.en europarl/train.de tatoeba/train.en tatoeba/train.de
        --dev europarl/dev.en europarl/dev.de --test europarl/test.en europarl/test.de
        --vocabulary 32000 --max-length 256 --drop-overlap --out corpora/en-de
    """
    return _experiment(
        "en-de", "ar", AutoregressiveConfig(**BASE, dropout=0.1), _teacher(20_000, tokens=32_768)
    )


def en_de_levt() -> Experiment:
    """LevT for English→German; the corpus as for en-de-ar."""
    return _experiment("en-de", "levt", LevTConfig(**BASE, dropout=0.1), _levt(40_000, tokens=32_768))


def ro_en_ar() -> Experiment:
    """The autoregressive teacher for Romanian→English: software, everyday sentences, news; 158,000 pairs.

    levt prepare --train software/train.ro software/train.en tatoeba/train.ro tatoeba/train.en
        sts/train.ro sts/train.en --dev sts/dev.ro sts/dev.en --test sts/test.ro sts/test.en
        --vocabulary 16000 --max-length 256 --drop-overlap --out corpora/ro-en
    """
    return _experiment("ro-en", "ar", AutoregressiveConfig(**SMALL, dropout=0.2), _teacher(8_000))


def ro_en_levt() -> Experiment:
    """LevT for Romanian→English; the corpus as for ro-en-ar."""
    return _experiment("ro-en", "levt", LevTConfig(**SMALL, dropout=0.2), _levt(20_000))


def en_ja_ar() -> Experiment:
    """The autoregressive teacher for English→Japanese: software and everyday sentences, 185,000 pairs.

    levt prepare --train software/train.en software/train.ja tatoeba/train.en tatoeba/train.ja
        --dev software/dev.en software/dev.ja --test software/test.en software/test.ja
        --separate --vocabulary 12000 --max-length 256 --drop-overlap --out corpora/en-ja
    """
    return _experiment(
        "en-ja",
        "ar",
        AutoregressiveConfig(**SMALL, **SEPARATE, dropout=0.2),
        _teacher(8_000),
        tokenize="char",
    )


def en_ja_levt() -> Experiment:
    """LevT for English→Japanese; the corpus as for en-ja-ar."""
    return _experiment(
        "en-ja", "levt", LevTConfig(**SMALL, **SEPARATE, dropout=0.2), _levt(20_000), tokenize="char"
    )


def synopsis_ar() -> Experiment:
    """The autoregressive teacher for one-line summaries of software packages, 32,600 pairs.

    levt prepare --train train.description train.synopsis --dev dev.description dev.synopsis
        --test test.description test.synopsis --vocabulary 8000 --max-length 256 --out corpora/synopsis
    """
    return _experiment(
        "synopsis", "ar", AutoregressiveConfig(**SMALL, dropout=0.3), _teacher(4_000), metric="rouge-2"
    )


def synopsis_levt() -> Experiment:
    """LevT for one-line summaries; the corpus as for synopsis-ar."""
    return _experiment("synopsis", "levt", LevTConfig(**SMALL, dropout=0.3), _levt(10_000), metric="rouge-2")


def ape_it_levt() -> Experiment:
    """LevT for post-editing: information technology English→German, 24,200 triples with human edits.

    levt prepare --draft --train train.src train.mt train.pe --dev dev.src dev.mt dev.pe
        --test test.src test.mt test.pe --vocabulary 8000 --max-length 256 --out corpora/ape-it
    """
    return _experiment("ape-it", "levt", LevTConfig(**SMALL, dropout=0.3), _levt(10_000), metric="ter")


def ape_it_post_editor() -> Experiment:
    """The paper's baseline for post-editing, which reads source and draft together; the corpus as for ape-it-levt."""
    return _experiment(
        "ape-it", "post-editor", PostEditingConfig(**SMALL, dropout=0.3), _teacher(4_000), metric="ter"
    )
