"""Store: a corpus of token ids on disk, memory-mapped. Knows no text and no batch.

    FOLDER/meta.json                 version, count, fields, shards with the checksum of each file
    FOLDER/00000.source.tokens       the ids of all sources one after the other, without boundaries
    FOLDER/00000.source.offsets      where each begins, and the end: count + 1 numbers
    FOLDER/00000.target.…            the same for the target and, where there is one, the draft

Opening checks version and sizes and reads no token; ``verify`` reads all. A store of 100 million pairs
opens as fast as one of ten, and only what is looked at comes into memory.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int64

from levt.errors import StoreError

VERSION = 1
"""Of the layout on disk; another version is refused."""

META = "meta.json"
OFFSET = np.dtype("<u8")
TOKEN: dict[str, np.dtype[Any]] = {"uint16": np.dtype("<u2"), "uint32": np.dtype("<u4")}


class Store:
    """A corpus of pairs or triples of token rows, read-only; ``Store.open`` makes it."""

    def __init__(self, folder: Path, meta: dict[str, Any]) -> None:
        self.folder = folder
        self.meta = meta
        self.fields: tuple[str, ...] = tuple(meta["fields"])
        """The fields, target last: source, draft (where there is one), target."""
        shards = meta["shards"]
        self._starts = np.cumsum([0, *(shard["count"] for shard in shards)])
        self._tokens = {
            field: [
                _mapped(folder / f"{shard['name']}.{field}.tokens", TOKEN[meta["fields"][field]["dtype"]])
                for shard in shards
            ]
            for field in self.fields
        }
        self._offsets = {
            field: [_mapped(folder / f"{shard['name']}.{field}.offsets", OFFSET) for shard in shards]
            for field in self.fields
        }

    @classmethod
    def open(cls, folder: str | Path) -> "Store":
        """Open a store; checks its version and the sizes of its files."""
        folder = Path(folder)
        meta = _read_meta(folder)
        for file, known in _files(meta):
            path = folder / file
            size = path.stat().st_size if path.is_file() else None
            if size != known["bytes"]:
                found = "missing" if size is None else f"{size} bytes long"
                raise StoreError(f"{path} should be {known['bytes']} bytes long and is {found}", hint=_AGAIN)
        return cls(folder, meta)

    def verify(self) -> None:
        """Read everything: checksums, the order of the offsets, ids within the vocabulary."""
        for file, known in _files(self.meta):
            with (self.folder / file).open("rb") as opened:
                if hashlib.file_digest(opened, "sha256").hexdigest() != known["sha256"]:
                    raise StoreError(f"{self.folder / file} is damaged: its checksum differs", hint=_AGAIN)
        for field, known in self.meta["fields"].items():
            for tokens, offsets in zip(self._tokens[field], self._offsets[field], strict=True):
                ordered = all(bool(np.all(part[1:] >= part[:-1])) for part in _parts(offsets, 1))
                if not ordered or offsets[0] != 0 or offsets[-1] != len(tokens):
                    raise StoreError(f"{self.folder}: the offsets of {field} are damaged", hint=_AGAIN)
                if any(bool(np.any(part >= known["size"])) for part in _parts(tokens)):
                    raise StoreError(f"{self.folder}: {field} holds ids outside its vocabulary", hint=_AGAIN)

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r}, {len(self)} × {'+'.join(self.fields)})"

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        # Another process maps the files itself; nothing is copied.
        return Store.open, (str(self.folder),)

    @property
    def identity(self) -> str:
        """Changes with any token of the store (its meta holds the checksums of its files), and with nothing else."""
        known = json.dumps({key: self.meta[key] for key in ("count", "fields", "shards")}, sort_keys=True)
        return hashlib.sha256(known.encode()).hexdigest()[:16]

    @property
    def has_draft(self) -> bool:
        """Whether the examples are triples."""
        return "draft" in self.fields

    def source(self, i: int) -> np.ndarray:
        """Token ids of a source, without boundaries."""
        return self._row("source", i)

    def target(self, i: int) -> np.ndarray:
        """Token ids of a target, without boundaries."""
        return self._row("target", i)

    def draft(self, i: int) -> np.ndarray | None:
        """Token ids of a draft, without boundaries; None where the store has pairs only."""
        return self._row("draft", i) if self.has_draft else None

    def _row(self, field: str, i: int) -> np.ndarray:
        if not 0 <= i < len(self):
            raise IndexError(f"example {i} of a store of {len(self)}")
        shard = int(np.searchsorted(self._starts, i, side="right")) - 1
        at = i - int(self._starts[shard])
        begin, end = self._offsets[field][shard][at : at + 2]
        row: np.ndarray = self._tokens[field][shard][int(begin) : int(end)]
        return row

    def lengths(self, field: str, rows: Int64[np.ndarray, "r"]) -> Int64[np.ndarray, "r"]:
        """How many tokens each of the examples ``rows`` has, boundaries not counted."""
        begin, end, _ = self._spans(field, rows)
        length: np.ndarray = end - begin
        return length

    def gather(
        self, field: str, rows: Int64[np.ndarray, "r"]
    ) -> tuple[Int64[np.ndarray, "t"], Int64[np.ndarray, "r"]]:
        """The tokens of the examples ``rows`` one after the other, and how many each has."""
        begin, end, shard = self._spans(field, rows)
        length = end - begin
        after = np.cumsum(length)
        # Position of every token in its file: where its row begins there, less where it begins here.
        where = np.repeat(begin - (after - length), length) + np.arange(int(length.sum()))
        if len(self._tokens[field]) == 1:
            return self._tokens[field][0][where].astype(np.int64), length
        flat = np.empty(len(where), np.int64)
        owner = np.repeat(shard, length)
        for one in np.unique(shard):
            mine = owner == one
            flat[mine] = self._tokens[field][int(one)][where[mine]]
        return flat, length

    def _spans(self, field: str, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        offsets = self._offsets[field]
        if len(offsets) == 1:
            begin, end = offsets[0][rows], offsets[0][rows + 1]
            return begin.astype(np.int64), end.astype(np.int64), np.zeros(len(rows), np.int64)
        shard = np.searchsorted(self._starts, rows, side="right") - 1
        begin, end = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        for one in np.unique(shard):
            mine = shard == one
            at = rows[mine] - self._starts[one]
            begin[mine], end[mine] = offsets[int(one)][at], offsets[int(one)][at + 1]
        return begin, end, shard

    def tokens(self, field: str) -> int:
        """How many tokens a field has in all, boundaries not counted."""
        return int(self.meta["fields"][field]["tokens"])

    def longest(self, field: str) -> int:
        """Tokens of the longest row of a field, boundaries not counted."""
        return int(self.meta["fields"][field]["longest"])

    def fingerprint(self, field: str) -> str:
        """Fingerprint of the tokenizer whose ids a field holds."""
        return str(self.meta["fields"][field]["tokenizer"])


_AGAIN = "make the store again with `levt prepare`"


def _read_meta(folder: Path) -> dict[str, Any]:
    path = folder / META
    if not path.is_file():
        splits = sorted(child.name for child in folder.glob("*/") if (child / META).is_file())
        hint = f"it holds the stores {', '.join(splits)}: open one of them" if splits else _AGAIN
        raise StoreError(f"{folder} is not a store: there is no {path.name}", hint=hint)
    try:
        meta: dict[str, Any] = json.loads(path.read_text("utf-8"))
        version = meta["version"]
        if version != VERSION:
            raise StoreError(f"{folder} is a store of version {version}, not {VERSION}", hint=_AGAIN)
        _check_meta(meta)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(f"{path} is damaged: {type(error).__name__} {error}", hint=_AGAIN) from error
    return meta


def _check_meta(meta: dict[str, Any]) -> None:
    """Raise ValueError, KeyError or TypeError where the numbers do not agree with each other."""
    if sum(shard["count"] for shard in meta["shards"]) != meta["count"] or not meta["shards"]:
        raise ValueError("the shards do not add up to the count")
    if list(meta["fields"]) not in (["source", "target"], ["source", "draft", "target"]):
        raise ValueError(f"unknown fields {list(meta['fields'])}")
    if any(file != Path(file).name for file, _ in _files(meta)):
        raise ValueError("a file lies outside the folder")
    for field, known in meta["fields"].items():
        size, tokens = TOKEN[known["dtype"]].itemsize, 0
        for shard in meta["shards"]:
            if shard["files"][f"{field}.offsets"]["bytes"] != (shard["count"] + 1) * OFFSET.itemsize:
                raise ValueError(f"the offsets of {field} do not fit the count")
            tokens += shard["files"][f"{field}.tokens"]["bytes"] // size
        if tokens != known["tokens"]:
            raise ValueError(f"the tokens of {field} do not add up")


def _files(meta: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every file of a store with what is known of it."""
    return [
        (f"{shard['name']}.{end}", known) for shard in meta["shards"] for end, known in shard["files"].items()
    ]


def _mapped(path: Path, dtype: np.dtype[Any]) -> np.ndarray:
    # An empty file cannot be mapped.
    return np.memmap(path, dtype, mode="r") if path.stat().st_size else np.empty(0, dtype)


def _parts(array: np.ndarray, overlap: int = 0) -> Sequence[np.ndarray]:
    step = 1 << 22
    return [array[begin : begin + step + overlap] for begin in range(0, len(array), step)]
