"""Corpora of the toy language of reproductions, and experiments with networks that train in seconds."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from levt.data.preparation import Preparation
from levt.data.prepare import prepare
from levt.data.read import corpora
from levt.policy.config import CONFIGS, RecurrentConfig
from levt.recipes.experiment import UNKNOWN, AnyConfig, Experiment
from levt.recipes.reproduce.parts.toy import sentence, target
from levt.text.tokenizer import Tokenizer
from levt.training.config import TrainingConfig

TINY: dict[str, Any] = {
    "source_vocabulary": UNKNOWN, "target_vocabulary": UNKNOWN, "width": 16, "hidden": 32, "heads": 2,
    "encoder_layers": 1, "decoder_layers": 1, "max_length": 64, "dropout": 0.1,
}  # fmt: skip


def toy_corpus(
    folder: Path,
    *,
    train: int = 90,
    draft: bool = False,
    separate: bool = False,
    tokenizer: Tokenizer | None = None,
    lines: list[str] | None = None,
) -> Path:
    """A prepared corpus: word for word into another language; drafts lack a word."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(0)
    files: dict[str, list[Path]] = {}
    for split, count in (("train", train), ("dev", 6), ("test", 4)):
        sources = lines if lines and split == "train" else [sentence(rng) for _ in range(count)]
        targets = [target(line, "translation") for line in sources]
        drafts = [" ".join(line.split(" ")[1:]) for line in targets]
        columns = (
            {"src": sources, "mt": drafts, "tgt": targets} if draft else {"src": sources, "tgt": targets}
        )
        files[split] = [folder / f"{split}.{end}" for end in columns]
        for path, texts in zip(files[split], columns.values(), strict=True):
            path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    splits = {name: corpora(paths, draft=draft) for name, paths in files.items()}
    settings = Preparation(vocabulary=310, separate=separate, max_length=64)
    prepare(folder / "corpus", splits, settings, tokenizer=tokenizer)
    return folder / "corpus"


def toy_model(kind: str, **fields: Any) -> AnyConfig:
    if kind == "recurrent":
        sizes = {
            k: TINY[k] for k in ("source_vocabulary", "target_vocabulary", "width", "max_length", "dropout")
        }
        return RecurrentConfig(**{**sizes, **fields})
    more = {"max_count": 20} if kind == "levt" else {}
    return CONFIGS[kind](**{**TINY, **more, **fields})


def toy_experiment(corpus: Path, out: Path, kind: str = "levt", **fields: Any) -> Experiment:
    """A run of a few steps."""
    training = TrainingConfig(
        tokens=256, max_steps=6, warmup=2, learning_rate=0.01, validate_every=3, save_every=3, log_every=1
    )
    training = replace(training, **fields.pop("training", {}))
    known = {"model": toy_model(kind), "training": training, "device": "cpu"}
    return Experiment(corpus=corpus, out=out, **{**known, **fields})
