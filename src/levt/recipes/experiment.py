"""Experiment: the whole configuration of one training run, and how to run it. A recipe returns one."""

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from levt.data.pack import Packed
from levt.data.prepare import load_tokenizers
from levt.data.store import Store
from levt.engine.batching import Budget
from levt.engine.model import Model
from levt.engine.torch_engine import TorchEngine
from levt.errors import ConfigError, ModelError
from levt.evaluation.metrics import metric
from levt.imitation.lessons import Lessons, LevTLessons
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.imitation.teacher_forcing import TeacherForcingLessons
from levt.policy.build import build
from levt.policy.card import Card
from levt.policy.config import AutoregressiveConfig, LevTConfig, PostEditingConfig, RecurrentConfig
from levt.policy.folder import Tokenizers, load_folder, save_folder
from levt.policy.levt import LevT
from levt.refine.options import Options
from levt.training.checkpoint import Standing
from levt.training.config import TrainingConfig
from levt.training.loop import Trainer, Validation

AnyConfig = LevTConfig | AutoregressiveConfig | PostEditingConfig | RecurrentConfig
UNKNOWN = 5
"""Stands for a vocabulary size that the corpus will tell."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A model, how it is taught, and where everything lies."""

    corpus: Path
    """Folder that ``levt prepare`` or ``levt distill`` has written."""
    out: Path
    """Folder of the run: checkpoints, log, and the best model as ``best``."""
    model: AnyConfig
    """The network; its vocabulary sizes are those of the corpus."""
    roll_in: RollIn = field(default_factory=RollIn)
    """Which states LevT learns from."""
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    """How the losses are made; siblings use its label smoothing."""
    training: TrainingConfig = field(default_factory=TrainingConfig)
    """How long, how fast, how safe."""
    metric: Literal["bleu", "chrf", "ter", "rouge-2"] = "bleu"
    """What selects the best model on the dev set."""
    options: Options = field(default_factory=Options)
    """How LevT decodes the dev set."""
    beam: int = 1
    """How siblings decode the dev set: 1 is greedy."""
    dev_limit: int = 2_000
    """Sentences of the dev set that are decoded, at most."""
    init: Path | None = None
    """Model folder to start from (fine-tuning) instead of random weights."""
    device: str | None = None
    """cpu or cuda; by default the GPU where there is one."""
    name: str = "model"
    """Name of the model in its card."""

    @property
    def where(self) -> str:
        """The device."""
        return self.device or ("cuda" if torch.cuda.is_available() else "cpu")


def run(experiment: Experiment) -> Standing:
    """Train, or go on where a run in the same folder has stopped; gives where it stands in the end."""
    tokenizers = Tokenizers(*load_tokenizers(experiment.corpus))
    store = Store.open(experiment.corpus / "train")
    config = sized(experiment.model, tokenizers)
    torch.manual_seed(experiment.training.seed)
    network = build(config) if experiment.init is None else loaded(experiment.init, config, tokenizers)
    settings = as_json(experiment)
    experiment.out.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(
        network,
        lessons(experiment, store, network),
        experiment.training,
        experiment.out,
        save=lambda model, note: save_best(experiment, model, tokenizers, {**note, "settings": settings}),
        validation=validation(experiment, tokenizers),
        identity={"model": config.to_json(), "corpus": store.fingerprint("target"), "examples": len(store)},
        device=experiment.where,
    )
    if trainer.world.first:
        (experiment.out / "experiment.json").write_text(
            json.dumps(settings, indent=1) + "\n", encoding="utf-8"
        )
    try:
        return trainer.run()
    finally:
        trainer.world.leave()


def sized(config: AnyConfig, tokenizers: Tokenizers) -> AnyConfig:
    """The network with the vocabularies of the tokenizers."""
    if tokenizers.separate and config.joint_embeddings:
        raise ConfigError(
            "the corpus has separate vocabularies, the model joint embeddings",
            hint="--model.no-joint-embeddings",
        )
    return dataclasses.replace(
        config, source_vocabulary=tokenizers.source.size, target_vocabulary=tokenizers.target.size
    )


def loaded(folder: Path, config: AnyConfig, tokenizers: Tokenizers) -> nn.Module:
    """A network to start from; it must be what the experiment describes, in what it can do and read."""
    found = load_folder(folder)
    if found.tokenizers.target != tokenizers.target or found.tokenizers.source != tokenizers.source:
        raise ModelError(
            f"{folder} has another vocabulary than the corpus",
            hint=f"prepare the corpus with --tokenizer {folder / 'tokenizer.json'}",
        )
    model: nn.Module = found.model
    for module in model.modules():
        if isinstance(getattr(module, "dropout", None), float):
            module.dropout = config.dropout  # type: ignore[assignment]
    return model


def lessons(experiment: Experiment, store: Store, network: nn.Module) -> Lessons:
    """What the network is taught with."""
    budget = Packed.fitting(store, target=experiment.training.tokens)
    if isinstance(network, LevT):
        return LevTLessons(store, budget, network, roll_in=experiment.roll_in, objective=experiment.objective)
    smoothing = experiment.objective.label_smoothing
    reads_draft = isinstance(experiment.model, PostEditingConfig)
    return TeacherForcingLessons(store, budget, smoothing=smoothing, reads_draft=reads_draft)


def validation(experiment: Experiment, tokenizers: Tokenizers) -> Validation | None:
    """Decode the dev set and score it; None where the corpus has no dev set."""
    folder = experiment.corpus / "dev"
    if not folder.is_dir():
        return None
    store, chosen = Store.open(folder), metric(experiment.metric)
    rows = range(min(len(store), experiment.dev_limit))
    sources = tokenizers.source.decode_batch([store.source(i).tolist() for i in rows])
    references = tokenizers.target.decode_batch([store.target(i).tolist() for i in rows])
    drafts = None
    if store.has_draft:
        drafts = tokenizers.target.decode_batch(
            [d.tolist() for i in rows if (d := store.draft(i)) is not None]
        )

    def score(network: nn.Module) -> float:
        # Half precision would do on a GPU, but selection should not depend on the device.
        model = Model(TorchEngine(network, tokenizers), Budget(rows=512, tokens=32_768))
        if isinstance(network, LevT):
            settings: dict[str, Any] = dataclasses.asdict(experiment.options)
        else:
            settings = {"beam": experiment.beam}
        if drafts is None or model.kind not in ("levt", "post-editing"):
            results = model.translate(sources, **settings)
        else:
            results = model.refine(sources, draft=drafts, **settings)
        return chosen.score([r.text for r in results], references)

    return Validation(score, chosen.name, chosen.higher_is_better)


def save_best(experiment: Experiment, model: nn.Module, tokenizers: Tokenizers, note: dict[str, Any]) -> None:
    """Write the model folder ``best`` of the run."""
    card = Card(name=experiment.name)
    save_folder(experiment.out / "best", model, tokenizers, card, training=note)


def as_json(experiment: Experiment) -> dict[str, Any]:
    """All settings as JSON values."""
    settings: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(experiment), default=str))
    return {**settings, "kind": experiment.model.kind}
