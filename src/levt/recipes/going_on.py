"""Going on with a run after its settings were changed: what is refused, and what is told. Knows no tensor.

The network, the examples, the seed and the tokens of a batch are in the identity of a checkpoint, which refuses
others. Here is the rest. What is learned from (roll-in, objective, teaching), the dev set and how it is judged may not
change within a run: it would be neither of both, and its best score of the other. How fast it learns may, as where a
run has failed and is to go on with a lower rate, but is said. What a run was last begun with stands in its folder.
"""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from levt.data.store import Store
from levt.errors import ConfigError
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.recipes.teaching import TEACHING
from levt.refine.options import Options
from levt.training.checkpoint import checkpoints
from levt.training.config import TrainingConfig

SETTINGS = "experiment.json"
"""The settings of a run when it was last begun."""
DEV_SET = "dev_set"
"""Its name there for the identity of the dev set, which no setting tells; runs of an older levt have none."""
HINT = "use another --out folder, or the settings of that run"
PACE = (
    "accumulate", "micro_batches", "learning_rate", "warmup", "schedule", "beta1", "beta2", "weight_decay", "clip",
    "ema", "precision",
)  # fmt: skip
"""Settings of training that change how weights move."""
ENDS = ("max_steps", "max_minutes")
"""Those that do so where the learning rate falls until the end."""


def changes_told(out: Path, now: Mapping[str, Any]) -> str:
    """Refuse settings that a run cannot go on with; else what is to be said of those that have changed.

    ``now`` are all settings of the experiment as JSON values.
    """
    was = begun_with(out)
    if was is None:
        return ""
    old, new = _complete(was, now["kind"]), _complete(now, now["kind"])
    _check_metric(out, was, now)
    _check_dev_set(out, was, Path(now["corpus"]))
    if other := _differences(old, new, _lessons(now["kind"])):
        raise ConfigError(f"{out} belongs to a run with other settings: {', '.join(other)}", hint=HINT)
    if (Path(now["corpus"]) / "dev").is_dir() and (other := _differences(old, new, _judging(now["kind"]))):
        raise ConfigError(
            f"{out} selects its best model by scores of a dev set that is decoded otherwise: {', '.join(other)}",
            hint=HINT,
        )
    falls = {old["training.schedule"], new["training.schedule"]} != {"inverse-sqrt"}
    return "".join(
        f"; {name}: {new[place]} (before: {old[place]})"
        for name in (*PACE, *(ENDS if falls else ()))
        if old[place := f"training.{name}"] != new[place]
    )


def begun_with(out: Path) -> Mapping[str, Any] | None:
    """The settings that a run was last begun with, if it has a checkpoint to go on from."""
    try:
        known = json.loads((out / SETTINGS).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) and checkpoints(out) else None


def dev_set(corpus: Path) -> str | None:
    """What tells the dev set of a corpus from every other; None where it has none."""
    return Store.open(corpus / "dev").identity if (corpus / "dev").is_dir() else None


def _check_metric(out: Path, was: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Scores of another metric cannot be compared with the best one so far."""
    before = [was.get(name) for name in ("metric", "tokenize")]
    if before != [now["metric"], now["tokenize"]]:
        raise ConfigError(
            f"{out} selects its best model by {' '.join(filter(None, before))}, and another metric is asked for",
            hint="use another --out folder, or the --metric and --tokenize of that run",
        )


def _check_dev_set(out: Path, was: Mapping[str, Any], corpus: Path) -> None:
    """Nor can those of another dev set; a run that had none has no score yet, and may get one."""
    before = was.get(DEV_SET)
    if before is not None and before != (now := dev_set(corpus)):
        found = f"{corpus} has none" if now is None else f"that of {corpus} is another"
        raise ConfigError(
            f"{out} selects its best model by scores of its dev set, and {found}",
            hint="use another --out folder, or the corpus of that run as it was",
        )


def _lessons(kind: str) -> tuple[str, ...]:
    """What decides from what a kind of model learns."""
    if kind == "levt":
        return ("roll_in", "objective", "repair")
    return ("objective.label_smoothing", "teaching")


def _judging(kind: str) -> tuple[str, ...]:
    """What decides how its dev set is decoded."""
    return ("dev_limit", *(("options",) if kind == "levt" or kind in TEACHING else ()),
            *(("beam",) if kind != "levt" else ()))  # fmt: skip


def _complete(settings: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Settings by their whole names; those that were not written down, being as usual or younger, are as usual.

    Of references to be repaired only how many corpora there are: their examples are in the identity of a checkpoint.
    """
    taught = TEACHING[kind][0]() if kind in TEACHING else None
    usual = {
        "roll_in": dataclasses.asdict(RollIn()),
        "objective": dataclasses.asdict(ObjectiveConfig()),
        "options": dataclasses.asdict(Options()),
        "training": dataclasses.asdict(TrainingConfig()),
        "teaching": {} if taught is None else dataclasses.asdict(taught),
    }
    found = _by_name(usual) | _by_name({name: value for name, value in settings.items() if value is not None})
    return {**found, "repair": len(settings.get("repair") or ())}


def _by_name(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Tables within tables as one.

    >>> _by_name({"roll_in": {"alpha": 0.5, "drafts": {"noisy": 0.0}}, "beam": 1})
    {'roll_in.alpha': 0.5, 'roll_in.drafts.noisy': 0.0, 'beam': 1}
    """
    found: dict[str, Any] = {}
    for name, value in settings.items():
        found |= (
            _by_name(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
        )
    return found


def _differences(was: Mapping[str, Any], now: Mapping[str, Any], groups: tuple[str, ...]) -> list[str]:
    """What differs among the settings of some groups."""
    return [
        f"{name} was {was[name]!r} and is {value!r}"
        for name, value in now.items()
        if any(name == group or name.startswith(f"{group}.") for group in groups)
        and name in was
        and was[name] != value
    ]
