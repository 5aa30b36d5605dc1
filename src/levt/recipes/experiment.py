"""Experiment: the whole configuration of one training run, and how to run it. A recipe returns one."""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from levt.data.mixture import Mixture
from levt.data.pack import Packed
from levt.data.prepare import check_corpus, load_tokenizers
from levt.data.sample import spread
from levt.data.store import Store
from levt.engine.batching import Budget
from levt.engine.model import Model
from levt.engine.torch_engine import TorchEngine, device_named
from levt.errors import FLAGS, ConfigError, raise_all
from levt.evaluation.metrics import metric
from levt.evaluation.scorers import Tokenize
from levt.imitation.lessons import Lessons, LevTLessons
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.imitation.teacher_forcing import TeacherForcingLessons
from levt.policy.build import build
from levt.policy.card import Card
from levt.policy.config import LevTConfig, ModelConfig, PostEditingConfig
from levt.policy.folder import Tokenizers, save_folder
from levt.policy.levt import LevT
from levt.recipes.beginning import loaded
from levt.recipes.going_on import DEV_SET, SETTINGS, changes_told, dev_set
from levt.recipes.shards import write_whole
from levt.recipes.teaching import TEACHING, Teaching, check_kind, teaching_lessons
from levt.refine.decoders import options_of
from levt.refine.options import Options
from levt.text.tokenizer import Tokenizer
from levt.training.checkpoint import Standing
from levt.training.config import TrainingConfig
from levt.training.loop import GO_ON, Trainer, Validation
from levt.training.parallel import World

AnyConfig = ModelConfig
FINISHED = "finished.json"
"""The settings of a run that has reached its end, and what its texts were."""
EXAMPLES = "examples"
"""Its name there for the identity of what was learnt from; runs of an older levt have none."""
REFINES = ("levt", "post-editing")
"""Kinds that refine the drafts of a dev set where it has any; the others write from nothing."""
UNKNOWN = 5
"""Stands for a vocabulary size that the corpus will tell."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A model, how it is taught, and where everything lies."""

    corpus: Path
    """Folder that `levt prepare` or `levt distill` has written."""
    out: Path
    """Folder of the run: checkpoints, log, and the best model as `best`."""
    times: int = 1
    """How often each training example of the corpus counts, where more are mixed in."""
    more: tuple[Path, ...] = ()
    """Other corpora with the same tokenizer whose training examples are mixed in, once each (synthetic ones, say)."""
    repair: tuple[Path, ...] = ()
    """More such corpora, always begun from made-up drafts (roll-in.drafts): LevT learns to leave good text alone."""
    model: AnyConfig
    """The network; its vocabulary sizes are those of the corpus."""
    roll_in: RollIn = field(default_factory=RollIn)
    """Which states LevT learns from."""
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    """How the losses are made; siblings use its label smoothing."""
    teaching: Teaching | None = None
    """How a kind is taught that writes all tokens at once and is not LevT; None: as its settings are by default."""
    training: TrainingConfig = field(default_factory=TrainingConfig)
    """How long, how fast, how safe."""
    metric: Literal["bleu", "chrf", "ter", "rouge-2"] = "bleu"
    """What selects the best model on the dev set."""
    tokenize: Tokenize | None = None
    """How the metric finds words, for a language without spaces: char, zh or ja-mecab; None: its own way."""
    options: Options = field(default_factory=Options)
    """How LevT decodes the dev set; other kinds that write all tokens at once use what they have of it."""
    beam: int = 1
    """How siblings decode the dev set: 1 is greedy; a masked model tries so many lengths."""
    dev_limit: int = 2_000
    """Sentences of the dev set that are decoded, at most."""
    init: Path | None = None
    """Model folder to start from instead of random weights: to fine-tune it or, a LevT, to inherit from a teacher."""
    device: str | None = None
    """cpu or cuda; by default the GPU where there is one."""
    name: str = "model"
    """Name of the model in its card."""

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be at least 1, got {getattr(self, name)}"
            for name in ("times", "beam", "dev_limit")
            if getattr(self, name) < 1
        ]
        if self.repair and not (isinstance(self.model, LevTConfig) and self.roll_in.drafts.made):
            problems.append("repair is for LevT with made-up drafts: say their shares (roll_in.drafts)")
        raise_all(ConfigError, "experiment", problems, hint=FLAGS)

    @property
    def where(self) -> str:
        """The device."""
        return self.device or ("cuda" if torch.cuda.is_available() else "cpu")


