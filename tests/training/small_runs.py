"""Tiny runs for the tests of this folder: random rows to copy, networks of a few thousand weights."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from levt.data.pack import Packed
from levt.data.store import Store
from levt.data.write import StoreWriter
from levt.imitation.lessons import Lessons, LevTLessons
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.imitation.teacher_forcing import TeacherForcingLessons
from levt.policy.build import build
from levt.policy.config import AutoregressiveConfig, LevTConfig
from levt.training.config import TrainingConfig
from levt.training.log import read_log
from levt.training.loop import Trainer, Validation

VOCABULARY = 19
SMALL: dict[str, Any] = {
    "source_vocabulary": VOCABULARY, "target_vocabulary": VOCABULARY, "width": 8, "hidden": 16, "heads": 2,
    "encoder_layers": 1, "decoder_layers": 1, "max_length": 32, "dropout": 0.2,
}  # fmt: skip


def copy_store(folder: Path, count: int = 120, *, draft: bool = False, seed: int = 0) -> Store:
    """Random rows; the target is the source, the draft lacks some of it."""
    rng = random.Random(seed)
    source = [[rng.randrange(5, VOCABULARY) for _ in range(rng.randint(1, 8))] for _ in range(count)]
    rows = {"source": source, "target": source}
    if draft:
        noisy = [[t for t in row if rng.random() > 0.3] for row in source]
        rows = {"source": source, "draft": noisy, "target": source}
    folder.mkdir(parents=True, exist_ok=True)
    writer = StoreWriter(folder, dict.fromkeys(rows, (VOCABULARY, "tokenizer")))
    writer.add(rows)
    writer.close()
    return Store.open(folder)


def config(**fields: Any) -> TrainingConfig:
    known = {
        "tokens": 128, "max_steps": 12, "warmup": 4, "learning_rate": 0.01, "log_every": 1, "save_every": 4,
        "validate_every": 4,
    }  # fmt: skip
    return TrainingConfig(**{**known, **fields})


def network(kind: str, seed: int = 0, **fields: Any) -> nn.Module:
    torch.manual_seed(seed)
    make = {"levt": LevTConfig, "ar": AutoregressiveConfig}[kind]
    return build(make(**{**SMALL, **fields}))


def lessons(store: Store, model: nn.Module, tokens: int, roll_in: RollIn | None = None) -> Lessons:
    budget = Packed.fitting(store, target=tokens)
    if model.config.kind == "levt":  # type: ignore[union-attr]
        return LevTLessons(
            store,
            budget,
            model,  # type: ignore[arg-type]
            roll_in=roll_in or RollIn(),
            objective=ObjectiveConfig(),
        )
    return TeacherForcingLessons(store, budget, smoothing=0.1, reads_draft=False)


class Saved:
    """Takes the place of a model folder: remembers what was saved, and the notes."""

    def __init__(self) -> None:
        self.notes: list[Mapping[str, Any]] = []
        self.weights: list[dict[str, Tensor]] = []

    def __call__(self, model: nn.Module, note: Mapping[str, Any]) -> None:
        assert not model.training
        self.notes.append(note)
        self.weights.append({name: p.detach().clone() for name, p in model.named_parameters()})


def trainer(
    store: Store,
    folder: Path,
    training: TrainingConfig,
    *,
    kind: str = "levt",
    validation: Validation | None = None,
    save: Saved | None = None,
    **fields: Any,
) -> Trainer:
    model = network(kind, **fields)
    return Trainer(
        model, lessons(store, model, training.tokens), training, folder, save=save or Saved(), validation=validation
    )  # fmt: skip


def weights(run: Trainer) -> dict[str, Tensor]:
    """Everything that a run carries along, as it is now."""
    return {name: tensor.clone() for name, tensor in run.weights.state().items()}


def same(one: Mapping[str, Tensor], two: Mapping[str, Tensor]) -> bool:
    """Whether two sets of tensors are the same to the last bit."""
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


def at_step(run: Trainer, number: int, action: Callable[[], None]) -> None:
    """Do something right after the weights have taken their so-manieth step."""
    original, made = run.weights.step, [0]

    def step() -> None:
        original()
        made[0] += 1
        if made[0] == number:
            action()

    run.weights.step = step  # type: ignore[method-assign]


def losses(folder: Path) -> list[tuple[float, ...]]:
    records = [r for r in read_log(folder / "log.jsonl") if r["event"] == "train"]
    names = [n for n in ("delete", "placeholder", "token") if n in records[0]]
    return [(r["step"], r["learning_rate"], *(r[name] for name in names)) for r in records]


def score_of(model: nn.Module) -> float:
    """Any number that depends on every weight."""
    return sum(p.detach().abs().sum().item() for p in model.parameters())


VALIDATION = Validation(score_of, "sum")


class Crash(Exception):
    """Power is gone."""


def crash() -> None:
    raise Crash
