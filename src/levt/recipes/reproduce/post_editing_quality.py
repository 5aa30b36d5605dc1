"""Word-level quality estimation as a by-product: which words of a draft LevT would delete, against the post-edits."""

from levt.engine.model import load
from levt.recipes.post_editing_tags import tagged
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.models import SECONDS
from levt.recipes.reproduce.parts.post_editing_systems import FINE_TUNED, SCRATCH, ZERO_SHOT, Chains
from levt.recipes.reproduce.parts.post_editing_task import TASKS
from levt.recipes.reproduce.parts.post_editing_texts import triples_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.reproduce.parts.tuning import BUDGET

TITLE = "Quality estimation: OK and BAD words and gaps of a draft, by LevT's first iteration"
SYSTEMS = (SCRATCH, ZERO_SHOT, FINE_TUNED)


def goal(setting: Setting) -> Step:
    """Every LevT on every real task."""
    chains = Chains(setting)
    real = [task for task in TASKS[setting.scale] if task.real]
    inputs: dict[str, Step] = {}
    for task in real:
        inputs[f"{task.name}:triples"] = chains.triples(task)
        inputs |= {f"{task.name}:{system}": chains.system(task, system) for system in SYSTEMS}
    config = {"tasks": {task.name: task.title for task in real}, "systems": list(SYSTEMS)}
    return Step(
        label="post-editing-quality", run=report, inputs=inputs, config=config,
        seconds=SECONDS[setting.scale] * 4 * len(real),
    )  # fmt: skip


def report(job: Job) -> None:
    """One table."""
    rows: list[list[Cell]] = []
    values: dict[str, dict[str, float]] = {}
    columns: list[str] = []
    for name, title in job.config["tasks"].items():
        dev, test = (triples_of(job.inputs[f"{name}:triples"], split) for split in ("dev", "test"))
        for system in job.config["systems"]:
            job.tell(f"{name}, {system}")
            model = load(job.inputs[f"{name}:{system}"] / MODEL, budget=BUDGET)
            threshold, row = tagged(model, dev, test)
            columns = [score.name for score in row.scores]
            rows.append([title, f"LevT, {system}", *(score.value for score in row.scores), threshold])
            values[f"{name}:{system}"] = {score.name: score.value for score in row.scores} | {
                "threshold": threshold
            }
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
                table=Table(columns=["texts", "system", *columns, "threshold"], rows=rows),
            )
        ],
        values=values,
    ).write(job.out)
