"""The paper's table of automatic post-editing, with what became of the drafts, and the dial that leaves alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from levt.evaluation.report import DO_NOTHING
from levt.evaluation.score import Score
from levt.recipes.post_editing_judge import judged
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.models import SECONDS
from levt.recipes.reproduce.parts.post_editing_outputs import outputs_step, read_outputs
from levt.recipes.reproduce.parts.post_editing_systems import TRANSFORMER, ZERO_SHOT, Chains
from levt.recipes.reproduce.parts.post_editing_task import PUBLISHED, TASKS, PostEditingTask
from levt.recipes.reproduce.parts.post_editing_texts import triples_of
from levt.recipes.reproduce.parts.sizes import size

TITLE = "Automatic post-editing: BLEU and TER, sentences better and worse"
COLUMNS = ("BLEU", "TER", "changed %", "better %", "worse %")
NAMES = {"scratch": "LevT, scratch", "zero-shot": "LevT, zero-shot", "fine-tuned": "LevT, fine-tuned"}


def goal(setting: Setting) -> Step:
    """Every system on every task."""
    chains = Chains(setting)
    inputs: dict[str, Step] = {}
    for task in TASKS[setting.scale]:
        inputs[f"{task.name}:triples"] = chains.triples(task)
        for system in chains.systems(task):
            for seed in range(1, setting.seeds + 1):
                inputs[f"{task.name}:{system}:{seed}"] = edited(chains, task, system, seed)
    tasks = [
        {"name": task.name, "title": task.title, "system": task.system, "systems": chains.systems(task)}
        for task in TASKS[setting.scale]
    ]
    config = {"tasks": tasks, "seeds": setting.seeds, "samples": samples(setting)}
    return Step(label="post-editing", run=report, inputs=inputs, config=config, seconds=60.0)


def samples(setting: Setting) -> int:
    """Random trials of intervals and p-values."""
    return 100 if setting.scale == "toy" else 1000


def edited(chains: Chains, task: PostEditingTask, system: str, seed: int = 1) -> Step:
    """What a system makes of the test set of a task."""
    setting = chains.setting
    model = chains.system(task, system, seed)
    name = f"{task.name}.{system.lower()}" + (f".seed{seed}" if seed != 1 else "")
    seconds = SECONDS[setting.scale] * (2.0 if system == TRANSFORMER else 10.0)
    return outputs_step(
        f"{name}.edited", model, chains.triples(task), dial=system != TRANSFORMER,
        dev_limit=size(setting.scale).dev_limit, samples=samples(setting), seconds=seconds,
    )  # fmt: skip


def report(job: Job) -> None:
    """A table of all tasks, and one for each."""
    sections: list[Section] = []
    values: dict[str, Any] = {}
    signatures: list[str] = []
    overview: list[list[Cell]] = []
    for task in job.config["tasks"]:
        rows, known = rows_of(job, task)
        values[task["name"]] = known
        signatures += known["signatures"]
        overview += [
            [f"{task['title']} ({task['system']})", row[0], *known["rows"][str(row[0])].values()]
            for row in rows
        ]
        sections.append(
            Section(
                heading=f"{task['title']}, drafts: {task['system']}",
                text=f"{known['sentences']:,} test sentences{_paper(task['name'])}.",
                table=Table(columns=["system", *COLUMNS, "min_edit"], rows=rows),
            )
        )
    text = (
        "Words stand apart as in the data; BLEU counts them so, TER is case-sensitive. Brackets are 95 % bootstrap "
        "intervals, p is against doing nothing. A sentence is better or worse by its own TER. With the dial, an edit "
        "must be as probable as was best on the dev set (`min_edit`; 1 leaves everything as it is)."
    )
    first = Section(
        heading="All systems", text=text, table=Table(columns=["texts", "system", *COLUMNS], rows=overview)
    )
    Report(
        sections=[first, *sections], signatures=list(dict.fromkeys(signatures)), values=values
    ).write(job.out)  # fmt: skip


def rows_of(job: Job, task: Mapping[str, Any]) -> tuple[list[list[Cell]], dict[str, Any]]:
    """The rows of a task for the page, and its numbers."""
    name: str = task["name"]
    test = triples_of(job.inputs[f"{name}:triples"], "test")
    by_seed: list[dict[str, tuple[Score, ...]]] = []
    dials: dict[str, list[float]] = {}
    for seed in range(1, job.config["seeds"] + 1):
        outputs: dict[str, list[str]] = {}
        for system in task["systems"]:
            found = read_outputs(job.inputs[f"{name}:{system}:{seed}"])
            label = NAMES.get(system, system)
            outputs[label] = found["texts"]
            if "dialled" in found:
                outputs[f"{label}, dial"] = found["dialled"]
                dials.setdefault(f"{label}, dial", []).append(found["calibration"]["min_edit"])
        job.tell(f"{name}, seed {seed}")
        by_seed.append({row.name: row.scores for row in judged(outputs, test, samples=job.config["samples"])})
    rows: list[list[Cell]] = []
    numbers: dict[str, dict[str, float]] = {}
    for label in by_seed[0]:
        columns = [[scores[label][i] for scores in by_seed] for i in range(len(by_seed[0][label]))]
        numbers[label] = {column[0].name: _mean([one.value for one in column]) for column in columns}
        cells: list[Cell] = [_shown(column) for column in columns]
        cells += [None] * (len(COLUMNS) - len(cells))
        rows.append([label, *cells, ", ".join(f"{value:g}" for value in dials.get(label, [])) or None])
    signatures = [score.signature for score in by_seed[0][DO_NOTHING]]
    known = {"rows": _whole(numbers), "dials": dials, "sentences": len(test), "signatures": signatures}
    return rows, known


def _whole(numbers: dict[str, dict[str, float]]) -> dict[str, dict[str, float | None]]:
    """Every column for every row: doing nothing changes nothing."""
    return {label: {name: known.get(name) for name in COLUMNS} for label, known in numbers.items()}


def _shown(scores: Sequence[Score]) -> str:
    """A number for the page: with its interval, or the mean of several seeds with the smallest and the largest."""
    values = [score.value for score in scores]
    if len(values) > 1:
        return f"{_mean(values):.2f} ({min(values):.2f}–{max(values):.2f})"
    [score] = scores
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
        else name.replace("wmt16-", "").replace("wmt14-", "")
    )
    if near not in PUBLISHED:
        return ""
    numbers = PUBLISHED[near]
    pairs = [f"{bleu} / {ter}" for bleu, ter in zip(numbers[::2], numbers[1::2], strict=True)]
    labels = [DO_NOTHING, TRANSFORMER, "LevT scratch", ZERO_SHOT, "fine-tuned"]
    named = ", ".join(f"{label} {pair}" for label, pair in zip(labels, pairs, strict=False))
    return f"; the paper has, on its own data (BLEU / TER): {named}"
