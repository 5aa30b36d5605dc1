"""config.json of a model folder: the network, the tokenizers, the files. Read strictly; knows no tensor."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from levt.errors import ConfigError, ModelError, raise_all, reason
from levt.policy.config import ModelConfig
from levt.policy.read_config import config_from_json

FORMAT = 1
"""Version of the folder's layout. It grows when an older levt could not read the folder rightly."""

CONFIG, WEIGHTS, CARD = "config.json", "model.safetensors", "README.md"
TOKENIZER, SOURCE_TOKENIZER = "tokenizer.json", "source_tokenizer.json"
FILES = (CONFIG, WEIGHTS, TOKENIZER, SOURCE_TOKENIZER, CARD)
"""All that a model folder may need; the second tokenizer only where vocabularies are separate."""

GRAPHS, MANIFEST = "onnx", "graphs.json"
"""Where graphs of the model may lie, a folder for each precision, and the file that says so in each."""

DAMAGED = "the folder is damaged or was changed by hand: copy or download it again"
"""What to do about files that are not as they were written."""

StoredDtype = Literal["float32", "float16", "bfloat16", "int8", "int4"]
"""How weights are stored; int8: matrices as bytes with a scale for each row, int4: as half bytes with one for every 32
weights, and all else in float32."""


@dataclass(frozen=True, kw_only=True)
class FileRecord:
    """What a file must be, so that damage is told from a mistake."""

    bytes: int
    """Size."""
    sha256: str
    """Checksum, in hexadecimal digits."""


@dataclass(frozen=True, kw_only=True)
class FolderConfig:
    """The contents of config.json."""

    model: ModelConfig
    """The network."""
    levt: str
    """Version of levt that wrote the folder."""
    dtype: StoredDtype = "float32"
    """Precision of the stored weights."""
    separate_tokenizers: bool = False
    """The source has a tokenizer of its own; otherwise one serves both sides."""
    files: Mapping[str, FileRecord]
    """Size and checksum of every file but this one and the card, which people may edit."""
    training: Mapping[str, Any] | None = None
    """Where the weights come from: whatever the trainer or converter recorded."""

    @property
    def needed(self) -> tuple[str, ...]:
        """The files that must be there beside config.json."""
        own = (SOURCE_TOKENIZER,) if self.separate_tokenizers else ()
        return (WEIGHTS, TOKENIZER, *own)

    def to_json(self) -> dict[str, Any]:
        """All of it, as JSON values."""
        return {
            "format": FORMAT,
            "levt": self.levt,
            "model": self.model.to_json(),
            "dtype": self.dtype,
            "separate_tokenizers": self.separate_tokenizers,
            "files": {name: {"bytes": f.bytes, "sha256": f.sha256} for name, f in self.files.items()},
            "training": None if self.training is None else dict(self.training),
        }

    def write(self, path: Path) -> None:
        """Write config.json."""
        path.write_text(json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_folder_config(path: Path) -> FolderConfig:
    """Read config.json; everything that is wrong with it in one error."""
    try:
        saved = json.loads(path.read_bytes().decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} cannot be read: {reason(error)}", hint=DAMAGED) from error
    if not isinstance(saved, dict) or "format" not in saved:
        raise ModelError(
            f"{path} does not describe a model of levt: the key 'format' is missing",
            hint="another library's config.json? `levt convert --help` lists what can be converted",
        )
    if saved["format"] != FORMAT or isinstance(saved["format"], bool):
        newer = isinstance(saved["format"], int) and saved["format"] > FORMAT
        raise ModelError(
            f"{path}: format must be {FORMAT}, got {saved['format']!r}",
            hint="the model was written by a newer levt: pip install --upgrade levt" if newer else DAMAGED,
        )
    problems, values = _checked(saved)
    raise_all(ModelError, str(path), problems, hint=DAMAGED)
    return FolderConfig(**values)


def _checked(saved: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """The problems of the JSON, and the fields where there is none."""
    known = ("format", "levt", "model", "dtype", "separate_tokenizers", "files", "training")
    problems = [f"unknown key {key!r}" for key in saved if key not in known]
    problems += [f"the key {key!r} is missing" for key in known if key not in saved]
    if problems:
        return problems, {}
    if not isinstance(saved["levt"], str):
        problems.append(f"levt must be a version, got {saved['levt']!r}")
    if saved["dtype"] not in get_args(StoredDtype):
        problems.append(f"dtype must be one of {', '.join(get_args(StoredDtype))}, got {saved['dtype']!r}")
    if not isinstance(saved["separate_tokenizers"], bool):
        problems.append(f"separate_tokenizers must be true or false, got {saved['separate_tokenizers']!r}")
    if not isinstance(saved["training"], dict | None):
        problems.append(f"training must be a table or null, got {saved['training']!r}")
    model = None
    if not isinstance(saved["model"], dict):
        problems.append(f"model must be a table, got {saved['model']!r}")
    else:
        try:
            model = config_from_json(saved["model"])
        except ConfigError as error:
            problems.append(error.message)
    files: dict[str, FileRecord] = {}
    if not isinstance(saved["files"], dict):
        problems.append(f"files must be a table, got {saved['files']!r}")
    else:
        for name, record in saved["files"].items():
            if _is_record(record):
                files[name] = FileRecord(**record)
            else:
                problems.append(f"files: {name!r} must have 'bytes' and 'sha256', got {record!r}")
    values = {key: saved[key] for key in ("levt", "dtype", "separate_tokenizers", "training")}
    if model is not None and not problems:
        config = FolderConfig(model=model, files=files, **values)
        if set(files) != set(config.needed):
            problems.append(f"files must be {', '.join(config.needed)}, got {', '.join(files) or 'none'}")
    return problems, {"model": model, "files": files, **values}


def _is_record(record: Any) -> bool:
    """Whether a JSON value says what a file must be."""
    return (
        isinstance(record, dict)
        and set(record) == {"bytes", "sha256"}
        and type(record["bytes"]) is int
        and isinstance(record["sha256"], str)
    )
