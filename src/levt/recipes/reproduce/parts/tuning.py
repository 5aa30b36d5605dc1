"""Choosing γ, the penalty for empty gaps, on a dev set: from [0, 3], as the paper does, and no more than is needed.

With γ texts become longer, and on a dev set whose references happen to be long the best score is nearly always that
of the largest γ, by a hair. So of all values that may be as good as the best, the smallest is taken.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from levt.engine.batching import Budget
from levt.engine.model import Model, load
from levt.errors import ConfigError
from levt.evaluation.metrics import Metric, metric
from levt.evaluation.significance import shared_level
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.prepare import CORPUS
from levt.recipes.reproduce.parts.task import Task
from levt.recipes.reproduce.parts.texts import texts_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.shards import write_whole

TUNED = "tuned.json"
BUDGET = Budget(rows=256, tokens=16_384)
LEVEL = 0.05
"""How often luck may choose a γ above the smallest where all are equally good."""


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """What was tried and what was chosen."""

    penalty: float
    """The smallest γ than which the best is not better by more than chance."""
    scores: dict[str, float]
    """Score by γ."""
    p_values: dict[str, float]
    """By γ, how often chance alone would set it as far from the best; 1 for the best itself."""
    signature: str
    """Of the metric."""


def tune(
    model: Model, sources: Sequence[str], references: Sequence[str], by: Metric, *,
    grid: Sequence[float], progress: Callable[[str], None] = lambda text: None, **settings: Any,
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
    texts: dict[float, list[str]] = {}
    scores: dict[float, float] = {}
    for penalty in sorted(set(grid)):
        results = model.translate(list(sources), empty_gap_penalty=penalty, **settings)
        texts[penalty] = [result.text for result in results]
        scores[penalty] = by.score(texts[penalty], list(references))
        progress(f"γ = {penalty:g}: {by.name} {scores[penalty]:.2f}")
    sign = 1 if by.higher_is_better else -1
    best = max(scores, key=lambda penalty: (sign * scores[penalty], -penalty))
    others = [penalty for penalty in texts if penalty != best]
    compared = by.compare({f"{p:g}": texts[p] for p in (best, *others)}, list(references))
    p_values = {f"{p:g}": compared[f"{p:g}"].p_value or 1.0 for p in texts}
    share = shared_level(LEVEL, len(others))
    return Tuned(
        penalty=next(p for p in texts if p_values[f"{p:g}"] > share),
        scores={f"{p:g}": value for p, value in scores.items()},
        p_values=p_values,
        signature=compared[f"{best:g}"].signature,
    )


def tune_step(
    task: Task, model: Step, corpus: Step, *, limit: int, grid: Sequence[float], seconds: float
) -> Step:
    """Tune a model on the dev set of its corpus."""
    return Step(
        label=f"{model.label}.penalty",
        run=tune_model,
        version=2,
        inputs={"model": model, "corpus": corpus},
        config={
            "metric": task.selection,
            "tokenize": task.selection_tokenize,
            "limit": limit,
            "grid": list(grid),
            "level": LEVEL,
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
