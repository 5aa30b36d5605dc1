"""Figure 5 in translation and post-editing: quality against the iteration limit, alone and with an oracle."""

import json
from typing import Any

from levt.data.aligned import aligned
from levt.engine.model import load
from levt.evaluation.plot import lines
from levt.evaluation.report import DO_NOTHING
from levt.recipes.post_editing_judge import METRICS, compared
from levt.recipes.post_editing_steering import LIMITS, timeouts
from levt.recipes.post_editing_triples import Triples
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.collaboration import MOST
from levt.recipes.reproduce.parts.post_editing_systems import Chains
from levt.recipes.reproduce.parts.post_editing_task import FINE_TUNED, SECONDS, main_task
from levt.recipes.reproduce.parts.post_editing_texts import HELD_OUT, triples_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.reproduce.parts.tuning import BUDGET
from levt.recipes.shards import write_whole

LIMITED = "limited.json"
TITLE = "Working with an oracle: BLEU and TER against the iteration limit, in translation and post-editing"


def goal(setting: Setting) -> Step:
    """Translation by the translation model of the language, post-editing by the one that was fine-tuned."""
    chains, task = Chains(setting), main_task(setting.scale)
    language = task.language
    inputs = {
        "translation": limits_step(setting, chains.pairs(language), chains.translation(language)),
        "post-editing": limits_step(setting, chains.triples(task), chains.system(task, FINE_TUNED)),
    }
    config = {"title": task.title, "limits": limits_of(setting)}
    return Step(label="post-editing-timeout", run=report, inputs=inputs, config=config, light=True)


def limits_of(setting: Setting) -> list[int]:
    """The limits of the figure."""
    return [1, 2] if setting.scale == "toy" else list(LIMITS)


def limits_step(setting: Setting, texts: Step, model: Step) -> Step:
    """Pairs, from empty drafts, or triples under every limit and with all help: ``OUT/limited.json``."""
    return Step(
        label=f"{model.label}.limited",
        run=write_limited,
        inputs={"texts": texts, "model": model},
        parts={"texts": HELD_OUT},
        config={"limits": limits_of(setting), "most": MOST[setting.scale]},
        seconds=SECONDS[setting.scale] * 12,
        light=True,
    )


def write_limited(job: Job) -> None:
    """Refine and score."""
    texts = job.inputs["texts"]
    if (texts / "test.mt").is_file():
        test = triples_of(texts, "test", job.config["most"])
    else:
        pairs = list(aligned(texts / "test.src", texts / "test.tgt"))[: job.config["most"]]
        test = Triples([x for x, _ in pairs], [""] * len(pairs), [y for _, y in pairs])
    found = timeouts(
        load(job.inputs["model"] / MODEL, engine="torch", budget=BUDGET), test, limits=job.config["limits"]
    )
    nothing = [compared(metric, {"": test.drafts}, test.targets, None)[""] for metric in METRICS]
    known = {
        "sentences": len(test),
        "values": {
            help: {str(limit): [score.value for score in scores] for limit, scores in by.items()}
            for help, by in found.items()
        },
        DO_NOTHING: [score.value for score in nothing],
        "signatures": [score.signature for score in nothing],
    }
    write_whole(job.out / LIMITED, known, indent=1)


def report(job: Job) -> None:
    """A table and a picture for each of the two tasks and metrics."""
    headings = {
        "translation": ("Translation", "from an empty draft"),
        "post-editing": ("Post-editing", job.config["title"]),
    }
    limits = [str(limit) for limit in job.config["limits"]]
    sections: list[Section] = []
    values: dict[str, Any] = {}
    signatures: list[str] = []
    for name, (heading, text) in headings.items():
        known = json.loads((job.inputs[name] / LIMITED).read_text("utf-8"))
        values[name] = found = known["values"]
        signatures += known["signatures"]
        for i, metric in enumerate(METRICS):
            series = {help: {int(limit): by[limit][i] for limit in limits} for help, by in found.items()}
            if name == "post-editing":
                series[DO_NOTHING] = {int(limit): known[DO_NOTHING][i] for limit in limits}
            rows: list[list[Cell]] = [[help, *points.values()] for help, points in series.items()]
            picture = f"{name}-{metric}.png"
            lines(series, job.out / picture, x="most iterations", y=metric.upper())
            sections.append(
                Section(
                    heading=f"{heading}: {metric.upper()}",
                    text="" if i else f"{text[0].upper()}{text[1:]}, {known['sentences']:,} sentences.",
                    table=Table(columns=["oracle", *limits], rows=rows),
                    picture=picture,
                    caption=f"{heading}: {metric.upper()} by the most iterations allowed, with and without help.",
                )
            )
    Report(sections=sections, signatures=list(dict.fromkeys(signatures)), values=values).write(job.out)
