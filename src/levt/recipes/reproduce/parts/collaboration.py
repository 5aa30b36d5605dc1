"""The step that decodes under limits of iterations, alone and with an oracle: ``OUT/limited.json``."""

from collections.abc import Sequence
from typing import Any

from levt.engine.batching import Budget, batches
from levt.engine.model import load
from levt.evaluation.metrics import metric
from levt.recipes.post_editing_help import together
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.prepare import CORPUS
from levt.recipes.reproduce.parts.task import Task
from levt.recipes.reproduce.parts.texts import texts_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.reproduce.parts.tuning import penalty_of
from levt.recipes.shards import write_whole
from levt.refine.options import Options
from levt.refine.oracle_policy import Help
from levt.refine.request import Request, Tokens

LIMITED = "limited.json"
HELP: dict[str, Help | None] = {
    "alone": None,
    "oracle deletion": "delete",
    "oracle deletion and placeholders": "delete+placeholder",
}
MOST = 1_000
"""Sentences of the test set that are decoded, at most."""
BUDGET = Budget(rows=128, tokens=8_192)


def limits_step(
    task: Task, model: Step, corpus: Step, tuned: Step, *, limits: Sequence[int], seconds: float
) -> Step:
    """Decode the test set under every limit with every kind of help."""
    return Step(
        label=f"{model.label}.limits",
        run=decode_limited,
        version=2,
        inputs={"model": model, "corpus": corpus, "tuned": tuned},
        config={"limits": list(limits), "most": MOST, "metric": "bleu", "tokenize": task.tokenize},
        seconds=seconds,
        light=True,
    )


def decode_limited(job: Job) -> None:
    """Write ``limited.json``: a score for each kind of help and each limit."""
    sources, references = texts_of(job.inputs["corpus"] / CORPUS, "test", job.config["most"])
    engine: Any = load(job.inputs["model"] / MODEL, engine="torch").engine
    by = metric(job.config["metric"], tokenize=job.config["tokenize"])
    penalty = penalty_of(job.inputs["tuned"])
    scores: dict[str, dict[str, float]] = {}
    signature = name = ""
    for shown, help_ in HELP.items():
        for limit in job.config["limits"]:
            options = Options(max_iterations=limit, empty_gap_penalty=penalty)
            texts = decode_with(engine, sources, references, options, help_)
            score = by.measure(texts, references)
            scores.setdefault(shown, {})[str(limit)] = score.value
            signature, name = score.signature, score.name
            job.tell(f"{shown}, at most {limit}: {score.value:.2f}")
    known = {"scores": scores, "signature": signature, "name": name, "sentences": len(sources)}
    write_whole(job.out / LIMITED, known, indent=1)


def decode_with(
    engine: Any, sources: Sequence[str], references: Sequence[str], options: Options, help_: Help | None
) -> list[str]:
    """Translations, with the help of an oracle who knows the references; None: alone."""
    tokenizers, config = engine.tokenizers, engine.config
    x: list[Tokens] = [tuple(row) for row in tokenizers.source.encode_batch(list(sources))]
    y: list[Tokens] = [tuple(row) for row in tokenizers.target.encode_batch(list(references))]
    # What the model cannot hold stays empty; it is counted as such.
    fits = [
        i for i in range(len(x)) if len(x[i]) + 2 <= config.max_length and len(y[i]) + 2 <= config.max_length
    ]
    found: dict[int, Tokens] = {}
    for batch in batches([2 + max(len(x[i]), len(y[i])) for i in fits], BUDGET):
        rows = [fits[i] for i in batch]
        requests = [Request(source=x[i], options=options) for i in rows]
        outcomes = together(engine, requests, [y[i] for i in rows], help_)
        found |= {i: outcome.tokens for i, outcome in zip(rows, outcomes, strict=True)}
    texts: list[str] = tokenizers.target.decode_batch([list(found.get(i, ())) for i in range(len(x))])
    return texts
