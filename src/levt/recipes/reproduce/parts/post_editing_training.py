"""The step that trains a system of post-editing: ``OUT/model`` and ``OUT/log.jsonl``. Goes on after a kill.

What sets it apart from other trainings: triples may be mixed with others, weights may come from an earlier step, and
the checkpoint is chosen by TER.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from levt.imitation.objective import ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.recipes.experiment import Experiment
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.post_editing_task import Try
from levt.recipes.reproduce.parts.prepare import CORPUS
from levt.recipes.reproduce.parts.sizes import size
from levt.recipes.reproduce.parts.training import LOG, MODEL, RUN, network, seconds_of, train_to_end
from levt.recipes.shards import write_whole
from levt.refine.options import Options
from levt.training.config import TrainingConfig

FEW: dict[str, Any] = {"max_steps": 4, "validate_every": 4, "save_every": 4}
"""There are many trainings, and a toy has nothing to show but that they run."""
LENGTHS: dict[str, dict[str, Any]] = {
    # The translation model of a language has more to learn than any other, and fine-tuning waits for it.
    "translation": {"max_steps": 9_000, "validate_every": 3_000, "save_every": 3_000},
    "box": {"learning_rate": 3e-3, "max_steps": 3_000, "validate_every": 1_500, "save_every": 1_500},  # imperfect
    "synthetic": {"max_steps": 7_000, "validate_every": 1_750, "save_every": 3_500},
    # Few triples are soon learnt by heart, so the dev set is asked more often.
    "real": {"max_steps": 5_000, "validate_every": 1_000, "save_every": 2_500},
    "fine-tuned": {
        "learning_rate": 3e-4, "warmup": 200, "max_steps": 3_500, "validate_every": 700, "save_every": 1_750,
    },
}  # fmt: skip
"""What differs at quick scale from other trainings, by what is trained."""
ONE_KERNEL: dict[str, Any] = {"precision": "fp32", "compile": False, "capture": False}
"""One kernel of an LSTM runs over all of a row: there is nothing to compile or capture."""
LEFT_TO_RIGHT = {"synthetic": 3_500, "real": 3_000}
"""Steps of the Transformer: from left to right every token of a text teaches at once."""
VALIDATION = {"quick": 6.0}
"""Seconds of a validation: refining the dev set, and its TER."""
CHOSEN = "chosen.json"


def system_step(
    label: str, setting: Setting, corpus: Step, kind: str, length: str, *, dropout: float, seed: int = 1,
    metric: str = "ter", way: Try | None = None, more: Sequence[Step] = (), times: int = 1, init: Step | None = None,
    separate: bool = False,
) -> Step:  # fmt: skip
    """Train a kind of model on a corpus, mixed with others, from random weights or those of a step."""
    chosen, way = size(setting.scale), way or Try()
    training = chosen.training(kind)
    if setting.scale == "toy":
        training |= FEW
    elif setting.scale == "quick":
        training |= LENGTHS[length]
        if kind == "post-editing":
            training["max_steps"] = LEFT_TO_RIGHT[length]
    if kind == "recurrent" and setting.scale != "toy":
        training |= ONE_KERNEL
    config: dict[str, Any] = {
        "kind": kind,
        "model": _fields(chosen.network(kind), kind, dropout)
        | ({"joint_embeddings": False} if separate else {}),
        "training": training,
        "roll_in": {"alpha": way.alpha, "beta": way.beta} if kind == "levt" else {},
        "own_deletions": way.own_deletions if kind == "levt" else 0.0,
        "metric": metric,
        "dev_limit": chosen.dev_limit,
        "times": times if more else 1,
        "seed": seed,
    }
    if setting.scale == "paper":
        config["reread"] = False
    inputs: dict[str, Step | None] = {"corpus": corpus, "init": init}
    inputs |= {f"more.{i}": step for i, step in enumerate(more)}
    weight = 1.4 if config["own_deletions"] else 1.0
    return Step(
        label=label + (f".{way.name}" if way.name else "") + (f".seed{seed}" if seed != 1 else ""),
        run=train_system,
        inputs={name: step for name, step in inputs.items() if step is not None},
        config=config,
        seconds=seconds_of(chosen, kind, training, weight)
        + VALIDATION.get(setting.scale, 0.0) * training["max_steps"] / training["validate_every"],
        resumes=True,
    )


def _fields(fields: Mapping[str, Any], kind: str, dropout: float) -> dict[str, Any]:
    if kind == "recurrent":
        return {"width": fields["width"], "max_length": fields["max_length"], "dropout": dropout}
    return {**fields, "dropout": dropout}


def train_system(job: Job) -> None:
    """Train by the settings of the step."""
    train_to_end(job, experiment_of(job))


def experiment_of(job: Job) -> Experiment:
    """The experiment that the settings of a step describe."""
    config, inputs = job.config, job.inputs
    kind: str = config["kind"]
    return Experiment(
        corpus=inputs["corpus"] / CORPUS,
        out=job.out / RUN,
        times=config["times"],
        more=tuple(path / CORPUS for name, path in sorted(inputs.items()) if name.startswith("more.")),
        model=network(kind, config["model"]),
        roll_in=RollIn(**config["roll_in"]),
        objective=ObjectiveConfig(own_deletions=config["own_deletions"]),
        training=TrainingConfig(**config["training"], seed=config["seed"]),
        metric=config["metric"],
        # Words are apart already, so BLEU counts them as they stand; TER does so anyway.
        tokenize="none" if config["metric"] == "bleu" else None,
        options=Options(reread=config.get("reread", True)),
        beam=1,
        dev_limit=config["dev_limit"],
        init=inputs["init"] / MODEL if "init" in inputs else None,
        name=job.label,
    )


def chosen_step(label: str, tried: Mapping[str, Step]) -> Step:
    """Of several trainings of one system, the one with the lowest TER on the dev set: ``OUT/model``."""
    return Step(label=f"{label}.chosen", run=choose, inputs=dict(tried), seconds=1.0, light=True)


def choose(job: Job) -> None:
    """Copy the best model, and write what each had."""
    scores = {name: best_score(folder) for name, folder in job.inputs.items()}
    best = min(scores, key=lambda name: (scores[name], name))
    shutil.copytree(job.inputs[best] / MODEL, job.out / MODEL)
    write_whole(job.out / CHOSEN, {"chosen": best, "dev TER": scores})


def best_score(folder: Path) -> float:
    """The lowest score that a training saw on the dev set."""
    lines = map(json.loads, (folder / LOG).read_text("utf-8").splitlines())
    return min(float(line["score"]) for line in lines if line["event"] == "validate")


def choice_of(folder: Path) -> dict[str, Any] | None:
    """What was tried for a system, and what became of it; None where there was one way only."""
    path = folder / CHOSEN
    if not path.is_file():
        return None
    known: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return known
