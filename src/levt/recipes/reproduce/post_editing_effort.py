"""What help is worth to a person who edits: keystrokes with proposals, with fillings, with words asked for."""

from levt.engine.model import load
from levt.recipes.post_editing_steering import keystrokes
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.models import SECONDS
from levt.recipes.reproduce.parts.post_editing_systems import FINE_TUNED, Chains
from levt.recipes.reproduce.parts.post_editing_task import TASKS
from levt.recipes.reproduce.parts.post_editing_texts import triples_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.reproduce.parts.tuning import BUDGET

TITLE = (
    "Editing effort: keystrokes that a person saves when the model proposes, fills in or is asked for words"
)
WAYS = {
    "do nothing": "alone",
    "accept": "the model proposes, the person accepts or refuses, and corrects the rest",
    "delete": "the person deletes what is wrong, the model fills in, the person corrects the rest",
    "ask": "the person deletes and asks for n words in a gap, the model writes them, the person corrects the rest",
}


def goal(setting: Setting) -> Step:
    """The fine-tuned LevT on every real task."""
    chains = Chains(setting)
    real = [task for task in TASKS[setting.scale] if task.real]
    inputs: dict[str, Step] = {}
    for task in real:
        inputs |= {
            f"{task.name}:triples": chains.triples(task),
            f"{task.name}:model": chains.system(task, FINE_TUNED),
        }
    config = {"tasks": {task.name: task.title for task in real}}
    return Step(
        label="post-editing-effort", run=report, inputs=inputs, config=config,
        seconds=SECONDS[setting.scale] * 3 * len(real),
    )  # fmt: skip


def report(job: Job) -> None:
    """A table for each task."""
    sections, values = [], {}
    for name, title in job.config["tasks"].items():
        job.tell(name)
        test = triples_of(job.inputs[f"{name}:triples"], "test")
        found = keystrokes(load(job.inputs[f"{name}:model"] / MODEL, budget=BUDGET), test)
        values[name] = {row.name: {score.name: score.value for score in row.scores} for row in found}
        rows: list[list[Cell]] = [
            [
                WAYS[row.name],
                *(score.value for score in row.scores),
                *[None] * (3 - len(row.scores)),
            ]
            for row in found
        ]
        sections.append(
            Section(
                heading=title,
                text=f"{len(test):,} sentences. Going to a place, deleting a word, a decision and a request cost one "
                "keystroke each; typing a word costs its letters and a space. Help that costs more than it saves "
                "is not used.",
                table=Table(
                    columns=["help", "keystrokes a sentence", "saved %", "used in % of sentences"], rows=rows
                ),
            )
        )
    Report(sections=sections, values=values).write(job.out)
