"""What help is worth to a person who edits: keystrokes with proposals, with fillings, with words asked for."""

import json

from levt.engine.model import load
from levt.recipes.post_editing_steering import keystrokes
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.post_editing_systems import Chains
from levt.recipes.reproduce.parts.post_editing_task import FINE_TUNED, SECONDS, PostEditingTask, tasks_of
from levt.recipes.reproduce.parts.post_editing_texts import HELD_OUT, triples_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.reproduce.parts.tuning import BUDGET
from levt.recipes.shards import write_whole

TITLE = (
    "Editing effort: keystrokes that a person saves when the model proposes, fills in or is asked for words"
)
BY_TASK = True
EFFORT = "effort.json"
WAYS = {
    "do nothing": "alone",
    "accept": "the model proposes, the person accepts or refuses, and corrects the rest",
    "delete": "the person deletes what is wrong, the model fills in, the person corrects the rest",
    "ask": "the person deletes and asks for n words in a gap, the model writes them, the person corrects the rest",
}


def goal(setting: Setting) -> Step:
    """The fine-tuned LevT on every real task."""
    real = tasks_of(setting, real=True)
    return Step(
        label="post-editing-effort",
        run=report,
        inputs={task.name: effort_step(task, setting) for task in real},
        config={"tasks": {task.name: task.title for task in real}},
        light=True,
    )


def effort_step(task: PostEditingTask, setting: Setting) -> Step:
    """Keystrokes on the test set of a task: ``OUT/effort.json``."""
    chains = Chains(setting)
    return Step(
        label=f"{task.name}.effort",
        run=write_effort,
        inputs={"triples": chains.triples(task), "model": chains.system(task, FINE_TUNED)},
        parts={"triples": HELD_OUT},
        seconds=SECONDS[setting.scale] * 3,
        light=True,
    )


def write_effort(job: Job) -> None:
    """Simulate the person."""
    test = triples_of(job.inputs["triples"], "test")
    found = keystrokes(load(job.inputs["model"] / MODEL, engine="torch", budget=BUDGET), test)
    values = {row.name: {score.name: score.value for score in row.scores} for row in found}
    write_whole(job.out / EFFORT, {"sentences": len(test), "values": values}, indent=1)


def report(job: Job) -> None:
    """A table for each task."""
    sections, values = [], {}
    for name, title in job.config["tasks"].items():
        known = json.loads((job.inputs[name] / EFFORT).read_text("utf-8"))
        values[name] = known["values"]
        rows: list[list[Cell]] = [
            [WAYS[way], *scores.values(), *[None] * (3 - len(scores))]
            for way, scores in known["values"].items()
        ]
        sections.append(
            Section(
                heading=title,
                text=f"{known['sentences']:,} sentences. Going to a place, deleting a word, a decision and a request "
                "cost one keystroke each; typing a word costs its letters and a space. Help that costs more than it "
                "saves is not used.",
                table=Table(
                    columns=["help", "keystrokes a sentence", "saved %", "used in % of sentences"], rows=rows
                ),
            )
        )
    Report(sections=sections, values=values).write(job.out)
