"""The step that measures how well a LevT knows what to delete: ``OUT/loss.json``, on states of a roll-in."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from levt.data.batches import Batches
from levt.data.order import Order
from levt.data.pack import Packed
from levt.data.store import Store
from levt.imitation.lessons import LevTLessons
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.policy.folder import load_folder
from levt.policy.levt import LevT
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.prepare import CORPUS
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.shards import write_whole

LOSS = "loss.json"
TOKENS = 4_096
BATCHES = 8
"""Batches of the dev set that are looked at, at most: some thousands of decisions."""


def loss_step(model: Step, corpus: Step, roll_in: Mapping[str, Any], states: str) -> Step:
    """The losses of a model on the states of a roll-in, over the dev set."""
    return Step(
        label=f"{model.label}.loss-on-{states}",
        run=measure_loss,
        inputs={"model": model, "corpus": corpus},
        config={"roll_in": dict(roll_in), "seed": 1},
        seconds=10.0,
        light=True,
    )


def measure_loss(job: Job) -> None:
    """Write ``loss.json``: mean negative log-likelihood of each policy, without smoothing."""
    # On the CPU in single precision: the numbers are few, and do not depend on a kernel.
    network = load_folder(job.inputs["model"] / MODEL).model
    assert isinstance(network, LevT)
    store = Store.open(job.inputs["corpus"] / CORPUS / "dev")
    longest = max(store.longest(field) for field in store.fields) + 2
    budget = Packed.fitting(store, target=max(TOKENS, longest))
    plain = ObjectiveConfig(label_smoothing=0.0, decision_smoothing=0.0)
    lessons = LevTLessons(store, budget, network, roll_in=RollIn(**job.config["roll_in"]), objective=plain)
    objective = lessons.objective(network).eval()
    seed = job.config["seed"]
    torch.manual_seed(seed)
    draw = np.random.default_rng(seed)
    sums, counts = np.zeros(3), np.zeros(3)
    for number, rows in enumerate(Batches(store, budget, order=Order(seed=seed)).plan(0)):
        if number == BATCHES:
            break
        lesson, decisions = lessons.make(rows, draw)
        with torch.no_grad():
            _, losses = objective(
                {name: torch.from_numpy(values) for name, values in lesson.items()},
                torch.from_numpy(decisions),
            )
        sums += losses.double().numpy()[:3]
        counts += decisions[:3]
    means = sums / np.maximum(counts, 1)
    write_whole(
        job.out / LOSS, dict(zip(("delete", "placeholder", "token"), means.tolist(), strict=True)), indent=1
    )
