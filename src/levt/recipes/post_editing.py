"""Post-editing in three more ways than from the triples alone: with synthetic triples, and from a translation model.

The systems of the paper's table on real triples, as recipes (``levt reproduce post-editing`` runs them all):

    do nothing      needs no recipe
    Transformer     ape-it-post-editor
    scratch         ape-it-levt, with synthetic triples ape-it-mixed
    zero-shot       ape-it-translation, then ``levt refine --model runs/ape-it-translation/best --draft …``
    fine-tuned      ape-it-fine-tuned

Triples come with their words apart; raw text is brought into that form by ``levt synthesize words``.
"""

from pathlib import Path

from levt.imitation.roll_in import RollIn
from levt.policy.config import LevTConfig
from levt.recipes.experiment import Experiment
from levt.recipes.sizes import SMALL
from levt.training.config import TrainingConfig

ROLL_IN = RollIn(alpha=0.5, beta=0.5)
"""Half of the states that deletion and insertion learn from are drafts."""


def ape_it_translation() -> Experiment:
    """LevT that translates what ape-it-levt post-edits: for zero-shot post-editing, and to be fine-tuned.

    Translation data with words apart (levt synthesize words), and the sources and post-edits of the triples:
    levt prepare --train pairs.en pairs.de train.src train.pe --dev dev.en dev.de --test test.en test.de
        --vocabulary 16000 --max-length 256 --drop-overlap --out corpora/ape-it-pairs
    """
    return Experiment(
        corpus=Path("corpora/ape-it-pairs"),
        out=Path("runs/ape-it-translation"),
        model=LevTConfig(**SMALL, dropout=0.1),
        training=TrainingConfig(
            tokens=16_384, learning_rate=7e-4, warmup=2_000, schedule="cosine", max_steps=20_000, ema=0.9995
        ),
        tokenize="none",
    )


def ape_it_mixed() -> Experiment:
    """LevT for post-editing from real triples, ten times each, and synthetic ones, as the paper has it.

    Both with one vocabulary; the synthetic ones are written by `levt synthesize`:
    levt prepare --draft --train train.src train.mt train.pe --dev dev.src dev.mt dev.pe
        --test test.src test.mt test.pe --tokenizer corpora/ape-it-pairs/tokenizer.json
        --max-length 256 --out corpora/ape-it-triples
    Then the same with the synthetic files and --out corpora/ape-it-synthetic.
    """
    return Experiment(
        corpus=Path("corpora/ape-it-triples"),
        out=Path("runs/ape-it-mixed"),
        times=10,
        more=(Path("corpora/ape-it-synthetic"),),
        model=LevTConfig(**SMALL, dropout=0.3),
        roll_in=ROLL_IN,
        training=TrainingConfig(
            tokens=16_384, learning_rate=7e-4, warmup=2_000, schedule="cosine", max_steps=10_000, ema=0.9995
        ),
        metric="ter",
    )


def ape_it_fine_tuned() -> Experiment:
    """LevT for post-editing, trained further from ape-it-translation; the corpora as for ape-it-mixed."""
    return Experiment(
        corpus=Path("corpora/ape-it-triples"),
        out=Path("runs/ape-it-fine-tuned"),
        times=10,
        more=(Path("corpora/ape-it-synthetic"),),
        model=LevTConfig(**SMALL, dropout=0.3),
        init=Path("runs/ape-it-translation/best"),
        roll_in=ROLL_IN,
        training=TrainingConfig(
            tokens=16_384, learning_rate=3e-4, warmup=200, schedule="cosine", max_steps=4_000, ema=0.999,
            validate_every=500,
        ),
        metric="ter",
    )  # fmt: skip
