"""Figure 5: quality against the most iterations allowed, alone and with an oracle's deletions and placeholders."""

import json
from itertools import pairwise

from levt.evaluation.plot import lines
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.claims import Difference, claims_table, compared
from levt.recipes.reproduce.parts.collaboration import LIMITED, limits_step
from levt.recipes.reproduce.parts.models import Made
from levt.recipes.reproduce.parts.sizes import size

TITLE = "Figure 5: quality against the iteration limit, with and without an oracle"


def goal(setting: Setting) -> Step:
    """Decode Ro-En with LevT distilled under every limit, with each kind of help."""
    made = Made.of("ro-en", setting)
    model = made.model()
    limited = limits_step(
        made.task, setting.scale, model, made.corpus, made.tuned(model), limits=size(setting.scale).limits,
        seconds=16 * made.seconds,
    )  # fmt: skip
    return Step(
        label="timeout",
        run=report,
        light=True,
        version=2,
        inputs={"limited": limited},
        config={"title": made.task.title},
        seconds=2.0,
    )


def report(job: Job) -> None:
    """A plot and its numbers."""
    known = json.loads((job.inputs["limited"] / LIMITED).read_text("utf-8"))
    found: dict[str, dict[str, float]] = known["scores"]
    lines(
        {name: {int(limit): score for limit, score in scores.items()} for name, scores in found.items()},
        job.out / "timeout.png",
        x="most iterations",
        y=known["name"],
    )
    rows: list[list[Cell]] = [[name, *scores.values()] for name, scores in found.items()]
    limits = list(next(iter(found.values())))
    last = limits[-1]
    gains = {
        f"{b}: better than {a}": Difference.between(found[b][last], found[a][last])
        for a, b in pairwise(found)
    }
    alone = found["alone"]
    gains[f"alone: {last} iterations are better than {limits[0]}"] = Difference.between(
        alone[last], alone[limits[0]]
    )
    claims = [compared(claim, None, gain, holds=gain.mean > 0) for claim, gain in gains.items()]
    Report(
        sections=[
            Section(
                heading="The paper's claims",
                text=f"At a limit of {last}, in {known['name']}. The paper has a plot and no numbers: oracle deletion "
                "is a huge gain, and placeholders beside it go even further.",
                table=claims_table(claims),
            ),
            Section(
                heading="Quality against the limit",
                text=f"LevT, distilled; {job.config['title']}; {known['sentences']:,} sentences from all "
                "over the test set; seed 1, γ by the dev set. At every iteration the oracle, who knows the reference, "
                "gives the deletions, or the deletions and the number of placeholders in every gap; the tokens are "
                "the model's.",
                table=Table(columns=["help", *limits], rows=rows),
                picture="timeout.png",
                caption=f"{known['name']} against the most iterations allowed.",
            ),
        ],
        signatures=[f"{known['name']}|{known['signature']}"],
        values=found,
    ).write(job.out)
