"""The model folder: config.json, model.safetensors, tokenizer.json, README.md. Never a pickle.

Writing is whole or not at all. Reading checks everything first and names all problems in one error, so
that a model that loads is the model that was saved. Knows no hub and no engine.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from levt import __version__
from levt.errors import ModelError, raise_all
from levt.policy.atomic import whole_folder
from levt.policy.build import build
from levt.policy.card import Card
from levt.policy.config import ModelConfig
from levt.policy.folder_config import (
    CARD,
    CONFIG,
    DAMAGED,
    FILES,
    GRAPHS,
    MANIFEST,
    SOURCE_TOKENIZER,
    TOKENIZER,
    WEIGHTS,
    FileRecord,
    FolderConfig,
    StoredDtype,
    read_folder_config,
)
from levt.policy.weights import read_weights, sha256, write_weights
from levt.text.tokenizer import Tokenizer

PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib")
"""Files that run code when they are loaded; one in a model folder is there by mistake or by malice."""
FEWEST_BITS, FEW = 4, 10_000_000
"""Of a weight, however it is stored; and so many weights are no burden, whatever the file says."""


@dataclass(frozen=True)
class Tokenizers:
    """The tokenizers of a model: one for each side, or one for both."""

    source: Tokenizer
    target: Tokenizer

    @classmethod
    def joint(cls, tokenizer: Tokenizer) -> "Tokenizers":
        """One tokenizer for both sides."""
        return cls(tokenizer, tokenizer)

    @property
    def separate(self) -> bool:
        """Whether the sides differ."""
        return self.source != self.target


@dataclass(frozen=True)
class Loaded:
    """A model read from its folder."""

    model: nn.Module
    tokenizers: Tokenizers
    config: FolderConfig


def save_folder(
    folder: str | Path,
    model: nn.Module,
    tokenizers: Tokenizers,
    card: Card | str,
    *,
    dtype: StoredDtype = "float32",
    training: Mapping[str, Any] | None = None,
) -> FolderConfig:
    """Write a model folder, whole or not at all; a model that was there before is replaced in one step.

    The card may also be given as its text.
    """
    folder = Path(folder)
    config = getattr(model, "config", None)
    assert isinstance(config, ModelConfig), f"{type(model).__name__} has no configuration"
    raise_all(
        ModelError,
        "the model cannot be saved",
        vocabulary_problems(config, tokenizers),
        hint="save it with the tokenizers that it was built for",
    )
    refuse_strangers(folder)
    with whole_folder(folder) as new:
        write_weights(new / WEIGHTS, model, dtype)
        tokenizers.target.save(new / TOKENIZER)
        if tokenizers.separate:
            tokenizers.source.save(new / SOURCE_TOKENIZER)
        (new / CARD).write_text(card if isinstance(card, str) else card.render(), encoding="utf-8")
        written = FolderConfig(
            model=config,
            levt=__version__,
            dtype=dtype,
            separate_tokenizers=tokenizers.separate,
            files={
                path.name: FileRecord(bytes=path.stat().st_size, sha256=sha256(path))
                for path in sorted(new.iterdir())
                if path.name != CARD
            },
            training=training,
        )
        written.write(new / CONFIG)
    return written


def load_folder(
    folder: str | Path, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> Loaded:
    """Read a model folder into a network in evaluation mode, if its checksums are right.

    Weights become ``dtype`` whatever they are stored as.
    """
    folder = Path(folder)
    config = open_folder(folder)
    model, tokenizers, problems = read_folder(folder, config, damaged_files(folder, config))
    hint = DAMAGED
    if has_graphs_only(folder):
        hint = "run it with `--engine onnx` or `--engine onnx-int8`, or take the folder that it was made from"
    raise_all(ModelError, f"the model folder {folder}", problems, hint=hint)
    assert tokenizers is not None
    return Loaded(model.to(device=device, dtype=dtype).eval(), tokenizers, config)


def read_folder(
    folder: Path, config: FolderConfig, damaged: Mapping[str, str]
) -> tuple[nn.Module, Tokenizers | None, list[str]]:
    """Network and tokenizers as far as they can be read, and everything that is wrong with them."""
    problems = [f"{name}: {problem}" for name, problem in damaged.items()]
    tokenizers = None
    if not damaged.keys() & {TOKENIZER, SOURCE_TOKENIZER}:
        try:
            tokenizers = read_tokenizers(folder, config)
            problems += vocabulary_problems(config.model, tokenizers)
        except ModelError as error:
            problems.append(error.message)
    check_size(folder, config)
    try:
        with unseeded():
            model = build(config.model)
    except (RuntimeError, MemoryError, OverflowError, TypeError) as error:
        # How torch says that there is no such memory, or no such number.
        raise ModelError(
            f"{folder / CONFIG}: a network of these sizes cannot be built ({str(error).splitlines()[0]})",
            hint=DAMAGED,
        ) from error
    if WEIGHTS not in damaged:
        problems += [f"{WEIGHTS}: {p}" for p in read_weights(folder / WEIGHTS, model, config.dtype)]
    return model, tokenizers, problems


def check_size(folder: Path, config: FolderConfig) -> None:
    """Refuse sizes that the file of the weights cannot be of, before so much memory is asked for."""
    fewest, stored = config.model.fewest_weights, config.files[WEIGHTS].bytes
    if fewest > FEW and fewest * FEWEST_BITS > 8 * stored:
        raise ModelError(
            f"{folder / CONFIG}: a network of these sizes cannot be in {WEIGHTS}: it has {fewest:.3g} weights or more, "
            f"the file {stored:,} bytes",
            hint=DAMAGED,
        )


def open_folder(folder: Path) -> FolderConfig:
    """The configuration of a folder, if it is a model folder and holds no pickle."""
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise ModelError(
            f"there is no model folder {folder}: it {what}",
            hint="name a folder with config.json, model.safetensors and tokenizer.json; of a run it is RUN/best",
        )
    pickles = sorted(path.name for path in folder.iterdir() if path.suffix.lower() in PICKLES)
    if pickles:
        raise ModelError(
            f"{folder} holds {', '.join(pickles)}: a pickle can run any code when it is loaded, "
            "and a model of levt never has one",
            hint="`levt convert fairseq` reads checkpoints safely and writes a folder; or remove the file",
        )
    if not (folder / CONFIG).is_file():
        # Of a run, or of one of a chain; no deeper, for the folder may be anything.
        inside = [*folder.glob(f"best/{CONFIG}"), *folder.glob(f"*/best/{CONFIG}")]
        of_a_run = [path.parent for path in sorted(inside)[:3]]
        usual = f"a model folder holds {CONFIG}, {WEIGHTS} and {TOKENIZER}"
        raise ModelError(
            f"{folder} is not a model folder: it has no {CONFIG}",
            hint=f"did you mean {' or '.join(map(str, of_a_run))}?" if of_a_run else usual,
        )
    return read_folder_config(folder / CONFIG)


def damaged_files(folder: Path, config: FolderConfig, *, without: Sequence[str] = ()) -> dict[str, str]:
    """What is wrong with the files as files, by name: missing, cut short, changed; some need not be looked at."""
    found = {}
    for name, record in config.files.items():
        if name in without:
            continue
        path = folder / name
        if not path.is_file():
            graphs = name == WEIGHTS and has_graphs_only(folder)
            found[name] = "left out, there are only ONNX graphs" if graphs else "the file is missing"
        elif path.stat().st_size != record.bytes:
            found[name] = f"must have {record.bytes} bytes, has {path.stat().st_size}"
        elif (checksum := sha256(path)) != record.sha256:
            found[name] = f"the checksum must be {record.sha256[:12]}…, is {checksum[:12]}…"
    return found


def has_graphs_only(folder: Path) -> bool:
    """Whether a model was exported without its weights, as by ``levt convert onnx --no-weights``."""
    return (folder / GRAPHS).is_dir() and not (folder / WEIGHTS).exists()


def read_tokenizers(folder: Path, config: FolderConfig) -> Tokenizers:
    """The tokenizers of a folder."""
    target = Tokenizer.load(folder / TOKENIZER)
    return Tokenizers(
        Tokenizer.load(folder / SOURCE_TOKENIZER) if config.separate_tokenizers else target, target
    )


def vocabulary_problems(config: ModelConfig, tokenizers: Tokenizers) -> list[str]:
    """Where network and tokenizers do not belong together."""
    problems = [
        f"{side}_vocabulary is {size}, but the {side} tokenizer has {tokenizer.size} pieces"
        for side, size, tokenizer in (
            ("source", config.source_vocabulary, tokenizers.source),
            ("target", config.target_vocabulary, tokenizers.target),
        )
        if size != tokenizer.size
    ]
    if config.joint_embeddings and tokenizers.separate:
        problems.append("joint_embeddings needs one tokenizer for both sides, got two")
    return problems


def refuse_strangers(folder: Path) -> None:
    """Refuse to replace what is not a model folder, or holds more than a model; graphs are made from it, and go."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ModelError(f"{folder} is a file, and a model is a folder", hint="choose another folder")
    strangers = sorted(p.name for p in folder.iterdir() if p.name not in FILES and not _graphs(p))
    if strangers:
        raise ModelError(
            f"{folder} cannot be replaced: it holds {', '.join(strangers[:5])}, which is no part of a model",
            hint="choose another folder",
        )


def _graphs(path: Path) -> bool:
    """Whether a path of a model folder is that of its graphs, and holds nothing else."""
    return path.name == GRAPHS and path.is_dir() and all((p / MANIFEST).is_file() for p in path.iterdir())


@contextlib.contextmanager
def unseeded() -> Iterator[None]:
    """Build networks without random numbers: their weights are read next, and the caller's seed is kept."""
    with torch.random.fork_rng(devices=[]), _Uninitialised():
        yield


class _Uninitialised(TorchFunctionMode):
    """Leaves out the filling of new tensors, which takes longer than reading them."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (Tensor.uniform_, Tensor.normal_) or getattr(func, "__module__", "") == nn.init.__name__:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))
