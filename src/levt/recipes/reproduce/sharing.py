"""Table 2a: which policies share a decoder; and the paper's rivals MaskT and IT, with the Insertion Transformer."""

from itertools import pairwise
from typing import Any

from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.averages import SHOWN, Average, with_grounds
from levt.recipes.reproduce.parts.claims import READ, Judge, Row, against, claims_table, compared, judged
from levt.recipes.reproduce.parts.conditions import conditions
from levt.recipes.reproduce.parts.models import Expert, Made
from levt.recipes.reproduce.parts.scoring import SCORES, signatures

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
    "all oracle", "all distilled", "plh+tok oracle", "plh+tok distilled", "tok+del distilled", "none distilled",
    "MaskT distilled",
)  # fmt: skip
"""Systems about whose order something is claimed, and less than one BLEU may decide, in the paper or here."""
SEARCHED = "MaskT, length beam 5"


def goal(setting: Setting) -> Step:
    """Four ways of sharing by two experts, and three rivals on the distilled corpus."""
    made = Made.of("en-de", setting)
    scores: dict[str, Step] = {}
    for sharing in SHARING:
        for expert in EXPERTS:
            # The default is not named, so that it is the model of table 1.
            fields = {} if sharing == "all" else {"sharing": sharing}
            label = "levt" if sharing == "all" else f"levt-{sharing.replace('+', '-')}"
            for seed in made.close_seeds if f"{sharing} {expert}" in CLOSE else made.seeds:
                model = made.model(expert=expert, seed=seed, label=label, fields=fields)
                scores[f"{sharing} {expert}/{seed}"] = made.score(made.outputs(model, tuned=True))
    for name, kind in RIVALS.items():
        settings: dict[str, Any] = {"length_beam": 1} if kind == "masked" else {}
        for seed in made.close_seeds if f"{name} distilled" in CLOSE else made.seeds:
            model = made.model(kind, seed=seed, label=name.split()[0].lower())
            scores[f"{name} distilled/{seed}"] = made.score(made.outputs(model, **settings))
            if kind == "masked":
                beam = made.outputs(model, "length-beam5", length_beam=5)
                scores[f"{SEARCHED} distilled/{seed}"] = made.score(beam)
    return Step(
        label="sharing",
        run=report,
        version=3,
        light=True,
        inputs={**with_grounds(scores), "corpus": made.corpus},
        config={"title": made.task.title, "conditions": conditions(made), "judged": judged(made)},
        seconds=20.0,
    )


def report(job: Job) -> None:
    """One table of BLEU, iterations and passes."""
    systems = list(
        dict.fromkeys(name.rpartition("/")[0] for name in job.inputs if (job.inputs[name] / SCORES).is_file())
    )
    found = {system: Average.of(job.inputs, system) for system in systems}
    judge = Judge.of(job.inputs["corpus"], job.config["judged"])
    rows: list[list[Cell]] = []
    for system, one in found.items():
        name, _, expert = system.rpartition(" ")
        shown = f"LevT, {name} shared" if name in SHARING else name
        rows.append(
            [shown, expert, len(one.seeds), one.shown("bleu"), one.mean("chrf"), one.mean("iterations"),
             one.mean("passes"), one.gamma, PAPER.get((name, expert))]
        )  # fmt: skip

    def claim(relation: str, one: tuple[str, str], other: tuple[str, str]) -> Row:
        difference = judge.difference(found[" ".join(one)], found[" ".join(other)])
        holds = difference.mean >= 0 if relation == "≥" else difference.mean > 0
        paper = against(PAPER, one, other)
        said = f"{'' if paper else '(ours) '}{' '.join(one)} {relation} {' '.join(other)}"
        return compared(said, paper, difference, holds=holds)

    def taught(*names: str) -> list[tuple[str, str]]:
        return [(name, "distilled") for name in names]

    claims = [
        *(claim("≥", a, b) for a, b in pairwise(taught("plh+tok", "all", "none"))),
        claim("≥", ("plh+tok", "oracle"), ("all", "oracle")),
        claim("≥", *taught("plh+tok", "tok+del")),
        *(claim(">", a, b) for a, b in pairwise(taught("all", "MaskT", "IT"))),
        claim(">", *taught("all", "IT")),
        *(claim(">", a, b) for a, b in pairwise(taught("all", SEARCHED, "IT"))),
        *(claim("≥", (name, "distilled"), (name, "oracle")) for name in SHARING),
    ]
    Report(
        sections=[
            Section(
                heading="The paper's claims",
                text=f"*none*, *plh+tok*, *tok+del* and *all* are what LevT shares. {READ}",
                table=claims_table(claims),
            ),
            Section(
                heading="BLEU by sharing",
                text=f"{job.config['title']}. A policy that is not named has a decoder of its own: *none* has three, "
                "*plh+tok* and *tok+del* have two, so more weights, but none of them more layers to pass. MaskT and "
                "IT decode with one length, as LevT does with one draft, all rivals with at most 10 iterations; five "
                "lengths are decoded side by side, and a pass over all of them counts once. The rivals stand "
                "on our blocks and learn as long as LevT, but nothing of theirs beside the checkpoint was chosen on "
                f"the dev set; the paper's numbers of IT and MaskT are their authors'. {job.config['conditions']} "
                f"{SHOWN}",
                table=Table(
                    columns=[
                        "system",
                        "expert",
                        "seeds",
                        "BLEU",
                        "chrF",
                        "iterations",
                        "passes",
                        "γ",
                        "paper",
                    ],
                    rows=rows,
                ),
            ),
        ],
        signatures=signatures(*job.inputs.values()),
        values={system: one.mean("bleu") for system, one in found.items()},
    ).write(job.out)
