"""Table 2a: which policies share a decoder; and the paper's rivals MaskT and IT, with the Insertion Transformer."""

from pathlib import Path
from typing import Any

from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.averages import Average, verdict
from levt.recipes.reproduce.parts.models import Expert, Made
from levt.recipes.reproduce.parts.scoring import signatures

TITLE = "Table 2a: weight sharing, and other refinement models"

SHARING = ("none", "plh+tok", "tok+del", "all")
RIVALS = {"MaskT": "masked", "IT": "denoising", "Insertion Transformer": "insertion"}
PAPER = {
    ("none", "distilled"): 25.11, ("plh+tok", "distilled"): 27.73, ("tok+del", "distilled"): 24.90,
    ("all", "distilled"): 27.27, ("plh+tok", "oracle"): 25.50, ("all", "oracle"): 25.20,
    ("IT", "distilled"): 21.61, ("MaskT", "distilled"): 26.56,
}  # fmt: skip
EXPERTS: tuple[Expert, ...] = ("oracle", "distilled")


CLOSE = (
    "all oracle", "all distilled", "plh+tok oracle", "plh+tok distilled", "none distilled", "tok+del distilled",
    "MaskT distilled",
)  # fmt: skip
"""Systems about whose order something is claimed: less than one BLEU may decide."""


def goal(setting: Setting) -> Step:
    """Four ways of sharing by two experts, and three rivals on the distilled corpus."""
    made = Made.of("en-de", setting)
    inputs: dict[str, Step | Path] = {}
    for sharing in SHARING:
        for expert in EXPERTS:
            # The default is not named, so that it is the model of table 1.
            fields = {} if sharing == "all" else {"sharing": sharing}
            label = "levt" if sharing == "all" else f"levt-{sharing.replace('+', '-')}"
            for seed in made.close_seeds if f"{sharing} {expert}" in CLOSE else made.seeds:
                model = made.model(expert=expert, seed=seed, label=label, fields=fields)
                inputs[f"{sharing} {expert}/{seed}"] = made.score(made.outputs(model, tuned=True))
    for name, kind in RIVALS.items():
        settings: dict[str, Any] = {"length_beam": 1} if kind == "masked" else {}
        for seed in made.close_seeds if f"{name} distilled" in CLOSE else made.seeds:
            model = made.model(kind, seed=seed, label=name.split()[0].lower())
            inputs[f"{name} distilled/{seed}"] = made.score(made.outputs(model, **settings))
            if kind == "masked":
                beam = made.outputs(model, "length-beam5", length_beam=5)
                inputs[f"MaskT, length beam 5 distilled/{seed}"] = made.score(beam)
    return Step(
        label="sharing", run=report, inputs=inputs, config={"title": made.task.title}, seconds=2.0
    )  # fmt: skip


def report(job: Job) -> None:
    """One table of BLEU, iterations and passes."""
    systems = list(dict.fromkeys(name.rpartition("/")[0] for name in job.inputs))
    found = {system: Average.of(job.inputs, system) for system in systems}

    def score(name: str, expert: str = "distilled") -> float:
        return found[f"{name} {expert}"].mean("bleu")

    rows: list[list[Cell]] = []
    for system, one in found.items():
        name, _, expert = system.rpartition(" ")
        shown = f"LevT, {name} shared" if name in SHARING else name
        rows.append(
            [shown, expert, one.shown("bleu"), one.mean("chrf"), one.mean("iterations"), one.mean("passes"),
             PAPER.get((name, expert))]
        )  # fmt: skip
    order = [(n, score(n)) for n in ("plh+tok", "all", "none")]
    claims: list[list[Cell]] = [
        [*verdict(
            "plh+tok ≥ all ≥ none (distilled)",
            " · ".join(f"{n} {s:.2f}" for n, s in order),
            order[0][1] >= order[1][1] >= order[2][1],
        )],
        [*verdict(
            "LevT > MaskT > IT",
            f"{score('all'):.2f} · {score('MaskT'):.2f} · {score('IT'):.2f}",
            score("all") > score("MaskT") > score("IT"),
        )],
        [*verdict(
            "distilled ≥ oracle, however weights are shared",
            " · ".join(f"{n} {score(n) - score(n, 'oracle'):+.2f}" for n in SHARING),
            all(score(n) >= score(n, "oracle") for n in SHARING),
        )],
    ]  # fmt: skip
    Report(
        sections=[
            Section(
                heading="The paper's claims",
                table=Table(columns=["claim", "ours", "holds"], rows=claims),
            ),
            Section(
                heading="BLEU by sharing",
                text=f"{job.config['title']}. A policy that is not named has a decoder of its own. γ of LevT was "
                "chosen on the dev set; MaskT and IT decode with one length, as the paper compares, and at most 10 "
                "iterations. The rivals stand on our blocks and learn as long as LevT.",
                table=Table(
                    columns=["system", "expert", "BLEU", "chrF", "iterations", "passes", "paper"], rows=rows
                ),
            ),
        ],
        signatures=signatures(*job.inputs.values()),
        values={system: one.mean("bleu") for system, one in found.items()},
    ).write(job.out)
