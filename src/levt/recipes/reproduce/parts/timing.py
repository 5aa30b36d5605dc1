"""The step that takes the time of systems, one text at a time and in turns: ``OUT/latency.json``. Runs alone."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from levt.engine.batching import Budget
from levt.engine.model import Model, load
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.decoding import as_in_the_paper
from levt.recipes.reproduce.parts.prepare import CORPUS
from levt.recipes.reproduce.parts.texts import texts_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.reproduce.parts.tuning import penalty_of
from levt.recipes.shards import write_whole

LATENCY = "latency.json"
TEXTS = 200
"""Texts that are timed, over and over. Each is translated once before, uncounted: graphs are captured."""


def time_step(
    label: str, systems: Mapping[str, tuple[Step, Mapping[str, Any], Step | None]], corpus: Step, *,
    seconds: float,
) -> Step:  # fmt: skip
    """Take the time of systems: by name the model, its settings, and the step that has tuned it."""
    inputs: dict[str, Step | Path] = {"corpus": corpus}
    for name, (model, _, tuned) in systems.items():
        inputs[f"model {name}"] = model
        if tuned is not None:
            inputs[f"tuned {name}"] = tuned
    return Step(
        label=label,
        run=time_systems,
        version=2,
        inputs=inputs,
        config={
            "systems": {name: dict(settings) for name, (_, settings, _) in systems.items()},
            "seconds": seconds,
            "split": "test",
            "warm_up": TEXTS if seconds >= 1 else 1,
        },
        seconds=10 + (5 + seconds) * len(systems) if seconds >= 1 else 1.0,
        alone=True,
    )


def time_systems(job: Job) -> None:
    """Write ``latency.json``: milliseconds of one text, mean and percentiles, for each system."""
    engine = "cuda" if torch.cuda.is_available() else "torch"
    sources, _ = texts_of(job.inputs["corpus"] / CORPUS, job.config["split"], TEXTS)
    systems: dict[str, tuple[Model, dict[str, Any]]] = {}
    for name, settings in job.config["systems"].items():
        model = load(job.inputs[f"model {name}"] / MODEL, engine=engine, budget=Budget(rows=1))
        if f"tuned {name}" in job.inputs:
            settings = {**settings, "empty_gap_penalty": penalty_of(job.inputs[f"tuned {name}"])}
        systems[name] = (model, settings)
    found = in_turns(
        systems,
        [source for source in sources if source.strip()],
        job.config["seconds"],
        job.config["warm_up"],
    )
    write_whole(job.out / LATENCY, {"engine": engine, "systems": found}, indent=1)


def in_turns(
    systems: Mapping[str, tuple[Model, Mapping[str, Any]]],
    texts: Sequence[str],
    seconds: float,
    warm_up: int = TEXTS,
) -> dict[str, dict[str, float]]:
    """Let systems translate the same texts in turns, so that all meet the same load."""
    taken: dict[str, list[float]] = {name: [] for name in systems}
    systems = {name: (model, as_in_the_paper(model, asked)) for name, (model, asked) in systems.items()}
    for model, settings in systems.values():
        for text in texts[:warm_up]:
            model.translate(text, **settings)
    number, spent = 0, 0.0
    while spent < seconds * len(systems) or number < 3:
        text = texts[number % len(texts)]
        for name, (model, settings) in systems.items():
            began = time.perf_counter()
            model.translate(text, **settings)
            taken[name].append(1e3 * (time.perf_counter() - began))
            spent += taken[name][-1] / 1e3
        number += 1
    return {name: _summary(times) for name, times in taken.items()}


def _summary(times: list[float]) -> dict[str, float]:
    ranked = sorted(times)

    def at(share: float) -> float:
        return ranked[min(int(share * len(ranked)), len(ranked) - 1)]

    return {
        "mean": sum(times) / len(times),
        "p50": at(0.5),
        "p95": at(0.95),
        "p99": at(0.99),
        "calls": float(len(times)),
    }


def read_latency(folder: Path) -> dict[str, Any]:
    """What a step has left."""
    known: dict[str, Any] = json.loads((folder / LATENCY).read_text("utf-8"))
    return known
