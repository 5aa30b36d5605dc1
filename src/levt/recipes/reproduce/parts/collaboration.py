"""The step that decodes under limits of iterations, alone and with an oracle: ``OUT/limited.json``."""

from collections.abc import Sequence

from levt.engine.batching import Budget
from levt.engine.model import Model, load
from levt.evaluation.metrics import metric
from levt.recipes.post_editing_help import helped
from levt.recipes.reproduce.framework.setting import Scale
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.prepare import CORPUS
from levt.recipes.reproduce.parts.task import Task
from levt.recipes.reproduce.parts.texts import texts_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.reproduce.parts.tuning import penalty_of
from levt.recipes.shards import write_whole
from levt.refine.options import Options
from levt.refine.oracle_policy import Help

LIMITED = "limited.json"
HELP: dict[str, Help | None] = {
    "alone": None,
    "oracle deletion": "delete",
    "oracle deletion and placeholders": "delete+placeholder",
}
MOST: dict[Scale, int] = {"toy": 1_000, "quick": 1_000, "paper": 10_000}
"""Sentences of the test set that are decoded, at most; the paper's are all."""
BUDGET = Budget(rows=128, tokens=8_192)


def limits_step(
    task: Task, scale: Scale, model: Step, corpus: Step, tuned: Step, *, limits: Sequence[int], seconds: float
) -> Step:
    """Decode the test set under every limit with every kind of help."""
    return Step(
        label=f"{model.label}.limits",
        run=decode_limited,
        version=2,
        inputs={"model": model, "corpus": corpus, "tuned": tuned},
        config={"limits": list(limits), "most": MOST[scale], "metric": "bleu", "tokenize": task.tokenize},
        seconds=seconds,
        light=True,
    )


def decode_limited(job: Job) -> None:
    """Write ``limited.json``: a score for each kind of help and each limit."""
    sources, references = texts_of(job.inputs["corpus"] / CORPUS, "test", job.config["most"])
    model = load(job.inputs["model"] / MODEL, engine="torch", budget=BUDGET)
    by = metric(job.config["metric"], tokenize=job.config["tokenize"])
    penalty = penalty_of(job.inputs["tuned"])
    scores: dict[str, dict[str, float]] = {}
    signature = name = ""
    for shown, help_ in HELP.items():
        for limit in job.config["limits"]:
            options = Options(max_iterations=limit, empty_gap_penalty=penalty)
            texts = decode_with(model, sources, references, options, help_)
            score = by.measure(texts, references)
            scores.setdefault(shown, {})[str(limit)] = score.value
            signature, name = score.signature, score.name
            job.tell(f"{shown}, at most {limit}: {score.value:.2f}")
    known = {"scores": scores, "signature": signature, "name": name, "sentences": len(sources)}
    write_whole(job.out / LIMITED, known, indent=1)


def decode_with(
    model: Model, sources: Sequence[str], references: Sequence[str], options: Options, help_: Help | None
) -> list[str]:
    """Translations, with the help of an oracle who knows the references; what the model cannot hold stays empty."""
    tokenizers, most = model.engine.tokenizers, model.engine.config.max_length
    sizes = zip(
        tokenizers.source.encode_batch(list(sources)),
        tokenizers.target.encode_batch(list(references)),
        strict=True,
    )
    fits = [i for i, (x, y) in enumerate(sizes) if 2 + max(len(x), len(y)) <= most]
    texts = helped(
        model, [sources[i] for i in fits], [""] * len(fits), [references[i] for i in fits],
        help=help_, options=options,
    )  # fmt: skip
    found = dict(zip(fits, texts, strict=True))
    return [found.get(i, "") for i in range(len(sources))]
