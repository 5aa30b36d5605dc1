"""Does LevT edit in the order in which people do? Compared with recordings of people's keystrokes."""

import json
from pathlib import Path

from levt.engine.model import load
from levt.errors import InputError
from levt.evaluation.edit_order import Place
from levt.recipes.post_editing_steering import orders
from levt.recipes.post_editing_triples import ENDS, Watched, files, watched
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.post_editing_systems import Chains
from levt.recipes.reproduce.parts.post_editing_task import FINE_TUNED, SECONDS, main_task
from levt.recipes.reproduce.parts.post_editing_texts import ACTIONS, HELD_OUT, triples_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.reproduce.parts.tuning import BUDGET

TITLE = "The order of edits: LevT and people"
RECORDED = "train.acts_levenshtein_human-order"
"""The fewest edits that lead to the post-edit, in the order in which the person made them."""
TIMES = "test.times.json"
"""When the places of each of these drafts were edited: kind, word or gap, time."""

COUNTED = ("pairs", "sentences")
"""Columns of whole numbers."""


def goal(setting: Setting) -> Step:
    """The fine-tuned LevT on those test sentences whose editing was recorded."""
    chains, task = Chains(setting), main_task(setting.scale)
    return Step(
        label="post-editing-order",
        run=report,
        inputs={"recorded": recorded_step(chains, setting), "model": chains.system(task, FINE_TUNED)},
        config={"title": task.title},
        seconds=SECONDS[setting.scale] * 2,
        light=True,
    )


def recorded_step(chains: Chains, setting: Setting) -> Step:
    """Find the recorded sentences: before any model, for where there is none nothing is to be learnt."""
    task = main_task(setting.scale)
    inputs: dict[str, Step | Path] = {"triples": chains.triples(task)}
    if not task.language.toy:
        folder = setting.data / task.keystrokes
        inputs |= {f"recorded.{end}": folder / f"train.{end}" for end in ENDS}
        inputs["actions"] = folder / RECORDED
    return Step(
        label=f"{task.name}.recorded",
        run=find_recorded,
        inputs=inputs,
        parts={"triples": HELD_OUT},
        seconds=2.0,
        light=True,
    )


def find_recorded(job: Job) -> None:
    """Write the test triples whose editing was recorded, and the times."""
    folder = job.inputs["triples"]
    if "actions" in job.inputs:
        recorded, actions = [job.inputs[f"recorded.{end}"] for end in ENDS], job.inputs["actions"]
    else:
        recorded, actions = [folder / f"test.{end}" for end in ENDS], folder / ACTIONS
    known = watched(triples_of(folder, "test"), recorded, actions)
    if not known.triples:
        raise InputError(
            f"no sentence of the test set is among the {recorded[0].parent.name} whose editing was recorded",
            hint="a recording counts where its source and its draft are those of a test sentence",
        )
    known.triples.write(files(job.out, "test"))
    times = [[(*place, at) for place, at in one.items()] for one in known.times]
    (job.out / TIMES).write_text(json.dumps(times), "utf-8")


def report(job: Job) -> None:
    """One table."""
    folder = job.inputs["recorded"]
    times = json.loads((folder / TIMES).read_text("utf-8"))
    known = Watched(
        triples_of(folder, "test"), [{Place(kind, at): when for kind, at, when in one} for one in times]
    )
    found = orders(load(job.inputs["model"] / MODEL, engine="torch", budget=BUDGET), known)
    rows: list[list[Cell]] = [
        [row.name, *(int(one.value) if one.name in COUNTED else one.value for one in row.scores)]
        for row in found
    ]
    text = (
        f"{job.config['title']}: {len(known.triples):,} test sentences, unseen in training, that needed an edit and "
        "whose editing by a person was recorded. Compared are the places of the draft that both have edited: the "
        "share of pairs of places that both put in the same order (50 % is chance), and Kendall's τ, the mean over "
        "the sentences (0 is chance). All deletions of an iteration are at one time, then all its insertions; "
        "*surest first* puts the more probable first. *Riskiest first* orders the person's places by how wrong LevT "
        "thinks them in its first iteration, whether it edits them or not."
    )
    Report(
        sections=[
            Section(
                heading="Agreement with people",
                text=text,
                table=Table(columns=["order", *(score.name for score in found[0].scores)], rows=rows),
            )
        ],
        values={row.name: {score.name: score.value for score in row.scores} for row in found},
    ).write(job.out)
