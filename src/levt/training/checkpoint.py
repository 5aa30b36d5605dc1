"""Checkpoints: everything a run needs to go on as if it had never stopped. Safetensors and JSON, never a pickle.

    RUN/checkpoints/step-00001000/state.json            where the run stands
    RUN/checkpoints/step-00001000/weights.safetensors   master weights, optimiser, moving average
                              or  shard-*.safetensors   the same, a part from each process (sharded_checkpoint.py)

Nothing else has a state: batches, lessons and what is random in a step are pure functions of their number.
"""

import json
import shutil
import zlib
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from levt.data.folder import sync_one
from levt.errors import ModelError, reason
from levt.policy.atomic import whole_folder
from levt.policy.weights import write_tensors
from levt.training.feed import Position

VERSION = 2
"""Version 1 had the number of workers in the identity: it could not change."""
STATE, WEIGHTS = "state.json", "weights.safetensors"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where a run stands."""

    step: int = 0
    """Steps done."""
    position: Position = field(default_factory=Position)
    """The next batch."""
    seconds: float = 0.0
    """Time spent so far, in all sittings."""
    best: float | None = None
    """Best validation score."""
    best_step: int = 0
    """Step of the best score."""
    stale: int = 0
    """Validations since then."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """What ``state.json`` says."""

    standing: Standing
    identity: dict[str, Any]
    """Which run it belongs to: settings that may not change."""
    workers: int = 1
    """Processes that trained together."""
    shards: dict[str, int] = field(default_factory=dict)
    """Files of a sharded checkpoint with their sizes in bytes; none: the weights are in one file."""
    sums: dict[str, int] = field(default_factory=dict)
    """CRC-32 of each file of weights."""

    def write(self, folder: Path) -> None:
        """Write it into the folder of a checkpoint; one that is there already is replaced in one step."""
        text = json.dumps({"version": VERSION, **asdict(self)}, indent=1) + "\n"
        new = folder / f".{STATE}"
        new.write_text(text, encoding="utf-8")
        sync_one(new)
        new.replace(folder / STATE)

    @classmethod
    def parse(cls, text: str) -> "Record":
        """Read it strictly; whatever is wrong is a ValueError, KeyError or TypeError."""
        known = dict(json.loads(text))
        version = known.pop("version")
        if version not in (1, VERSION):
            raise ModelError(
                f"is a checkpoint of version {version}, this levt reads 1 and {VERSION}",
                hint="use the levt that wrote it, or another --out folder",
            )
        if version == 1:
            known["identity"] = dict(known["identity"])
            known["workers"] = int(known["identity"].pop("workers", 1))
        standing = dict(known.pop("standing"))
        _only(standing, Standing)
        standing["position"] = Position(**standing["position"])
        record = cls(standing=Standing(**standing), **known)
        if any(name != Path(name).name for name in (*record.shards, *record.sums)):
            raise ValueError("a file lies outside the folder")
        return record


def write_checkpoint(
    folder: Path,
    standing: Standing,
    state: dict[str, Tensor],
    identity: dict[str, Any],
    workers: int = 1,
) -> None:
    """Write a checkpoint whole or not at all; ``identity`` says which run it belongs to."""
    with whole_folder(folder) as temporary:
        tensors = {name: tensor.cpu().contiguous() for name, tensor in state.items()}
        write_tensors(temporary / WEIGHTS, tensors)
        sums = {WEIGHTS: checksum(temporary / WEIGHTS)}
        Record(standing=standing, identity=identity, workers=workers, sums=sums).write(temporary)


def read_checkpoint(folder: Path, identity: dict[str, Any]) -> tuple[Standing, dict[str, Tensor]]:
    """Read a checkpoint in one file; one of a run with other settings is refused."""
    record = read_record(folder, identity)
    verify(folder, record)
    return record.standing, read_flat(folder)


def read_record(folder: Path, identity: dict[str, Any]) -> Record:
    """Read where a checkpoint stands; one of a run with other settings is refused."""
    try:
        record = Record.parse((folder / STATE).read_text("utf-8"))
        for name, size in record.shards.items():
            found = (folder / name).stat().st_size
            if found != size:
                raise ValueError(f"{name} has {found} bytes, not {size}")
    except ModelError as error:
        raise ModelError(f"{folder} {error.message}", hint=error.hint) from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(folder, error) from error
    if other := _differences(record.identity, identity):
        raise ModelError(
            f"{folder} belongs to a run with other settings: {', '.join(other)}",
            hint="use another --out folder, or the settings of that run",
        )
    return record


def remember_best(folder: Path, standing: Standing, identity: dict[str, Any]) -> None:
    """Note in a checkpoint that is there already what has become the best since."""
    record = read_record(folder, identity)
    best = {name: getattr(standing, name) for name in ("best", "best_step", "stale")}
    replace(record, standing=replace(record.standing, **best)).write(folder)


def _differences(was: dict[str, Any], now: dict[str, Any], prefix: str = "") -> list[str]:
    """What differs between settings, each by its own name.

    >>> _differences({"model": {"width": 64, "heads": 2}}, {"model": {"width": 32, "heads": 2}})
    ['model.width was 64 and is 32']
    """
    found = []
    for key in sorted(was.keys() | now.keys()):
        old, new = was.get(key), now.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            found += _differences(old, new, f"{prefix}{key}.")
        elif old != new:
            found.append(f"{prefix}{key} was {old!r} and is {new!r}")
    return found


def verify(folder: Path, record: Record, part: slice = slice(None)) -> None:
    """Read the files of weights, or some of them, and compare their checksums: a flipped bit is no weight."""
    for name, known in sorted(record.sums.items())[part]:
        try:
            found = checksum(folder / name)
        except OSError as error:
            raise damaged(folder, error) from error
        if found != known:
            raise damaged(folder, ValueError(f"the checksum of {name} differs"))


def checksum(path: Path) -> int:
    """CRC-32 of a file: it guards against accidents, and takes less time than the writing."""
    found = 0
    with path.open("rb") as opened:
        while block := opened.read(1 << 22):
            found = zlib.crc32(block, found)
    return found


def read_flat(folder: Path) -> dict[str, Tensor]:
    """The weights of a checkpoint in one file."""
    try:
        return load_file(folder / WEIGHTS)
    except (OSError, ValueError, SafetensorError) as error:
        raise damaged(folder, error) from error


def damaged(folder: Path, error: BaseException) -> ModelError:
    """What to say of a checkpoint that cannot be read."""
    return ModelError(
        f"the checkpoint {folder} is damaged: {reason(error)}",
        hint="remove this folder; training resumes from the checkpoint before it",
    )


def checkpoints(run: Path) -> list[Path]:
    """The checkpoints of a run, oldest first; a copy that somebody made under a name of their own is none of them."""
    found = {step_of(path): path for path in (run / "checkpoints").glob("step-*") if (path / STATE).is_file()}
    return [path for step, path in sorted(found.items()) if step >= 0]


def step_of(folder: Path) -> int:
    """The step whose checkpoint lies there, by its name; -1 where it is not the name of one.

    >>> step_of(Path("step-00001000")), step_of(Path("step-00001000-copy"))
    (1000, -1)
    """
    number = folder.name.removeprefix("step-")
    return int(number) if number.isdecimal() and len(number) >= 8 else -1


def checkpoint_path(run: Path, step: int) -> Path:
    """Where the checkpoint of a step lies."""
    return run / "checkpoints" / f"step-{step:08d}"


def prune(run: Path, keep: int) -> None:
    """Remove all but the last ``keep`` checkpoints, and what a killed run has left half-written."""
    for old in checkpoints(run)[:-keep]:
        # Half of a checkpoint must never bear its name, not even while it is removed.
        old.rename(old.with_name(f".{old.name}.old"))
    for rest in (run / "checkpoints").glob(".step-*"):
        shutil.rmtree(rest)


def _only(found: dict[str, Any], wanted: type) -> None:
    names = {f.name for f in fields(wanted)}
    if set(found) != names:
        raise KeyError(*(set(found) ^ names))
