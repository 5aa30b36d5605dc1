"""Word-level quality estimation as a by-product: which words of a draft LevT would delete, against the post-edits."""

import json

from levt.engine.model import load
from levt.recipes.post_editing_tags import tagged
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.post_editing_systems import Chains
from levt.recipes.reproduce.parts.post_editing_task import (
    FINE_TUNED,
    SCRATCH,
    SECONDS,
    ZERO_SHOT,
    PostEditingTask,
    tasks_of,
)
from levt.recipes.reproduce.parts.post_editing_texts import HELD_OUT, triples_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.reproduce.parts.tuning import BUDGET
from levt.recipes.shards import write_whole

TITLE = "Quality estimation: OK and BAD words and gaps of a draft, by LevT's first iteration"
BY_TASK = True
TAGS = "tags.json"
SYSTEMS = (SCRATCH, ZERO_SHOT, FINE_TUNED)


def goal(setting: Setting) -> Step:
    """Every LevT on every real task."""
    real = tasks_of(setting, real=True)
    return Step(
        label="post-editing-quality",
        run=report,
        inputs={f"{task.name}:{system}": tags_step(task, system, setting) for task in real for system in SYSTEMS},
        config={"tasks": {task.name: task.title for task in real}, "systems": list(SYSTEMS)},
        light=True,
    )  # fmt: skip


def tags_step(task: PostEditingTask, system: str, setting: Setting) -> Step:
    """Tags of the test set of a task by one LevT: ``OUT/tags.json``."""
    chains = Chains(setting)
    return Step(
        label=f"{task.name}.{system}.tags",
        run=write_tags,
        inputs={"triples": chains.triples(task), "model": chains.system(task, system)},
        parts={"triples": HELD_OUT},
        seconds=SECONDS[setting.scale] * 2,
        light=True,
    )


def write_tags(job: Job) -> None:
    """Choose the threshold on the dev set, tag the test set."""
    dev, test = (triples_of(job.inputs["triples"], split) for split in ("dev", "test"))
    threshold, row = tagged(load(job.inputs["model"] / MODEL, engine="torch", budget=BUDGET), dev, test)
    values = {score.name: score.value for score in row.scores} | {"threshold": threshold}
    write_whole(job.out / TAGS, values, indent=1)


def report(job: Job) -> None:
    """One table."""
    rows: list[list[Cell]] = []
    values: dict[str, dict[str, float]] = {}
    columns: list[str] = []
    for name, title in job.config["tasks"].items():
        for system in job.config["systems"]:
            known = json.loads((job.inputs[f"{name}:{system}"] / TAGS).read_text("utf-8"))
            columns = list(known)
            rows.append([title, f"LevT, {system}", *known.values()])
            values[f"{name}:{system}"] = known
    text = (
        "A word is BAD where the post-edit does not keep it, a gap where words are missing. LevT's risk is the "
        "probability of deleting a piece of the word, or of opening the gap, in the first iteration; the threshold is "
        "the best on the dev set. MCC is Matthews' correlation, in percent: 0 for tags that know nothing."
    )
    Report(
        sections=[
            Section(
                heading="Tags of words and gaps",
                text=text,
                table=Table(columns=["texts", "system", *columns], rows=rows),
            )
        ],
        values=values,
    ).write(job.out)
