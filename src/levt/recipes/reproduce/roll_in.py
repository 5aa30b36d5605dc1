"""Table 2b: learning to delete from the model's own insertions (ours) or from corrupted targets (DAE)."""

import json
from pathlib import Path
from typing import Any

from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.averages import Average, verdict
from levt.recipes.reproduce.parts.deletion_loss import LOSS, loss_step
from levt.recipes.reproduce.parts.models import Made
from levt.recipes.reproduce.parts.scoring import signatures

TITLE = "Table 2b: roll-in policies"
SYSTEMS: dict[str, dict[str, Any]] = {"ours": {}, "DAE": {"deletion": "noise"}}
"""How states to delete from are made; the default is the paper's."""
PAPER = {"ours": (33.02, 0.202), "DAE": (31.78, 0.037)}


def goal(setting: Setting) -> Step:
    """LevT from the references, with both roll-ins."""
    made = Made.of("ro-en", setting)
    inputs: dict[str, Step | Path] = {}
    for seed in made.close_seeds:
        for name, roll_in in SYSTEMS.items():
            label = "levt" if not roll_in else "levt-dae"
            model = made.model(expert="oracle", seed=seed, label=label, roll_in=roll_in)
            inputs[f"{name}/{seed}"] = made.score(made.outputs(model, tuned=True))
            for states, other in SYSTEMS.items():
                inputs[f"loss {name} on {states}/{seed}"] = loss_step(model, made.corpus, other, states)
    return Step(
        label="roll-in", run=report, inputs=inputs, config={"title": made.task.title}, seconds=2.0
    )  # fmt: skip


def report(job: Job) -> None:
    """BLEU and the loss of the delete policy, on its own states and on those of the other."""
    found = {name: Average.of(job.inputs, name) for name in SYSTEMS}
    loss = {
        (name, states): _mean_loss(job, f"loss {name} on {states}") for name in SYSTEMS for states in SYSTEMS
    }
    rows: list[list[Cell]] = [
        [
            name, one.shown("bleu"), one.mean("chrf"), one.mean("iterations"), f"{loss[name, name]:.3f}",
            f"{loss[name, 'ours']:.3f}", PAPER[name][0], f"{PAPER[name][1]:.3f}",
        ]
        for name, one in found.items()
    ]  # fmt: skip
    bleu = {name: one.mean("bleu") for name, one in found.items()}
    claims: list[list[Cell]] = [
        [*verdict("ours > DAE", f"{bleu['ours']:.2f} against {bleu['DAE']:.2f}", bleu["ours"] > bleu["DAE"])],
        [
            *verdict(
                "although DAE's deletion loss is lower",
                f"{loss['DAE', 'DAE']:.3f} against {loss['ours', 'ours']:.3f}",
                loss["DAE", "DAE"] < loss["ours", "ours"],
            )
        ],
    ]
    columns = [
        "roll-in", "BLEU", "chrF", "iterations", "NLL(del), own states", "NLL(del), the model's insertions", "paper",
        "paper NLL(del)",
    ]  # fmt: skip
    Report(
        sections=[
            Section(
                heading="The paper's claims", table=Table(columns=["claim", "ours", "holds"], rows=claims)
            ),
            Section(
                heading="BLEU and deletion loss",
                text=f"LevT from the references; {job.config['title']}; γ chosen on the dev set. NLL(del) is the mean "
                "negative log-likelihood of the oracle's deletions on the dev set, without smoothing: on states of the "
                "roll-in that the model was taught with, and on those that the model itself fills.",
                table=Table(columns=columns, rows=rows),
            ),
        ],
        signatures=signatures(*(path for name, path in job.inputs.items() if not name.startswith("loss"))),
        values={"bleu": bleu, "loss": {f"{a} on {b}": value for (a, b), value in loss.items()}},
    ).write(job.out)


def _mean_loss(job: Job, prefix: str) -> float:
    known = [
        float(json.loads((path / LOSS).read_text("utf-8"))["delete"])
        for name, path in job.inputs.items()
        if name.rpartition("/")[0] == prefix
    ]
    return sum(known) / len(known)
