"""The toy translator of the examples: trained when it is not there yet, in a minute or two on one core."""

import dataclasses
from pathlib import Path

import torch
from toy_pair import student, write

import levt
from levt.data.preparation import Preparation
from levt.data.prepare import prepare
from levt.data.read import corpora
from levt.recipes.experiment import finished, run


def toy_model(
    folder: Path, *, steps: int | None = None, sentences: int = 4_000, unseen: int = 100
) -> levt.Model:
    """The model in ``folder/student/best``, with its texts in ``folder/text``."""
    torch.set_num_threads(1)
    text = folder / "text"
    if not (folder / "corpus").exists():
        write(text, train=sentences)
        splits = {
            split: corpora([text / f"{split}.en", text / f"{split}.de"]) for split in ("train", "dev", "test")
        }
        prepare(folder / "corpus", splits, Preparation(vocabulary=500))
    recipe = student()
    training = recipe.training if steps is None else dataclasses.replace(recipe.training, max_steps=steps)
    experiment = dataclasses.replace(
        recipe,
        corpus=folder / "corpus",
        out=folder / "student",
        device="cpu",
        training=training,
        dev_limit=unseen,
    )
    if not finished(experiment):
        run(experiment)
    return levt.load(folder / "student" / "best", device="cpu")
