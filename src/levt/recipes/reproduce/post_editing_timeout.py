"""The paper's last figure: quality against the iteration limit, alone and with an oracle that decides a part."""

from typing import Any

from levt.engine.model import load
from levt.evaluation.plot import lines
from levt.evaluation.report import DO_NOTHING
from levt.recipes.post_editing_judge import METRICS, compared
from levt.recipes.post_editing_steering import LIMITS, timeouts
from levt.recipes.post_editing_triples import Triples
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.models import SECONDS
from levt.recipes.reproduce.parts.post_editing_systems import FINE_TUNED, Chains
from levt.recipes.reproduce.parts.post_editing_task import main_task
from levt.recipes.reproduce.parts.post_editing_texts import triples_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.reproduce.parts.tuning import BUDGET
from levt.recipes.synthesis import aligned

TITLE = "Working with an oracle: BLEU and TER against the iteration limit, in translation and post-editing"


def goal(setting: Setting) -> Step:
    """Translation by the translation model of the language, post-editing by the one that was fine-tuned."""
    chains, task = Chains(setting), main_task(setting.scale)
    return Step(
        label="post-editing-timeout",
        run=report,
        inputs={
            "pairs": chains.pairs(task.language),
            "translation": chains.translation(task.language),
            "triples": chains.triples(task),
            "post-editing": chains.system(task, FINE_TUNED),
        },
        config={"title": task.title, "limits": [1, 2] if setting.scale == "toy" else list(LIMITS)},
        seconds=SECONDS[setting.scale] * 30,
    )


def report(job: Job) -> None:
    """Two pictures and a table for each of the two tasks."""
    pairs = list(aligned(job.inputs["pairs"] / "test.src", job.inputs["pairs"] / "test.tgt"))
    empty = Triples([x for x, _ in pairs], [""] * len(pairs), [y for _, y in pairs])
    tasks = {
        "translation": ("Translation", "from an empty draft", empty),
        "post-editing": ("Post-editing", job.config["title"], triples_of(job.inputs["triples"], "test")),
    }
    sections: list[Section] = []
    values: dict[str, Any] = {}
    signatures: dict[str, None] = {}
    for name, (heading, text, triples) in tasks.items():
        job.tell(name)
        model = load(job.inputs[name] / MODEL, budget=BUDGET)
        found = timeouts(model, triples, limits=job.config["limits"])
        values[name] = {
            help: {str(limit): [score.value for score in scores] for limit, scores in by.items()}
            for help, by in found.items()
        }
        rows: list[list[Cell]] = []
        for i, metric in enumerate(METRICS):
            rows += [
                [f"{metric.upper()}, {help}", *(scores[i].value for scores in by.values())]
                for help, by in found.items()
            ]
            if name == "post-editing":
                score = compared(metric, {"": triples.drafts}, triples.targets, None)[""]
                rows.append([f"{metric.upper()}, {DO_NOTHING}", *[score.value] * len(job.config["limits"])])
            series = {help: {k: scores[i].value for k, scores in by.items()} for help, by in found.items()}
            picture = f"{name}-{metric}.png"
            lines(series, job.out / picture, x="most iterations", y=metric.upper())
            last = i == len(METRICS) - 1
            columns = ["oracle", *(str(limit) for limit in job.config["limits"])]
            sections.append(
                Section(
                    heading=f"{heading}: {metric.upper()}",
                    text="" if i else f"{text[0].upper()}{text[1:]}, {len(triples):,} sentences.",
                    table=Table(columns=columns, rows=rows) if last else None,
                    picture=picture,
                    caption=f"{heading}: {metric.upper()} by the most iterations allowed, with and without help.",
                )
            )
            signatures |= {
                score.signature: None for by in found.values() for scores in by.values() for score in scores
            }
    Report(sections=sections, signatures=list(signatures), values=values).write(job.out)
