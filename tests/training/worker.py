"""What one of several processes does, for the tests of this folder; each function gives what it has found."""

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import torch
from small_runs import SMALL, Saved, config, lessons, score_of, trainer
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter
from torch.distributed.tensor import DTensor

from levt.data.pack import Packed
from levt.data.store import Store
from levt.errors import LevtError
from levt.imitation.lessons import Lessons
from levt.imitation.teacher_forcing import TeacherForcingLessons
from levt.policy.build import build
from levt.policy.config import CONFIGS
from levt.recipes.teaching import TEACHING, teaching_lessons
from levt.training.checkpoint import Record, Standing, checkpoint_path
from levt.training.log import read_log
from levt.training.loop import Trainer, Validation
from levt.training.sharded import ShardedWeights
from levt.training.sharded_checkpoint import ShardedWriter
from levt.training.weights import FlatWeights

Found = dict[str, torch.Tensor]


def gradients(run: Trainer) -> Found:
    """The whole gradient, as it is just before a step."""
    if isinstance(run.weights, FlatWeights):
        return {n: run.weights._view(run.weights.gradient, n).clone() for n in run.weights.names}
    assert isinstance(run.weights, ShardedWeights)
    found = {}
    for name, spread in zip(run.weights.names, run.weights.spread, strict=True):
        gradient = spread.grad
        found[name] = gradient.full_tensor() if isinstance(gradient, DTensor) else torch.zeros(spread.shape)
    return found


def learn(store: Path, out: Path, kind: str, settings: dict[str, Any], **fields: Any) -> Found:
    """A run: its losses and norms by step, its last gradient, its weights, moments' places and saved model."""
    saved, last = Saved(), {}
    validation = Validation(score_of, "number") if fields.pop("validate", False) else None
    run = trainer(
        Store.open(store), out, config(**settings), kind=kind, save=saved, validation=validation, **fields
    )
    original = run.weights.step

    def step() -> None:
        last.update(gradients(run))
        original()

    run.weights.step = step  # type: ignore[method-assign]
    standing = run.run()
    records = [r for r in read_log(out / "log.jsonl") if r["event"] == "train"]
    names = (*run.lessons.names, "gradient_norm", "learning_rate")
    found = {name: torch.tensor([r[name] for r in records], dtype=torch.float64) for name in names}
    found |= {f"gradient.{name}": tensor for name, tensor in last.items()}
    found |= {f"weight.{name}": tensor.clone() for name, tensor in run.weights.whole(averaged=False)}
    found |= {f"average.{name}": tensor.clone() for name, tensor in run.weights.whole()}
    if run.world.first and saved.weights:
        found |= {f"saved.{name}": tensor for name, tensor in saved.weights[-1].items()}
    position = standing.position
    found["standing"] = torch.tensor([standing.step, position.epoch, position.batch * run.world.size])
    held = sum(part.numel() for part in run.weights.masters())
    return {**found, "held": torch.tensor([held])}


def learn_in_pieces(store: Path, out: Path, kind: str, settings: dict[str, Any], stops: list[int]) -> Found:
    """A run that stops at some steps and is begun anew each time."""
    for stop in stops:
        found = learn(store, out, kind, {**settings, "max_steps": stop}, dropout=0.2)
    return found


def end_together(store: Path, out: Path, sharding: str) -> Found:
    """Runs that end by patience and by the clock of the first; all must take the same number of steps."""
    # Only the first has scores.
    left = iter([3.0, 2.0, 1.0])
    validation = Validation(lambda model: next(left), "score")
    settings = config(max_steps=100, patience=2, validate_every=2, sharding=sharding)
    run = trainer(Store.open(store), out / "patience", settings, kind="ar", validation=validation)
    found = {"patience": torch.tensor([run.run().step])}

    began = time.monotonic()
    settings = config(max_steps=100_000, max_minutes=0.01, schedule="linear", sharding=sharding)
    run = trainer(Store.open(store), out / "minutes", settings, kind="ar")
    if not run.world.first:
        run.began += 1000  # a clock that is far behind
    found["minutes"] = torch.tensor([float(run.run().step), float(time.monotonic() - began < 30)])
    return found | {f"weight.{name}": tensor.clone() for name, tensor in run.weights.whole()}


