"""The step in which a system edits the test set of a task: ``OUT/outputs.json``.

For LevT also with the dial: ``min_edit`` and γ are calibrated on the dev set and the test set is edited once more.
"""

from dataclasses import asdict
from typing import Any

from levt.engine.model import Model, load
from levt.engine.result import Result
from levt.recipes.post_editing_dial import LEAVE_ALONE, Calibration, calibrate_model
from levt.recipes.post_editing_triples import Triples
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.decoding import OUTPUTS
from levt.recipes.reproduce.parts.post_editing_texts import HELD_OUT, triples_of
from levt.recipes.reproduce.parts.post_editing_training import choice_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.reproduce.parts.tuning import BUDGET
from levt.recipes.shards import write_whole

VALUES = (0.0, 0.5, 0.8, 0.9, 0.96, 0.99)
"""Of the dial."""
PENALTIES = (0.0, 1.0, 2.0)
"""Of γ."""
BEAM = 4
"""Of the Transformer, as in the paper."""


def outputs_step(
    label: str, model: Step, triples: Step, *, dial: bool, dev_limit: int, samples: int, seconds: float,
    plain: bool = False,
) -> Step:  # fmt: skip
    """Edit the test set of some triples; ``plain``: a LevT by Algorithm 2 alone, which reads nothing again."""
    config = {
        "dial": dial,
        "dev_limit": dev_limit,
        "samples": samples,
        "values": list(VALUES),
        "penalties": list(PENALTIES),
        "level": 0.05,
    }
    if plain:
        config["reread"] = False
    return Step(
        label=label,
        run=post_edit,
        inputs={"model": model, "triples": triples},
        parts={"triples": HELD_OUT},
        config=config if dial else {"dial": False},
        version=2 if dial else 1,  # the level is shared among all values tried
        seconds=seconds,
        light=True,
    )


def post_edit(job: Job) -> None:
    """Write ``outputs.json``."""
    test = triples_of(job.inputs["triples"], "test")
    model = load(job.inputs["model"] / MODEL, engine="torch", budget=BUDGET)
    how = {name: job.config[name] for name in ("reread",) if name in job.config}
    results = refined(model, test, **how)
    known: dict[str, Any] = {
        "texts": [result.text for result in results],
        "iterations": sum(result.iterations for result in results) / len(results),
        "passes": sum(result.passes for result in results) / len(results),
        "choice": choice_of(job.inputs["model"]),
    }
    if job.config["dial"]:
        dev = triples_of(job.inputs["triples"], "dev", job.config["dev_limit"])
        settings = {name: job.config[name] for name in ("values", "penalties", "level", "samples")}
        found = calibrate_model(model, dev, progress=job.tell, **settings, **how)
        known["calibration"] = asdict(found)
        known["dialled"] = dialled(model, test, found, **how)
    write_whole(job.out / OUTPUTS, known)


def refined(model: Model, triples: Triples, **settings: Any) -> list[Result]:
    """The results of a model of either kind."""
    if model.kind != "levt":
        settings = {"beam": BEAM, **settings}
    return model.refine(triples.sources, draft=triples.drafts, **settings)


def dialled(model: Model, triples: Triples, found: Calibration, **how: Any) -> list[str]:
    """The texts with a calibrated dial; where nothing is to be edited, the drafts as they are."""
    if found.min_edit == LEAVE_ALONE:
        return triples.drafts
    settings = {"min_edit": found.min_edit, "empty_gap_penalty": found.empty_gap_penalty, **how}
    return [result.text for result in refined(model, triples, **settings)]
