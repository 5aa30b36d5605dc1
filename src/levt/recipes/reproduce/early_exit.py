"""Figure 4b: BLEU against speed-up, for LevT(m-n), which deletes after m blocks and opens placeholders after n."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from levt.evaluation.plot import scatter
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.averages import Average
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
    inputs: dict[str, Step | Path] = {}
    timed: dict[str, tuple[Step, Mapping[str, Any], Step | None]] = {}
    for seed in made.seeds:
        baseline = made.baseline(seed)
        inputs[f"{GREEDY}/{seed}"] = made.score(made.outputs(baseline, "greedy", beam=1))
        inputs[f"{BEAM}/{seed}"] = made.score(made.outputs(baseline, "beam4", beam=4))
        if seed == 1:
            timed = {GREEDY: (baseline, {"beam": 1}, None), BEAM: (baseline, {"beam": 4}, None)}
        for delete, placeholder in EXITS[setting.scale]:
            fields = {}
            if (delete, placeholder) != (whole, whole):  # the whole decoder is the model of table 1
                fields = {"delete_exit": delete, "placeholder_exit": placeholder}
            label = f"levt-{delete}-{placeholder}" if fields else "levt"
            model = made.model(seed=seed, label=label, fields=fields)
            name = f"LevT({delete}-{placeholder})"
            inputs[f"{name}/{seed}"] = made.score(made.outputs(model, tuned=True))
            if seed == 1:
                timed[name] = (model, {}, made.tuned(model))
    inputs["latency"] = time_step(
        "early-exit.latency", timed, made.corpus, seconds=size(setting.scale).timing
    )
    return Step(
        label="early-exit", run=report, inputs=inputs, config={"title": made.task.title}, seconds=2.0
    )  # fmt: skip


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
            name, one.shown("bleu"), one.mean("iterations"), one.mean("passes"), times[name]["mean"],
            times[name]["p50"], times[name]["p95"], f"×{speed[name]:.2f}",
        ]
        for name, one in found.items()
    ]  # fmt: skip
    columns = ["system", "BLEU", "iterations", "passes", "ms", "p50", "p95", "speed"]
    Report(
        sections=[
            Section(
                heading="BLEU against speed-up",
                text=f"{job.config['title']}. One text at a time with the engine `{latency['engine']}`, all in turns. "
                "LevT(m-n) deletes after m blocks and opens placeholders after n; tokens always see the whole decoder. "
                "The paper reports up to ×5 against beam search at a small loss.",
                table=Table(columns=columns, rows=rows),
                picture="speed.png",
                caption="BLEU against speed, beam search with 4 hypotheses being 1.",
            )
        ],
        signatures=signatures(*(path for name, path in job.inputs.items() if name != "latency")),
        values={name: {"bleu": one.mean("bleu"), "speed": speed[name]} for name, one in found.items()},
    ).write(job.out)
