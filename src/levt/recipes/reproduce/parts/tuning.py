"""Choosing γ, the penalty for empty gaps, on a dev set: from [0, 3], as the paper does."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from levt.engine.batching import Budget
from levt.engine.model import Model, load
from levt.errors import ConfigError
from levt.evaluation.metrics import Metric, metric
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.prepare import CORPUS
from levt.recipes.reproduce.parts.task import Task
from levt.recipes.reproduce.parts.texts import texts_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.shards import write_whole

GRID = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
TUNED = "tuned.json"
BUDGET = Budget(rows=256, tokens=16_384)


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """What was tried and what is best."""

    penalty: float
    """γ with the best score; the smallest where several are as good."""
    scores: dict[str, float]
    """Score by γ."""
    signature: str
    """Of the metric."""


def tune(
    model: Model, sources: Sequence[str], references: Sequence[str], by: Metric, *,
    grid: Sequence[float] = GRID, progress: Callable[[str], None] = lambda text: None, **settings: Any,
) -> Tuned:  # fmt: skip
    """Decode a dev set with each γ of the grid, other settings of the model as they are given."""
    if model.kind != "levt":
        raise ConfigError(
            f"a model of kind {model.kind} has no penalty for empty gaps to tune",
            hint="a model of kind levt has",
        )
    if not grid or any(not 0 <= penalty <= 3 for penalty in grid):
        raise ConfigError(
            f"penalties must be between 0 and 3, got {', '.join(map(str, grid)) or 'none'}",
            hint="--penalties 0 0.5 1 2",
        )
    found: dict[float, float] = {}
    signature = ""
    for penalty in sorted(set(grid)):
        results = model.translate(list(sources), empty_gap_penalty=penalty, **settings)
        score = by.measure([result.text for result in results], list(references))
        found[penalty], signature = score.value, score.signature
        progress(f"γ = {penalty:g}: {by.name} {score.value:.2f}")
    sign = 1 if by.higher_is_better else -1
    best = max(found, key=lambda penalty: (sign * found[penalty], -penalty))
    return Tuned(penalty=best, scores={f"{p:g}": value for p, value in found.items()}, signature=signature)


def tune_step(
    task: Task, model: Step, corpus: Step, *, limit: int, grid: Sequence[float] = GRID, seconds: float
) -> Step:
    """Tune a model on the dev set of its corpus."""
    return Step(
        label=f"{model.label}.penalty",
        run=tune_model,
        inputs={"model": model, "corpus": corpus},
        config={
            "metric": task.selection,
            "tokenize": task.selection_tokenize,
            "limit": limit,
            "grid": list(grid),
        },
        seconds=seconds,
        light=True,
    )


def tune_model(job: Job) -> None:
    """Write ``tuned.json``."""
    sources, references = texts_of(job.inputs["corpus"] / CORPUS, "dev", job.config["limit"])
    by = metric(job.config["metric"], tokenize=job.config["tokenize"])
    model = load(job.inputs["model"] / MODEL, engine="torch", budget=BUDGET)
    # As the test set is decoded: Algorithm 2 as it stands.
    found = tune(model, sources, references, by, grid=job.config["grid"], progress=job.tell, reread=False)
    write_whole(job.out / TUNED, asdict(found), indent=1)


def penalty_of(folder: Path) -> float:
    """The γ that a step has chosen."""
    return float(json.loads((folder / TUNED).read_text("utf-8"))["penalty"])
