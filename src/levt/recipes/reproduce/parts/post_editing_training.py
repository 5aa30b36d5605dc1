"""The step that trains a system of post-editing: ``OUT/model`` and ``OUT/log.jsonl``. Goes on after a kill.

What sets it apart from other trainings: triples may be mixed with others, weights may come from an earlier step, and
the checkpoint is chosen by TER.
"""

from collections.abc import Mapping
from typing import Any

from levt.imitation.roll_in import RollIn
from levt.recipes.experiment import Experiment
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.prepare import CORPUS
from levt.recipes.reproduce.parts.sizes import size
from levt.recipes.reproduce.parts.training import MODEL, RUN, network, seconds_of, train_to_end
from levt.training.config import TrainingConfig

FEW: dict[str, Any] = {"max_steps": 4, "validate_every": 4, "save_every": 4}
"""There are many trainings, and a toy has nothing to show but that they run."""
FINE_TUNING: dict[str, dict[str, Any]] = {
    "toy": FEW,
    "quick": {"learning_rate": 3e-4, "warmup": 200, "max_steps": 4_000, "validate_every": 1_000},
}
"""What differs from training from scratch, by scale."""
TRANSLATION: dict[str, dict[str, Any]] = {
    "toy": FEW,
    "quick": {"max_steps": 15_000, "validate_every": 2_500, "save_every": 2_500},
}
"""The translation model of a language has more to learn than any other."""
TRIPLES: dict[str, dict[str, Any]] = {"toy": FEW, "quick": {"validate_every": 1_000}}
"""Few triples are soon learnt by heart, so the dev set is asked more often."""
VALIDATION = {"quick": 6.0}
"""Seconds of a validation: refining the dev set, and its TER."""
ROLL_IN = {"alpha": 0.5, "beta": 0.5}
"""Which states are the draft: half of them, for deletion and for insertion."""


def system_step(
    label: str, setting: Setting, corpus: Step, kind: str, *, dropout: float, seed: int = 1, metric: str = "ter",
    more: Step | None = None, times: int = 1, init: Step | None = None,
) -> Step:  # fmt: skip
    """Train a kind of model on a corpus, mixed with another, from random weights or those of a step."""
    chosen = size(setting.scale)
    changes = (
        FINE_TUNING if init is not None else TRANSLATION if metric == "bleu" and kind == "levt" else TRIPLES
    )
    training = {**chosen.training(kind), **changes.get(setting.scale, {})}
    config: dict[str, Any] = {
        "kind": kind,
        "model": _fields(chosen.network(kind), kind, dropout),
        "training": training,
        "roll_in": ROLL_IN if kind == "levt" else {},
        "metric": metric,
        "dev_limit": chosen.dev_limit,
        "times": times if more is not None else 1,
        "seed": seed,
    }
    inputs = {"corpus": corpus, "more": more, "init": init}
    return Step(
        label=label + (f".seed{seed}" if seed != 1 else ""),
        run=train_system,
        inputs={name: step for name, step in inputs.items() if step is not None},
        config=config,
        seconds=seconds_of(chosen, kind, training)
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
        more=(inputs["more"] / CORPUS,) if "more" in inputs else (),
        model=network(kind, config["model"]),
        roll_in=RollIn(**config["roll_in"]),
        training=TrainingConfig(**config["training"], seed=config["seed"]),
        metric=config["metric"],
        # Words are apart already, so BLEU counts them as they stand; TER does so anyway.
        tokenize="none" if config["metric"] == "bleu" else None,
        beam=1,
        dev_limit=config["dev_limit"],
        init=inputs["init"] / MODEL if "init" in inputs else None,
        name=job.label,
    )
