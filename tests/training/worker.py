"""One of two processes, for test_parallel.py: trains, then writes what it has to the folder it was given."""

import sys
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from small_runs import config, lessons, network, trainer

from levt.data.store import Store
from levt.imitation.roll_in import RollIn
from levt.training.feed import Micro, Position
from levt.training.loop import Validation
from levt.training.parallel import World
from levt.training.stepper import Stepper
from levt.training.weights import FlatWeights

STEPS = 3


def stepped(store: Store, world: World) -> dict[str, torch.Tensor]:
    """Weights after a few steps of LevT: two micro-batches a step, shared by however many processes there are."""
    model = network("levt", dropout=0.0)
    settings = config(clip=1.0)
    weights = FlatWeights(model, settings, torch.float32)
    teaching = lessons(store, model, 160, RollIn(fill="argmax"))
    micros = []
    for i in range(2 * STEPS):
        arrays, decisions = teaching.make(np.arange(15 * i, 15 * i + 15), np.random.default_rng(i))
        buffer = torch.from_numpy(np.concatenate(list(arrays.values())))
        micros.append(Micro(buffer, decisions, 0, Position()))
    sizes = {name: len(array) for name, array in arrays.items()}
    stepper = Stepper(teaching.objective(model), weights, sizes, 3, settings, world)
    norms = []
    for step in range(STEPS):
        mine = micros[2 * step : 2 * step + 2][world.rank :: world.size]
        stepper.step(step + 1, 0.01, mine)
        norms.append(weights.norm.clone())
    return {"master": weights.master.data.clone(), "norms": torch.stack(norms), "sums": stepper.read()}


def trained(store: Store, out: Path, accumulate: int) -> dict[str, torch.Tensor]:
    """Weights of a whole run of the autoregressive model, in which nothing is random."""
    settings = config(
        max_steps=3, accumulate=accumulate
    )  # less than an epoch: its last batches are shared out
    run = trainer(store, out, settings, kind="ar", dropout=0.0)
    run.run()
    return {"master": run.weights.master.data.clone()}


def main(store: Store, out: Path) -> None:
    world = World.join(torch.device("cpu"))
    found = {f"stepped.{name}": tensor for name, tensor in stepped(store, world).items()}
    accumulate = 2 // world.size
    found |= {f"trained.{k}": v for k, v in trained(store, out / "trained", accumulate).items()}

    # Both lose their patience together, though only the first has scores.
    left = iter([3.0, 2.0, 1.0])
    validation = Validation(lambda model: next(left), "score")
    settings = config(max_steps=100, patience=2, validate_every=2, accumulate=accumulate)
    run = trainer(store, out / "patience", settings, kind="ar", validation=validation)
    found["patience"] = torch.tensor([run.run().step])

    # Both end by the clock of the first, whose seconds are longer.
    began = time.monotonic()
    settings = config(max_steps=100_000, max_minutes=0.02, schedule="linear", accumulate=accumulate)
    run = trainer(store, out / "minutes", settings, kind="ar")
    if not world.first:
        run.began += 1000  # a clock that is far behind
    found["minutes"] = torch.tensor([float(run.run().step), float(time.monotonic() - began < 30)])
    found["clock.master"] = run.weights.master.data.clone()
    save_file(found, out / f"rank{world.rank}-of-{world.size}.safetensors")
    world.leave()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Store.open(sys.argv[1]), Path(sys.argv[2]))
