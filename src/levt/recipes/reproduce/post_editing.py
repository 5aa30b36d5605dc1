"""The paper's table of automatic post-editing, with what became of the drafts, and the dial that leaves alone."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from levt.evaluation.report import DO_NOTHING
from levt.evaluation.score import Score
from levt.recipes.post_editing_judge import judged
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.decoding import read_outputs
from levt.recipes.reproduce.parts.post_editing_outputs import outputs_step
from levt.recipes.reproduce.parts.post_editing_systems import Chains
from levt.recipes.reproduce.parts.post_editing_task import (
    PUBLISHED,
    SECONDS,
    TRANSFORMER,
    ZERO_SHOT,
    PostEditingTask,
    tasks_of,
)
from levt.recipes.reproduce.parts.post_editing_texts import HELD_OUT, triples_of
from levt.recipes.reproduce.parts.sizes import size
from levt.recipes.shards import write_whole

TITLE = "Automatic post-editing: BLEU and TER, sentences better and worse"
BY_TASK = True
TABLE = "table.json"
COLUMNS = ("BLEU", "TER", "changed %", "better %", "worse %")
NAMES = {"scratch": "LevT, scratch", "zero-shot": "LevT, zero-shot", "fine-tuned": "LevT, fine-tuned"}
READ = (
    "Words stand apart as in the data; BLEU counts them so, TER is case-sensitive. Brackets are 95 % bootstrap "
    "intervals, p is against doing nothing. A sentence is better or worse by its own TER. With the dial, an edit "
    "must be as probable as was best on the dev set (`min_edit`; 1 leaves everything as it is), and γ, chosen "
    "with it, opens gaps more easily."
)
ABOUT = (
    f"{READ} The translation model, which is zero-shot and where fine-tuning begins, has "
    "also learnt to translate the sources of real training triples as their post-edits (no draft was seen), for "
    "no other translation data is of their domain. Where several ways of training were tried, the dev set chose; "
    "each real triple counts ten times. *Near* mixes in the same sources and targets with drafts of phrase-based "
    "systems that were trained on the other nine tenths of the triples; *trip* mixes in translation data whose "
    "targets went to the other language and back (phrase-based, as the paper's artificial triples were made); "
    "*all* is both, *alone* neither. *Drafts* and *own* are *all* with more states that are drafts (0.8 of them, "
    "else half), and in *own* insertion is also learnt after the model's own deletions."
)

ABOUT_THE_PAPERS = (
    f"{READ} Without the dial LevT refines by Algorithm 2 as it stands. For English-German and English-Japanese drafts "
    "of a system of ours LevT, from scratch and zero-shot, has learnt the texts of a teacher, as in the paper; the "
    "Transformer and the others learn references. Japanese words are those of MeCab (in the paper of KyTea). Each real "
    "triple counts ten times; the model that is fine-tuned for them has learnt to translate from the sources and "
    "targets of four million artificial triples."
)


def goal(setting: Setting) -> Step:
    """Every system on every task."""
    tasks = tasks_of(setting)
    about = {"about": ABOUT_THE_PAPERS} if setting.scale == "paper" else {}
    return Step(
        label="post-editing",
        run=report,
        inputs={task.name: table_step(task, setting) for task in tasks},
        config={"tasks": [task.name for task in tasks], **about},
        light=True,
    )


def table_step(task: PostEditingTask, setting: Setting) -> Step:
    """The rows of a task: ``OUT/table.json``."""
    chains = Chains(setting)
    inputs = {"triples": chains.triples(task)}
    for system in chains.systems(task):
        for seed in range(1, setting.seeds + 1):
            inputs[f"{system}:{seed}"] = edited(chains, task, system, seed)
    known = {
        "name": task.name,
        "title": task.title,
        "system": task.system,
        "systems": chains.systems(task),
        "ways": {
            NAMES.get(name, name): tries[0].name for name, tries in task.tries.items() if len(tries) == 1
        },
    }
    config = {"task": known, "seeds": setting.seeds, "samples": samples(setting)}
    seconds = SECONDS[setting.scale] * 3
    return Step(
        label=f"{task.name}.table", run=write_table, inputs=inputs, parts={"triples": HELD_OUT}, config=config,
        seconds=seconds, light=True,
    )  # fmt: skip


def samples(setting: Setting) -> int:
    """Random trials of intervals and p-values."""
    return 100 if setting.scale == "toy" else 1000


def edited(chains: Chains, task: PostEditingTask, system: str, seed: int = 1) -> Step:
    """What a system makes of the test set of a task."""
    setting = chains.setting
    model = chains.system(task, system, seed)
    name = f"{task.name}.{system.lower()}" + (f".seed{seed}" if seed != 1 else "")
    seconds = SECONDS[setting.scale] * (2.0 if system == TRANSFORMER else 6.0)
    return outputs_step(
        f"{name}.edited", model, chains.triples(task), dial=system != TRANSFORMER,
        dev_limit=size(setting.scale).dev_limit, samples=samples(setting), seconds=seconds,
        plain=setting.scale == "paper" and system != TRANSFORMER,
    )  # fmt: skip


def write_table(job: Job) -> None:
    """Judge all systems of a task."""
    rows, known = rows_of(job, job.config["task"])
    write_whole(job.out / TABLE, {**job.config["task"], "cells": rows, **known}, indent=1)


def report(job: Job) -> None:
    """A table of all tasks, and one for each."""
    sections: list[Section] = []
    values: dict[str, Any] = {}
    signatures: list[str] = []
    overview: list[list[Cell]] = []
    for name in job.config["tasks"]:
        task = json.loads((job.inputs[name] / TABLE).read_text("utf-8"))
        values[name] = {key: task[key] for key in ("rows", "dials", "choices", "sentences", "signatures")}
        signatures += task["signatures"]
        texts = f"{task['title']} ({task['system']})"
        overview += [
            ["" if i else texts, row[0], *task["rows"][row[0]].values()]
            for i, row in enumerate(task["cells"])
        ]
        sections.append(
            Section(
                heading=f"{task['title']}, drafts: {task['system']}",
                text=f"{task['sentences']:,} test sentences{_paper(name)}.{_tried(task)}",
                table=Table(columns=["system", *COLUMNS, "dial"], rows=task["cells"]),
            )
        )
    first = Section(
        heading="All systems",
        text=job.config.get("about", ABOUT),
        table=Table(columns=["texts", "system", *COLUMNS], rows=overview),
    )
    Report(
        sections=[first, *sections], signatures=list(dict.fromkeys(signatures)), values=values
    ).write(job.out)  # fmt: skip


def _tried(task: Mapping[str, Any]) -> str:
    """Which ways of training were tried, and which was taken."""
    text = "".join(f" {label}: {way}." for label, way in task["ways"].items())
    for label, found in task["choices"].items():
        scores = ", ".join(f"{way} {ter:.2f}" for way, ter in found["dev TER"].items())
        text += f" {label}: {found['chosen']} was best on the dev set (TER {scores})."
    return text


def rows_of(job: Job, task: Mapping[str, Any]) -> tuple[list[list[Cell]], dict[str, Any]]:
    """The rows of a task for the page, and its numbers."""
    name: str = task["name"]
    test = triples_of(job.inputs["triples"], "test")
    by_seed: list[dict[str, tuple[Score, ...]]] = []
    dials: dict[str, list[list[float]]] = {}
    choices: dict[str, Any] = {}
    for seed in range(1, job.config["seeds"] + 1):
        outputs: dict[str, list[str]] = {}
        for system in task["systems"]:
            found = read_outputs(job.inputs[f"{system}:{seed}"])
            label = NAMES.get(system, system)
            outputs[label] = found["texts"]
            if found["choice"]:
                choices[label if seed == 1 else f"{label}, seed {seed}"] = found["choice"]
            if "dialled" in found:
                outputs[f"{label}, dial"] = found["dialled"]
                dial = [found["calibration"][key] for key in ("min_edit", "empty_gap_penalty")]
                dials.setdefault(f"{label}, dial", []).append(dial)
        job.tell(f"{name}, seed {seed}")
        by_seed.append({row.name: row.scores for row in judged(outputs, test, samples=job.config["samples"])})
    rows: list[list[Cell]] = []
    numbers: dict[str, dict[str, float]] = {}
    for label in by_seed[0]:
        columns = [[scores[label][i] for scores in by_seed] for i in range(len(by_seed[0][label]))]
        numbers[label] = {column[0].name: _mean([one.value for one in column]) for column in columns}
        cells: list[Cell] = [_shown(column) for column in columns]
        cells += [None] * (len(COLUMNS) - len(cells))
        shown = "; ".join(f"{value:g}, γ {penalty:g}" for value, penalty in dials.get(label, []))
        rows.append([label, *cells, shown or None])
    signatures = [score.signature for score in by_seed[0][DO_NOTHING]]
    known = {
        "rows": _whole(numbers),
        "dials": dials,
        "choices": choices,
        "sentences": len(test),
        "signatures": signatures,
    }
    return rows, known


def _whole(numbers: dict[str, dict[str, float]]) -> dict[str, dict[str, float | None]]:
    """Every column for every row: doing nothing changes nothing."""
    return {label: {name: known.get(name) for name in COLUMNS} for label, known in numbers.items()}


def _shown(scores: Sequence[Score]) -> str:
    """A number for the page: with its interval or, where seeds differ, their mean with the smallest and the largest."""
    score, *others = scores
    if any(other != score for other in others):
        values = [one.value for one in scores]
        return f"{_mean(values):.2f} ({min(values):.2f}–{max(values):.2f} of {len(values)} seeds)"
    text = f"{score.value:.2f}"
    if score.interval is not None:
        text += f" ({score.interval[0]:.2f}–{score.interval[1]:.2f})"
    return text if score.p_value is None else f"{text}, p {score.p_value:.3f}"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _paper(name: str) -> str:
    """What the paper has for the nearest task."""
    near = (
        "ape-en-de"
        if name in ("ape-it-en-de", "wmt17-ape-en-de")
        else name.removeprefix("wmt16-").removeprefix("wmt14-").removeprefix("wat17-")
    )
    if near not in PUBLISHED:
        return ""
    numbers = PUBLISHED[near]
    pairs = [f"{bleu} / {ter}" for bleu, ter in zip(numbers[::2], numbers[1::2], strict=True)]
    labels = [DO_NOTHING, TRANSFORMER, "LevT scratch", ZERO_SHOT, "fine-tuned"]
    named = ", ".join(f"{label} {pair}" for label, pair in zip(labels, pairs, strict=False))
    return f"; the paper has, on its own data (BLEU / TER): {named}"
