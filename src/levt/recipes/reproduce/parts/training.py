"""The step that trains a model: ``OUT/model``, in half precision, and ``OUT/log.jsonl``. Goes on after a kill."""

import shutil
from collections.abc import Mapping
from typing import Any

from levt.data.folder import sync_one
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.policy.card import Card
from levt.policy.config import ModelConfig
from levt.policy.folder import load_folder, save_folder
from levt.policy.read_config import config_from_json
from levt.recipes.experiment import Experiment, as_json, finished, run
from levt.recipes.reproduce.framework.runner import StepStopped
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.framework.workplace import SETTINGS
from levt.recipes.reproduce.parts.prepare import CORPUS
from levt.recipes.reproduce.parts.sizes import Size, size
from levt.recipes.reproduce.parts.task import Task
from levt.recipes.shards import write_whole
from levt.recipes.sizes import OPEN
from levt.recipes.teaching import TEACHING
from levt.refine.options import Options
from levt.training.config import TrainingConfig

MODEL, LOG, RUN = "model", "log.jsonl", "run"


def train_step(
    task: Task, setting: Setting, corpus: Step, kind: str, *, label: str, seed: int = 1,
    model: Mapping[str, Any] | None = None, roll_in: Mapping[str, Any] | None = None,
    training: Mapping[str, Any] | None = None, init: Step | None = None,
) -> Step:  # fmt: skip
    """Train a kind of model on a corpus, with the scale's sizes and what is given; ``init`` has its first weights."""
    chosen = size(setting.scale)
    fields = {**chosen.network(kind), "dropout": task.dropout, "joint_embeddings": not task.separate}
    lasting = task.training(chosen, kind) | dict(training or {})
    config = {
        "kind": kind,
        "model": {**fields, **(model or {})},
        "training": lasting,
        "roll_in": dict(roll_in or {}),
        "metric": task.selection,
        "tokenize": task.selection_tokenize,
        "dev_limit": chosen.dev_limit,
        "seed": seed,
    }
    if setting.scale == "paper":
        config["reread"] = False
    name = f"{task.name}.{label}" + (f".seed{seed}" if seed != 1 else "")
    return Step(
        label=name, run=train, inputs={"corpus": corpus} | ({} if init is None else {"init": init}), config=config,
        resumes=True,
        seconds=seconds_of(chosen, kind, lasting, task.weight),
    )  # fmt: skip


def seconds_of(chosen: Size, kind: str, training: Mapping[str, Any], weight: float = 1.0) -> float:
    """How long a training takes, by what was measured on one H200, or on a core for the toy."""
    tokens = float(training["max_steps"] * training["tokens"] * training.get("accumulate", 1))
    return chosen.overhead + weight * tokens / chosen.rates.get(kind, chosen.rates["levt"])


def train(job: Job) -> None:
    """Train by the settings of the step."""
    train_to_end(job, experiment_of(job))


def train_to_end(job: Job, experiment: Experiment) -> None:
    """Train, keep the best model by the dev set, the log, and all settings; done once, whenever it is killed."""
    if not (job.out / SETTINGS).is_file():
        run(experiment)
        if not finished(experiment):
            raise StepStopped("it was stopped", hint="run the same command again to go on")
        keep(job, experiment)
    shutil.rmtree(experiment.out, ignore_errors=True)


def keep(job: Job, experiment: Experiment) -> None:
    """Keep what a training that has reached its end found; the settings last: where they are, all is there."""
    best = load_folder(experiment.out / "best")
    note = {"label": job.label, **dict(best.config.training or {})}
    save_folder(
        job.out / MODEL, best.model, best.tokenizers, Card(name=job.label), dtype="float16", training=note
    )
    shutil.copyfile(experiment.out / LOG, job.out / LOG)
    # Everything that was left as it is by default, too, but no path of this machine.
    places = ("corpus", "out", "init", "more", "device")
    settings = {k: v for k, v in as_json(experiment).items() if k not in places}
    sync_one(job.out / LOG)
    write_whole(job.out / SETTINGS, settings, indent=1)


def experiment_of(job: Job) -> Experiment:
    """The experiment that the settings of a step describe."""
    config = job.config
    kind: str = config["kind"]
    return Experiment(
        corpus=job.inputs["corpus"] / CORPUS,
        out=job.out / RUN,
        model=network(kind, config["model"]),
        roll_in=RollIn(**config["roll_in"]),
        objective=ObjectiveConfig(),
        teaching=TEACHING[kind][0]() if kind in TEACHING else None,
        training=TrainingConfig(**config["training"], seed=config["seed"]),
        metric=config["metric"],
        tokenize=config["tokenize"],
        options=Options(reread=config.get("reread", True)),
        dev_limit=config["dev_limit"],
        init=job.inputs["init"] / MODEL if "init" in job.inputs else None,
        name=job.label,
    )


def network(kind: str, fields: Mapping[str, Any]) -> ModelConfig:
    """A network by its kind and the fields that are not as they are by default."""
    return config_from_json({"kind": kind, **OPEN, **fields})