def refusal(store: Path, out: Path, settings: dict[str, Any]) -> Found:
    """What a run is refused with."""
    try:
        trainer(Store.open(store), out, config(**settings))
    except LevtError as error:
        return {"said": torch.tensor(list(json.dumps([type(error).__name__, str(error)]).encode()))}
    return {"said": torch.tensor([0])}


def write_and_go_on(store: Path, out: Path) -> Found:
    """Weights at the moment a checkpoint is begun; they change before it can be written."""
    run = trainer(Store.open(store), out, config(max_steps=1, sharding="shard", ema=0.9))
    run.run()
    found = {name: tensor.clone() for name, tensor in run.weights.whole(averaged=False)}
    writer = ShardedWriter(run.world)
    record = Record(standing=Standing(step=50), identity=run.identity, workers=run.world.size)
    writer.begin(checkpoint_path(out, 50), record, run.weights, after=lambda: None)
    for part in run.weights.masters():
        part.fill_(-7)
    writer.close()
    run.world.barrier()
    return found


def fail_to_write(store: Path, out: Path) -> Found:
    """What is raised where the disk of the second process is full, and whether it is said by both."""
    run = trainer(Store.open(store), out, config(max_steps=8, sharding="shard"))
    original = HuggingFaceStorageWriter.write_data

    def full(self: Any, *args: Any) -> Any:
        if "00000008" in str(self.path) and not run.world.first:
            raise OSError(28, "No space left on device")
        return original(self, *args)

    HuggingFaceStorageWriter.write_data = full  # type: ignore[method-assign]
    try:
        run.run()
    except LevtError as error:
        return {"said": torch.tensor(list(str(error).encode()))}
    return {}


def learn_and_judge(store: Path, out: Path, kind: str, settings: dict[str, Any]) -> Found:
    """A run with a validation; what was saved last is the mean of the last checkpoints."""
    return learn(store, out, kind, settings, validate=True)


KINDS: list[tuple[str, dict[str, Any]]] = [
    ("levt", {"sharing": "none"}),
    ("levt", {"sharing": "plh+tok", "decoder_layers": 2, "delete_exit": 1}),
    ("post-editing", {}),
    ("masked", {}),
    ("denoising", {}),
    ("insertion", {}),
    ("recurrent", {}),
]
"""Every kind of network, and those with towers of their own and an early exit."""


def every_kind(store: Path, out: Path, settings: dict[str, Any], device: str = "cpu", **fields: Any) -> Found:
    """Losses and norms of a few steps of each."""
    found, training = {}, config(**{"micro_batches": 2, "max_steps": 2, "save_every": 100, **settings})
    for number, (kind, own) in enumerate(KINDS):
        made, known = CONFIGS[kind], {field.name for field in dataclasses.fields(CONFIGS[kind])}
        torch.manual_seed(0)
        asked = {**SMALL, **own, **fields}
        model = build(made(**{name: value for name, value in asked.items() if name in known}))
        folder, opened = out / str(number), Store.open(store)
        budget = Packed.fitting(opened, target=training.tokens)
        teaching: Lessons
        if kind == "levt":
            teaching = lessons(opened, model, training.tokens)
        elif kind in TEACHING:
            teaching = teaching_lessons(kind, None, opened, budget, model, smoothing=0.1)
        else:
            reads_draft = kind == "post-editing"
            teaching = TeacherForcingLessons(opened, budget, smoothing=0.1, reads_draft=reads_draft)
        run = Trainer(model, teaching, training, folder, save=Saved(), device=device)
        run.run()
        records = [r for r in read_log(folder / "log.jsonl") if r["event"] == "train"]
        for name in (*teaching.names, "gradient_norm"):
            found[f"{number}.{name}"] = torch.tensor([r[name] for r in records], dtype=torch.float64)
    return found
