"""The step that translates a test set: ``OUT/outputs.json``, every text with its iterations and passes."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from levt.engine.model import Model, load
from levt.engine.result import Result
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.prepare import CORPUS
from levt.recipes.reproduce.parts.texts import texts_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.reproduce.parts.tuning import BUDGET, penalty_of
from levt.recipes.shards import write_whole

OUTPUTS = "outputs.json"


def decode_step(
    label: str, model: Step, corpus: Step, *, split: str = "test", tuned: Step | None = None,
    teacher: Step | None = None, settings: Mapping[str, Any] | None = None, seconds: float = 5.0,
) -> Step:  # fmt: skip
    """Translate a split with a model, with a tuned γ, and chosen by a teacher, where these are given."""
    more = {name: one for name, one in (("tuned", tuned), ("teacher", teacher)) if one is not None}
    return Step(
        label=label,
        run=decode,
        inputs={"model": model, "corpus": corpus, **more},
        config={"split": split, "settings": dict(settings or {})},
        seconds=seconds,
        light=True,
    )


def decode(job: Job) -> None:
    """Write ``outputs.json``."""
    sources, _ = texts_of(job.inputs["corpus"] / CORPUS, job.config["split"])
    model = load(job.inputs["model"] / MODEL, engine="torch", budget=BUDGET)
    settings = dict(job.config["settings"])
    if "tuned" in job.inputs:
        settings["empty_gap_penalty"] = penalty_of(job.inputs["tuned"])
    if "teacher" in job.inputs:
        settings["teacher"] = load(job.inputs["teacher"] / MODEL, engine="torch", budget=BUDGET)
    write_outputs(job.out, translated(model, sources, settings), sources)


def translated(model: Model, sources: Sequence[str], settings: Mapping[str, Any]) -> list[Result]:
    """The results of many texts."""
    return model.translate(list(sources), **as_in_the_paper(model, settings))


def as_in_the_paper(model: Model, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with Algorithm 2 as it stands: LevT does not read again what it has written."""
    return {**({"reread": False} if model.kind == "levt" else {}), **settings}


def write_outputs(out: Path, results: Sequence[Result], sources: Sequence[str]) -> None:
    """Leave results in the folder of a step."""
    known = {
        "texts": [result.text for result in results],
        "iterations": [result.iterations for result in results],
        "passes": [result.passes for result in results],
        "edits": [edits(result) for result in results],
        "source_words": [len(source.split()) for source in sources],
        "tokens": [len(result.tokens) for result in results],
        "stopped": [result.stopped for result in results],
    }
    write_whole(out / OUTPUTS, known)


def edits(result: Result) -> int:
    """Iterations that changed something."""
    return sum(not round_.script.is_identity for round_ in result.story.rounds)


def read_outputs(folder: Path) -> dict[str, Any]:
    """What a step has left."""
    known: dict[str, Any] = json.loads((folder / OUTPUTS).read_text("utf-8"))
    return known


def mean(values: Sequence[int] | Sequence[float]) -> float:
    """The arithmetic mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0
