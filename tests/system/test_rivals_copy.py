"""MaskT, IT and the Insertion Transformer learn to copy on a CPU, from fresh data and a fresh seed, by command."""

import random
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

import levt
from levt.data.preparation import Preparation
from levt.data.prepare import prepare
from levt.data.read import corpora
from levt.text.tokenizer import Tokenizer

LETTERS = "abcdefgh"
RECIPE = """
from pathlib import Path

from levt.imitation.objective import ObjectiveConfig
from levt.policy.build import NETWORKS
from levt.recipes.experiment import UNKNOWN, Experiment
from levt.training.config import TrainingConfig


def copy_task() -> Experiment:
    return Experiment(
        corpus=Path({corpus!r}),
        out=Path({out!r}),
        model=next(c for c in NETWORKS if c.kind == {kind!r})(
            source_vocabulary=UNKNOWN, target_vocabulary=UNKNOWN, width=32, hidden=64, heads=2, encoder_layers=1,
            decoder_layers=2, max_length=32, dropout=0.0,
        ),
        objective=ObjectiveConfig(label_smoothing=0.0),
        training=TrainingConfig(
            tokens=512, max_steps={steps}, warmup=30, learning_rate=5e-3, schedule="cosine", validate_every=1_000,
            seed={seed},
        ),
        device="cpu",
    )
"""
FLOORS = {"masked": (500, 0.8), "denoising": (100, 0.9), "insertion": (500, 0.7)}
"""Steps, and the share of sentences that must be copied without a mistake."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", FLOORS)
def test_it_learns_to_copy(kind: str, tmp_path: Path) -> None:
    seed = secrets.randbelow(10**6)
    print(f"seed {seed}")
    rng = random.Random(seed)
    train, test = ([" ".join(rng.sample(LETTERS, rng.randint(1, 5))) for _ in range(n)] for n in (2000, 60))
    text = tmp_path / "train.txt"
    text.write_text("\n".join(train) + "\n", encoding="utf-8")
    corpus = tmp_path / "corpus"
    pieces = Tokenizer.from_pieces(list(LETTERS))
    prepare(
        corpus, {"train": corpora([text, text], draft=False)}, Preparation(max_length=32), tokenizer=pieces
    )
    steps, floor = FLOORS[kind]
    recipe, out = tmp_path / "recipe.py", tmp_path / "run"
    recipe.write_text(
        RECIPE.format(corpus=str(corpus), out=str(out), kind=kind, steps=steps, seed=seed),
        encoding="utf-8",
    )
    # A process of its own: there no shape is checked, and a step takes a fraction of the time.
    subprocess.run(
        [sys.executable, "-m", "levt", "train", f"{recipe}:copy_task"], check=True, capture_output=True
    )
    model = levt.load(out / "best", device="cpu")
    results = model.translate(test, **({"length_beam": 1} if kind == "masked" else {}))
    right = sum(result.text == line for result, line in zip(results, test, strict=True)) / len(test)
    print(f"{kind}: {right:.1%}")
    assert right >= floor