def run(experiment: Experiment, *, stay: bool = False, after_stop: str = GO_ON) -> Standing:
    """Train, or go on where a run in the same folder has stopped; gives where it stands in the end.

    Where several processes train together and will do so again, they must ``stay`` together. Who stops it is told
    ``after_stop``, what becomes of it.
    """
    device_named(experiment.where)  # now, not when the corpus has been read
    tokenizers = Tokenizers(*load_tokenizers(experiment.corpus))
    store = training_store(experiment)
    if World.told().local_rank == 0:
        store.verify()  # once a machine: a gigabyte takes a second, hours of training follow
    config = sized(experiment.model, tokenizers)
    check_lengths(experiment, config, store)
    settings = as_json(experiment)
    told = changes_told(experiment.out, settings)
    torch.manual_seed(experiment.training.seed)
    network = build(config) if experiment.init is None else loaded(experiment.init, config, tokenizers)
    experiment.out.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(
        network,
        lessons(experiment, store, network),
        experiment.training,
        experiment.out,
        save=lambda model, note: save_best(experiment, model, tokenizers, {**note, "settings": settings}),
        validation=validation(experiment, tokenizers),
        identity={"model": config.to_json(), "corpus": store.identity},
        device=experiment.where,
        after_stop=after_stop,
    )
    if trainer.note:
        trainer.note += told
    if trainer.note and experiment.init is not None:
        trainer.note += f"; weights: its own, not those of {experiment.init}"
    begun = {**settings, DEV_SET: dev_set(experiment.corpus)}
    if trainer.world.first:
        write_whole(experiment.out / SETTINGS, begun, indent=1)
    try:
        standing = trainer.run()
        if trainer.world.first and trainer.over:
            write_whole(experiment.out / FINISHED, {**begun, EXAMPLES: store.identity}, indent=1)
        trainer.world.barrier()  # whoever goes on from here finds the first one's files
        return standing
    finally:
        if not stay:
            trainer.world.leave()


def check_ahead(experiment: Experiment) -> None:
    """Refuse, before its corpus is made from another, what could only fail: device, metric, vocabularies, lengths.

    Targets will be others, so their lengths are not looked at.
    """
    device_named(experiment.where)
    tokenizers = Tokenizers(*load_tokenizers(experiment.corpus))
    config = sized(experiment.model, tokenizers)
    check_lengths(experiment, config, training_store(experiment), ("source", "draft"))
    changes_told(experiment.out, as_json(experiment))
    metric(experiment.metric, tokenize=experiment.tokenize)
    if experiment.init is not None:
        loaded(experiment.init, config, tokenizers)


def training_store(experiment: Experiment) -> Store:
    """The training examples: of the corpus alone, or mixed with those of others."""
    own = Store.open(experiment.corpus / "train")
    if not experiment.more and not experiment.repair and experiment.times == 1:
        return own
    others = [*experiment.more, *experiment.repair]
    for folder in others:
        check_corpus(folder)
    return Mixture([(own, experiment.times), *((Store.open(folder / "train"), 1) for folder in others)])


