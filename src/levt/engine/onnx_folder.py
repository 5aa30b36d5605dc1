"""Graphs on disk: a folder with its checksums, inside a model folder or in the cache. Knows not how they run.

MODEL/onnx/PRECISION, where somebody put them (`levt convert onnx`); else the cache of the user, where they are
written once: $XDG_CACHE_HOME/levt/onnx/KEY/PRECISION, the key being a checksum of the weights and settings. The
cache keeps the models that were used last. The hub carries no graphs: whoever loads a model writes them in seconds.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from levt.engine.cache import cache_folder
from levt.engine.onnx_linear import Float, Int8, Precision
from levt.engine.onnx_network import check_kind, passes, write_network
from levt.errors import ConfigError, ModelError, raise_all, reason
from levt.policy.atomic import whole_folder
from levt.policy.folder import load_folder, open_folder
from levt.policy.folder_config import GRAPHS, MANIFEST, WEIGHTS, FolderConfig
from levt.policy.weights import sha256

FORMAT = 1
"""Version of the graphs: it grows whenever the same network would give others, so that old ones are not used."""
KEPT = 8
"""Models whose graphs the cache holds; those used longest ago make room."""

PrecisionName = Literal["float32", "int8"]
PRECISIONS: dict[PrecisionName, Precision] = {"float32": Float(), "int8": Int8()}
"""What graphs can be written in."""


@dataclass(frozen=True, kw_only=True)
class Graphs:
    """A folder of graphs that has been checked."""

    folder: Path
    chains: Mapping[str, list[str]]
    """Of every pass, the graphs that it runs one after another."""

    @classmethod
    def read(cls, folder: Path, config: FolderConfig) -> "Graphs":
        """Check a folder of graphs: whole, undamaged, and of this model."""
        hint = "write them again: `levt convert onnx MODEL`"
        try:
            manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            files = {
                str(name): (int(one["bytes"]), str(one["sha256"])) for name, one in manifest["files"].items()
            }
            chains = {
                str(name): [str(graph) for graph in graphs] for name, graphs in manifest["chains"].items()
            }
            made_of = manifest["of"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ModelError(f"{folder / MANIFEST} cannot be read: {reason(error)}", hint=hint) from error
        if made_of != identity(config):
            raise ModelError(f"the graphs in {folder} are of another model, or of another version", hint=hint)
        # What no checksum speaks for is not run, nor what lies elsewhere.
        needed = {f"{graph}.onnx" for graphs in chains.values() for graph in graphs}
        problems = [f"{name}: {MANIFEST} has no checksum of it" for name in sorted(needed - files.keys())]
        problems += [
            f"{MANIFEST} names no graphs of the pass {name}"
            for name in passes(config.model)
            if not chains.get(name)
        ]
        problems += [f"{name}: a graph must lie in this folder" for name in files if Path(name).name != name]
        for name, (size, checksum) in files.items():
            path = folder / name
            if not path.is_file():
                problems.append(f"{name}: the file is missing")
            elif path.stat().st_size != size or sha256(path) != checksum:
                problems.append(f"{name}: the checksum must be {checksum[:12]}…, and is not")
        raise_all(ModelError, f"the graphs in {folder}", problems, hint=hint)
        return cls(folder=folder, chains=chains)

    def path(self, graph: str) -> Path:
        """The file of a graph."""
        return self.folder / f"{graph}.onnx"


def inside(model: Path, precision: PrecisionName) -> Path:
    """Where a model folder has its graphs."""
    return model / GRAPHS / precision


def precision_named(name: str) -> PrecisionName:
    """A precision by its name."""
    for known in get_args(PrecisionName):
        if name == known:
            found: PrecisionName = known
            return found
    raise ConfigError(
        f"dtype must be one of {', '.join(PRECISIONS)} for ONNX graphs, got {name!r}",
        hint="leave it out for float32; --engine torch has others",
    )


def identity(config: FolderConfig) -> str:
    """What graphs are made from, in one checksum: weights, settings, format."""
    made_of = [FORMAT, config.files[WEIGHTS].sha256, config.model.to_json()]
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()


def cached(config: FolderConfig, precision: PrecisionName) -> Path:
    """Where the cache has the graphs of a model, or would have them."""
    return cache_folder("onnx") / identity(config)[:32] / precision


def find_graphs(model: Path, config: FolderConfig, precision: PrecisionName) -> Graphs:
    """The graphs of a model: its own, those of the cache, or new ones in the cache."""
    check_kind(config.model)
    if inside(model, precision).is_dir():
        return Graphs.read(inside(model, precision), config)
    place = cached(config, precision)
    try:
        found = Graphs.read(place, config)
    except ModelError:
        # Not there yet, or damaged: the cache is ours to mend.
        found = write_graphs(place, model, precision)
    _tidy(place.parent)
    return found


def _tidy(used: Path) -> None:
    """Note that the graphs of a model are used, and forget those used longest ago.

    Nothing depends on it: whoever has forgotten graphs open keeps them, and a cache that cannot be changed stays.
    """
    try:
        os.utime(used)
        models = [(path.stat().st_mtime, path) for path in used.parent.iterdir() if path.is_dir()]
        for _, path in sorted(models)[:-KEPT]:
            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        return


def write_graphs(folder: Path, model: Path, precision: PrecisionName) -> Graphs:
    """Write the graphs of a model, whole or not at all; graphs that were there before are replaced."""
    config = open_folder(model)
    check_kind(config.model)
    network = load_folder(model).model
    try:
        with whole_folder(folder) as new:
            chains = write_network(network, new, PRECISIONS[precision])
            manifest = {
                "format": FORMAT,
                "precision": precision,
                "of": identity(config),
                "chains": chains,
                "files": {
                    path.name: {"bytes": path.stat().st_size, "sha256": sha256(path)}
                    for path in sorted(new.iterdir())
                },
            }
            (new / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise ModelError(
            f"the graphs of {model} cannot be written to {folder}: {reason(error)}",
            hint="`levt convert onnx MODEL --out FOLDER` writes them elsewhere; XDG_CACHE_HOME moves the cache",
        ) from error
    return Graphs(folder=folder, chains=chains)
