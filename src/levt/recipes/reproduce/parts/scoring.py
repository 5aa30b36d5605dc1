"""The step that scores outputs: ``OUT/scores.json``, each number with its signature and 95 % interval."""

import json
from pathlib import Path
from typing import Any

from levt.evaluation.metrics import metric
from levt.evaluation.surface import surface
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.decoding import mean, read_outputs
from levt.recipes.reproduce.parts.prepare import CORPUS
from levt.recipes.reproduce.parts.task import Task
from levt.recipes.reproduce.parts.texts import texts_of
from levt.recipes.shards import write_whole

SCORES = "scores.json"
METRICS = {"bleu": ["bleu", "chrf"], "rouge": ["rouge-1", "rouge-2", "rouge-l"]}


def score_step(task: Task, outputs: Step, corpus: Step, *, split: str = "test") -> Step:
    """Score what a step has decoded."""
    return Step(
        label=f"{outputs.label}.score",
        run=score,
        inputs={"outputs": outputs, "corpus": corpus},
        config={
            "metrics": METRICS[task.measured_by],
            "tokenize": task.tokenize,
            "split": split,
            "samples": 40 if task.toy else 500,
        },
        seconds=2.0 if not task.toy else 0.5,
        light=True,
    )


def score(job: Job) -> None:
    """Write ``scores.json``: metrics with intervals, counters of what they hide, iterations and passes."""
    found = read_outputs(job.inputs["outputs"])
    sources, references = texts_of(job.inputs["corpus"] / CORPUS, job.config["split"])
    texts: list[str] = found["texts"]
    scores = []
    for name in job.config["metrics"]:
        by = metric(name, tokenize=job.config["tokenize"] if name == "bleu" else None)
        scores.append(
            {**by.measure(texts, references, samples=job.config["samples"]).to_json(), "metric": name}
        )
    counters = surface(texts, references, sources)
    known = {
        "scores": scores,
        "surface": {one.name: one.value for one in counters.scores()},
        "iterations": mean(found["iterations"]),
        "passes": mean(found["passes"]),
        "sentences": len(texts),
    }
    write_whole(job.out / SCORES, known, indent=1)


def read_scores(folder: Path) -> dict[str, Any]:
    """What a step has left; the values of its metrics under their names."""
    known: dict[str, Any] = json.loads((folder / SCORES).read_text("utf-8"))
    return known | {one["metric"]: one["value"] for one in known["scores"]}


def signatures(*folders: Path) -> list[str]:
    """The signatures of all metrics of those steps that have scores, each once and behind the name of its metric."""
    scored = [folder for folder in folders if (folder / SCORES).is_file()]
    found = [
        f"{one['name']}|{one['signature']}" for folder in scored for one in read_scores(folder)["scores"]
    ]
    return list(dict.fromkeys(found))
