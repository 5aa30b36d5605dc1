"""Figure 4b: BLEU against speed-up, for LevT(m-n), which deletes after m blocks and opens placeholders after n."""

from collections.abc import Mapping
from typing import Any

from levt.evaluation.plot import scatter
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.averages import SHOWN, Average, with_grounds
from levt.recipes.reproduce.parts.claims import READ, Judge, claims_table, compared, judged, stated
from levt.recipes.reproduce.parts.conditions import conditions
from levt.recipes.reproduce.parts.models import Made
from levt.recipes.reproduce.parts.scoring import signatures
from levt.recipes.reproduce.parts.sizes import size
from levt.recipes.reproduce.parts.timing import read_latency, time_step

TITLE = "Figure 4b: early exit, quality against speed"
EXITS = {
    "toy": ((1, 1), (2, 2)),
    "quick": ((1, 1), (1, 3), (3, 3), (6, 6)),
    "paper": ((1, 1), (1, 3), (3, 3), (6, 6)),
}
"""Blocks for deletion and for placeholders; the last is the whole decoder."""
GREEDY, BEAM = "AR greedy", "AR beam 4"


def goal(setting: Setting) -> Step:
    """Train LevT distilled with each pair of exits; time all beside the Transformer."""
    made = Made.of("ro-en", setting)
    whole = size(setting.scale).model["decoder_layers"]
    scores: dict[str, Step] = {}
    timed: dict[str, tuple[Step, Mapping[str, Any], Step | None]] = {}
    for seed in made.seeds:
        baseline = made.baseline(seed)
        scores[f"{GREEDY}/{seed}"] = made.score(made.outputs(baseline, "greedy", beam=1))
        scores[f"{BEAM}/{seed}"] = made.score(made.outputs(baseline, "beam4", beam=4))
        if seed == 1:
            timed = {GREEDY: (baseline, {"beam": 1}, None), BEAM: (baseline, {"beam": 4}, None)}
        for delete, placeholder in EXITS[setting.scale]:
            fields = {}
            if (delete, placeholder) != (whole, whole):  # the whole decoder is the model of table 1
                fields = {"delete_exit": delete, "placeholder_exit": placeholder}
            label = f"levt-{delete}-{placeholder}" if fields else "levt"
            model = made.model(seed=seed, label=label, fields=fields)
            name = f"LevT({delete}-{placeholder})"
            scores[f"{name}/{seed}"] = made.score(made.outputs(model, tuned=True))
            if seed == 1:
                timed[name] = (model, {}, made.tuned(model))
    latency = time_step("early-exit.latency", timed, made.corpus, seconds=size(setting.scale).timing)
    return Step(
        label="early-exit",
        run=report,
        version=2,
        light=True,
        inputs={**with_grounds(scores), "latency": latency, "corpus": made.corpus},
        config={
            "title": made.task.title,
            "conditions": conditions(made, left_to_right=True),
            "judged": judged(made),
        },
        seconds=10.0,
    )


def report(job: Job) -> None:
    """A plot and its numbers."""
    latency = read_latency(job.inputs["latency"])
    times: dict[str, dict[str, float]] = latency["systems"]
    found = {name: Average.of(job.inputs, name) for name in times}
    speed = {name: times[BEAM]["mean"] / taken["mean"] for name, taken in times.items()}
    scatter(
        {name: (speed[name], one.mean("bleu")) for name, one in found.items()},
        job.out / "speed.png", x="times as fast as AR beam 4", y="BLEU",
    )  # fmt: skip
    rows: list[list[Cell]] = [
        [
            name, len(one.seeds), one.shown("bleu"), one.mean("iterations"), one.mean("passes"), one.gamma,
            times[name]["mean"], times[name]["p50"], times[name]["p95"], f"×{speed[name]:.2f}",
        ]
        for name, one in found.items()
    ]  # fmt: skip
    columns = ["system", "seeds", "BLEU", "iterations", "passes", "γ", "ms", "p50", "p95", "speed"]
    judge = Judge.of(job.inputs["corpus"], job.config["judged"])
    *early, whole = (name for name in found if name not in (GREEDY, BEAM))
    first = max(early, key=lambda name: speed[name])
    lost = judge.difference(found[first], found[whole])
    claims = [
        stated(
            f"early exit is faster: {first}, the fastest, than {whole}",
            None,
            f"×{speed[first]:.2f} against ×{speed[whole]:.2f}",
            holds=speed[first] > speed[whole],
        ),
        stated("up to 5 times as fast as beam 4", "×5", f"×{speed[first]:.2f}", holds=speed[first] >= 5),
        compared(
            f"{first} loses a bit (less than 1 BLEU) to {whole}", None, lost, holds=lost.mean > -1, bound=-1.0
        ),
    ]
    Report(
        sections=[
            Section(heading="The paper's claims", text=READ, table=claims_table(claims)),
            Section(
                heading="BLEU against speed-up",
                text=f"{job.config['title']}. {job.config['conditions']}\n\nTimes are of one text at a time with the "
                f"engine `{latency['engine']}`, all in turns over the same texts, models of seed 1: mean, median and "
                f"95th percentile; speed is against AR beam 4, by the means. {SHOWN} LevT(m-n) deletes after m blocks "
                "and opens placeholders after n; tokens always see the whole decoder. "
                "The paper has a plot and few numbers: up to ×5 against beam search at a small loss.",
                table=Table(columns=columns, rows=rows),
                picture="speed.png",
                caption="BLEU against speed, beam search with 4 hypotheses being 1.",
            ),
        ],
        signatures=signatures(*job.inputs.values()),
        values={name: {"bleu": one.mean("bleu"), "speed": speed[name]} for name, one in found.items()},
    ).write(job.out)
