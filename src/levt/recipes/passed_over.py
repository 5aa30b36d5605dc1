"""Settings that somebody changed and that nothing would read are refused by name.

The model may be of another kind, the corpus without a dev set or drafts, or alone where it is weighed against others.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from levt.data.store import Store
from levt.errors import FLAGS, ConfigError
from levt.evaluation.scorers import refuse_unheeded
from levt.recipes.distillation import Distillation
from levt.recipes.experiment import Experiment, dev_settings
from levt.refine.decoders import options_of
from levt.refine.options import Options

OF_THE_DEV_SET = (
    "metric",
    "tokenize",
    "beam",
    "dev_limit",
    "training.patience",
    "training.average",
    "training.validate_every",
)
"""What says when and how models are judged, beside the options of their decoding."""
VOCABULARIES = ("model.source_vocabulary", "model.target_vocabulary")


def check_changes(changed: Experiment, recipe: Experiment, before: str = "") -> None:
    """Refuse what differs from a recipe and would do nothing; ``before`` stands before the names of its flags."""
    known, kind = dict(_dotted(dataclasses.asdict(recipe))), changed.model.kind
    unjudged = changed.corpus.is_dir() and not (changed.corpus / "dev").is_dir()
    for name, value in _dotted(dataclasses.asdict(changed)):
        if name in known and value == known[name]:
            continue
        flag = f"--{before}{name.replace('_', '-')}"
        if name in VOCABULARIES:
            raise ConfigError(
                f"{flag} cannot be chosen: it is the size of the corpus's vocabulary",
                hint="`levt prepare --vocabulary N` decides it",
            )
        if not _is_read(name, changed):
            raise ConfigError(
                f"{flag} does nothing for a model of kind {kind}", hint=f"leave it out; {FLAGS}"
            )
        if unjudged and (name in OF_THE_DEV_SET or name.startswith("options.")):
            raise ConfigError(
                f"{flag} is about the dev set, and {changed.corpus} has none",
                hint="leave it out, or `levt prepare --dev SOURCE TARGET`",
            )
        if lacks := _lacks(name, changed):
            raise ConfigError(f"{flag} is about {lacks[0]}", hint=f"leave it out, or {lacks[1]}")
        if name == "times" and not changed.more and not changed.repair:
            raise ConfigError(
                f"{flag} weighs a corpus against others, and there is one alone",
                hint="leave it out, or --more FOLDER",
            )
    if changed.tokenize != recipe.tokenize:
        refuse_unheeded(changed.tokenize, (changed.metric,))


def check_distillation(settings: Distillation, kind: str, before: str = "") -> None:
    """Refuse settings of the decoding that differ from the usual ones and that a kind of teacher does not have."""
    known = {one.name for one in dataclasses.fields(Options if kind == "levt" else options_of(kind))}
    known |= {"shard", "batch_size"}
    known |= {"beam"} if "length_beam" in known else {"from_scratch"} if kind == "levt" else set()
    for name, value in vars(settings).items():
        if value != getattr(Distillation, name) and name not in known:
            raise ConfigError(
                f"--{before}{name.replace('_', '-')} does nothing for a teacher of kind {kind}",
                hint="leave it out; `levt distill --help` says which it is for",
            )


def _is_read(name: str, experiment: Experiment) -> bool:
    """Whether a field, with dots, is looked at when an experiment is run."""
    group, _, field = name.partition(".")
    decoding = dev_settings(experiment)
    if group in ("options", "beam"):
        return field in decoding if field else not {"beam", "length_beam"}.isdisjoint(decoding)
    if experiment.model.kind == "levt":
        return True
    return group != "roll_in" and (group != "objective" or field == "label_smoothing")


def _lacks(name: str, experiment: Experiment) -> tuple[str, str] | None:
    """What a field of the roll-in is about where there is none of it, and how there would be some."""
    roll_in, train = experiment.roll_in, experiment.corpus / "train"
    if name in ("roll_in.alpha", "roll_in.beta") and not roll_in.drafts.made and train.is_dir():
        if not Store.open(train).has_draft:
            return (
                f"drafts, and {experiment.corpus} has none",
                "`levt prepare --draft`, or --roll-in.drafts.noisy SHARE",
            )
    elif name == "roll_in.noise" and roll_in.deletion != "noise":
        return "corrupted targets, and none is learnt from", "--roll-in.deletion noise"
    elif name in ("roll_in.drafts.noise", "roll_in.drafts.disorder") and not roll_in.drafts.noisy:
        return "noisy drafts, and none is made up", "--roll-in.drafts.noisy SHARE"
    return None


def _dotted(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of settings within settings, named with dots.

    >>> list(_dotted({"beam": 1, "training": {"tokens": 16}}))
    [('beam', 1), ('training.tokens', 16)]
    """
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value
