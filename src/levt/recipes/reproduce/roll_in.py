"""Table 2b: learning to delete from the model's own insertions (ours) or from corrupted targets (DAE)."""

import json
from pathlib import Path
from typing import Any

from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.averages import SHOWN, Average, with_grounds
from levt.recipes.reproduce.parts.claims import READ, Judge, claims_table, compared, judged, stated
from levt.recipes.reproduce.parts.conditions import conditions
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
    scores: dict[str, Step] = {}
    losses: dict[str, Step | Path] = {}
    for seed in made.close_seeds:
        for name, roll_in in SYSTEMS.items():
            label = "levt" if not roll_in else "levt-dae"
            model = made.model(expert="oracle", seed=seed, label=label, roll_in=roll_in)
            scores[f"{name}/{seed}"] = made.score(made.outputs(model, tuned=True))
            for states, other in SYSTEMS.items():
                losses[f"loss {name} on {states}/{seed}"] = loss_step(model, made.corpus, other, states)
    return Step(
        label="roll-in",
        run=report,
        version=2,
        light=True,
        inputs={**with_grounds(scores), **losses, "corpus": made.corpus},
        config={
            "title": made.task.title,
            "conditions": conditions(made, students=False),
            "judged": judged(made),
        },
        seconds=10.0,
    )


def report(job: Job) -> None:
    """BLEU and the loss of the delete policy, on its own states and on those of the other."""
    found = {name: Average.of(job.inputs, name) for name in SYSTEMS}
    judge = Judge.of(job.inputs["corpus"], job.config["judged"])
    loss = {
        (name, states): _mean_loss(job, f"loss {name} on {states}") for name in SYSTEMS for states in SYSTEMS
    }
    rows: list[list[Cell]] = [
        [
            name, len(one.seeds), one.shown("bleu"), one.mean("chrf"), one.mean("iterations"), one.gamma,
            f"{loss[name, name]:.3f}", f"{loss[name, 'ours']:.3f}", PAPER[name][0], f"{PAPER[name][1]:.3f}",
        ]
        for name, one in found.items()
    ]  # fmt: skip
    bleu = judge.difference(found["ours"], found["DAE"])
    claims = [
        compared("ours > DAE", f"{PAPER['ours'][0]} against {PAPER['DAE'][0]}", bleu, holds=bleu.mean > 0),
        stated(
            "although DAE's deletion loss is lower",
            f"{PAPER['DAE'][1]} against {PAPER['ours'][1]}",
            f"{loss['DAE', 'DAE']:.3f} against {loss['ours', 'ours']:.3f}",
            holds=loss["DAE", "DAE"] < loss["ours", "ours"],
        ),
        stated(
            "but not on what the model inserts (the paper's conjecture)",
            None,
            f"{loss['DAE', 'ours']:.3f} against {loss['ours', 'ours']:.3f}",
            holds=loss["DAE", "ours"] > loss["ours", "ours"],
        ),
    ]
    columns = [
        "roll-in", "seeds", "BLEU", "chrF", "iterations", "γ", "NLL(del), own states",
        "NLL(del), the model's insertions", "paper", "paper NLL(del)",
    ]  # fmt: skip
    Report(
        sections=[
            Section(heading="The paper's claims", text=READ, table=claims_table(claims)),
            Section(
                heading="BLEU and deletion loss",
                text=f"LevT from the references; {job.config['title']}. NLL(del) is the mean negative log-likelihood "
                "of the oracle's deletions on the dev set, in nats per token and without smoothing, a mean over seeds: "
                "on states of the roll-in that the model was taught with, and on those that the model itself fills. "
                "*DAE* learns to delete from targets in which some tokens were replaced, repeated or swapped. "
                f"{job.config['conditions']} {SHOWN}",
                table=Table(columns=columns, rows=rows),
            ),
        ],
        signatures=signatures(*job.inputs.values()),
        values={
            "bleu": {name: one.mean("bleu") for name, one in found.items()},
            "loss": {f"{a} on {b}": value for (a, b), value in loss.items()},
        },
    ).write(job.out)


def _mean_loss(job: Job, prefix: str) -> float:
    known = [
        float(json.loads((path / LOSS).read_text("utf-8"))["delete"])
        for name, path in job.inputs.items()
        if name.rpartition("/")[0] == prefix
    ]
    return sum(known) / len(known)