def finished(experiment: Experiment) -> bool:
    """Whether a run with these settings, on these texts, has reached its end in its folder."""
    try:
        known = dict(json.loads((experiment.out / FINISHED).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return False
    # Of a run from before these were noted nothing is known against the texts.
    examples, dev = known.pop(EXAMPLES, None), known.pop(DEV_SET, None)
    return (
        known == as_json(experiment)
        and (experiment.out / "best").is_dir()
        and examples in (None, training_store(experiment).identity)
        and dev in (None, dev_set(experiment.corpus))
    )


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


def check_lengths(
    experiment: Experiment,
    config: AnyConfig,
    store: Store,
    looked_at: Sequence[str] = ("source", "draft", "target"),
) -> None:
    """Refuse, before any work is done, a corpus with sequences that the network cannot hold, or without its drafts."""
    stores = {"train": store}
    if (experiment.corpus / "dev").is_dir():
        dev = Store.open(experiment.corpus / "dev")
        if config.kind == "post-editing" and not dev.has_draft:
            raise ConfigError(
                "a post-editing model reads drafts, and the dev set of this corpus has none",
                hint="prepare triples: levt prepare --draft …",
            )
        if dev.has_draft and config.kind in REFINES:  # a text with a draft is never cut
            stores["dev"] = dev
    problems = [
        f"the longest {field} of {split} has {one.longest(field) + 2} tokens, max_length is {config.max_length}"
        for split, one in stores.items()
        for field in one.fields
        if field in looked_at and one.longest(field) + 2 > config.max_length
    ]
    raise_all(
        ConfigError, "the network is too short for the corpus", problems, hint="raise --model.max-length"
    )


def lessons(experiment: Experiment, store: Store, network: nn.Module) -> Lessons:
    """What the network is taught with."""
    check_kind(experiment.model.kind, network)
    budget = Packed.fitting(store, target=experiment.training.tokens)
    if isinstance(network, LevT):
        last = sum(len(Store.open(folder / "train")) for folder in experiment.repair)
        return LevTLessons(
            store, budget, network, roll_in=experiment.roll_in, objective=experiment.objective,
            repaired=len(store) - last if last else None,
        )  # fmt: skip
    smoothing, kind = experiment.objective.label_smoothing, experiment.model.kind
    if kind in TEACHING:
        return teaching_lessons(kind, experiment.teaching, store, budget, network, smoothing=smoothing)
    reads_draft = isinstance(experiment.model, PostEditingConfig)
    return TeacherForcingLessons(store, budget, smoothing=smoothing, reads_draft=reads_draft)


def validation(experiment: Experiment, tokenizers: Tokenizers) -> Validation | None:
    """Decode the dev set and score it; None where the corpus has no dev set."""
    folder = experiment.corpus / "dev"
    if not folder.is_dir():
        return None
    store, chosen = Store.open(folder), metric(experiment.metric, tokenize=experiment.tokenize)
    rows = spread(len(store), experiment.dev_limit)
    sources = as_input(tokenizers.source, [store.source(i).tolist() for i in rows])
    references = tokenizers.target.decode_batch([store.target(i).tolist() for i in rows])
    drafts = None
    if store.has_draft:
        drafts = as_input(tokenizers.target, [d.tolist() for i in rows if (d := store.draft(i)) is not None])

    def score(network: nn.Module) -> float:
        # Half precision would do on a GPU, but selection should not depend on the device.
        model = Model(TorchEngine(network, tokenizers), Budget(rows=512, tokens=32_768))
        settings = dev_settings(experiment)
        if drafts is None or model.kind not in REFINES:
            results = model.translate(sources, **settings)
        else:
            results = model.refine(sources, draft=drafts, **settings)
        return chosen.score([r.text for r in results], references)

    return Validation(score, chosen.name, chosen.higher_is_better)


def dev_settings(experiment: Experiment) -> dict[str, Any]:
    """How the dev set is decoded."""
    options, kind = dataclasses.asdict(experiment.options), experiment.model.kind
    if kind == "levt":
        return options
    if kind not in TEACHING:
        return {"beam": experiment.beam}
    known = [one.name for one in dataclasses.fields(options_of(kind))]
    return {
        name: value for name, value in {**options, "length_beam": experiment.beam}.items() if name in known
    }


def as_input(tokenizer: Tokenizer, rows: Sequence[Sequence[int]]) -> list[str]:
    """Texts that a model reads as these rows: as they were written or, for given pieces, the pieces."""
    if tokenizer.by_pieces:
        return [" ".join(tokenizer.pieces(row)) for row in rows]
    return tokenizer.decode_batch(rows)


def save_best(experiment: Experiment, model: nn.Module, tokenizers: Tokenizers, note: dict[str, Any]) -> None:
    """Write the model folder ``best`` of the run."""
    card = Card(name=experiment.name)
    save_folder(experiment.out / "best", model, tokenizers, card, training=note)


def as_json(experiment: Experiment) -> dict[str, Any]:
    """All settings as JSON values."""
    settings: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(experiment), default=str))
    # As before there were such settings: a run that was finished then is finished now.
    if experiment.teaching is None:
        del settings["teaching"]
    if not experiment.more and experiment.times == 1:
        del settings["times"], settings["more"]
    if not experiment.repair:
        del settings["repair"]
    if not experiment.roll_in.drafts.made:
        del settings["roll_in"]["drafts"]
    if not experiment.options.by_sentence:
        del settings["options"]["by_sentence"]
    return {**settings, "kind": experiment.model.kind}
