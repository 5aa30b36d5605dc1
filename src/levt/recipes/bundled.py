"""levt-en-de, the English→German model that comes with the package: its teacher and itself.

    sh benchmarks/bundled_corpus.sh DATA corpora/bundled
    levt chain bundled-ar bundled-levt --corpus corpora/bundled --out runs/bundled --processes 4
        --distillation.batch-size 256 --distillation.shard 4096
    levt convert compact runs/bundled/student/best --out levt-en-de --dtype int4

The same recipes serve any other pair: `--corpus` is all that differs. Times are for one H200; on another machine give
other minutes (`--teacher.training.max-minutes`), or none and steps instead.
"""

from pathlib import Path
from typing import Any

from levt.imitation.drafts import Drafts
from levt.imitation.roll_in import RollIn
from levt.policy.config import AutoregressiveConfig, LevTConfig
from levt.recipes.experiment import Experiment
from levt.recipes.sizes import BASE
from levt.training.config import TrainingConfig

NAME = "levt-en-de"
CORPUS = Path("corpora/bundled")

DRAFTS = Drafts(noisy=0.08, unfinished=0.05, mismatched=0.05)
"""With a tenth of the corpus drafted by a phrase-based system, and a reference to be repaired for five targets of the
teacher, about two of five examples have a draft."""


def _training(minutes: float, learning_rate: float, **fields: Any) -> TrainingConfig:
    return TrainingConfig(
        tokens=32_768, learning_rate=learning_rate, warmup=1_000, schedule="cosine", max_steps=1_000_000,
        max_minutes=minutes, **fields,
    )  # fmt: skip


def bundled_ar() -> Experiment:
    """The teacher of levt-en-de: an autoregressive base model, 8 minutes on an H200.

    Pre-norm, because it bears a high learning rate from early on. The corpus (`benchmarks/bundled_corpus.sh`
    makes it): Europarl, Tatoeba and Multi30k, a tenth with drafts by a phrase-based system, which the teacher ignores.
    """
    return Experiment(
        corpus=CORPUS,
        out=Path("runs/bundled-ar"),
        model=AutoregressiveConfig(**BASE, dropout=0.2, norm="pre", max_length=256),
        training=_training(8.0, 1e-3, ema=0.999, validate_every=2_000, save_every=4_000, keep=1),
        dev_limit=1_500,
        name=f"{NAME}-teacher",
    )


def bundled_levt() -> Experiment:
    """levt-en-de: a base LevT that begins as its teacher and also learns to repair drafts, 17 minutes on an H200.

    `benchmarks/bundled_corpus.sh` makes its corpus; `levt chain` has the teacher rewrite the targets first. With 12,000
    pieces 50.5 million parameters: 31.9 MB in four bits, the most that fits into 32.
    """
    return Experiment(
        corpus=CORPUS,
        times=5,
        repair=(CORPUS,),
        out=Path("runs/bundled-levt"),
        model=LevTConfig(**BASE, dropout=0.1, norm="pre", max_length=256),
        roll_in=RollIn(drafts=DRAFTS),
        training=_training(17.0, 7e-4, ema=0.9995, validate_every=2_500, save_every=5_000, keep=1),
        dev_limit=1_500,
        name=NAME,
    )
