"""Writing a store, chunk by chunk, in memory that does not grow with the corpus. Knows no text."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from levt.data.columns import Column, flat
from levt.data.store import META, OFFSET, TOKEN, VERSION


class StoreWriter:
    """Appends examples to a new store in a folder that exists and is empty; ``close`` makes it one.

    Atomicity is the caller's: write into ``new_folder``.
    """

    def __init__(
        self, folder: Path, vocabularies: Mapping[str, tuple[int, str]], *, shard_size: int = 1 << 24
    ) -> None:
        """``vocabularies``: for each field, target last, the size and the fingerprint of its tokenizer."""
        self.folder = folder
        self.shard_size = shard_size
        self.count = 0
        self.fields: dict[str, dict[str, Any]] = {
            field: {
                "dtype": "uint16" if size <= 1 << 16 else "uint32",
                "tokens": 0,
                "longest": 0,
                "size": size,
                "tokenizer": fingerprint,
            }
            for field, (size, fingerprint) in vocabularies.items()
        }
        self._shards: list[dict[str, Any]] = []
        self._open: dict[str, _File] = {}
        self._room = 0

    def add(self, rows: Mapping[str, Sequence[Sequence[int]]]) -> None:
        """Append examples: for each field as many rows of ids, without boundaries."""
        self.add_flat({field: flat(rows[field]) for field in self.fields})

    def add_flat(self, columns: Mapping[str, Column]) -> None:
        """Append examples: for each field the ids of all rows one after the other, and how many each has."""
        total = len(columns["target"][1])
        starts = {field: np.concatenate([[0], np.cumsum(lengths)]) for field, (_, lengths) in columns.items()}
        begin = 0
        while begin < total:
            if self._room == 0:
                self._next_shard()
            end = min(total, begin + self._room)
            for field, known in self.fields.items():
                tokens, lengths = columns[field]
                some = tokens[starts[field][begin] : starts[field][end]]
                self._append(field, known, some.astype(TOKEN[known["dtype"]]), lengths[begin:end])
            self._room -= end - begin
            self._shards[-1]["count"] += end - begin
            self.count += end - begin
            begin = end

    def _append(self, field: str, known: dict[str, Any], flat: np.ndarray, lengths: np.ndarray) -> None:
        tokens, offsets = self._open[f"{field}.tokens"], self._open[f"{field}.offsets"]
        ends = tokens.size // flat.itemsize + np.cumsum(lengths)
        tokens.write(flat)
        offsets.write(ends.astype(OFFSET))
        known["tokens"] += len(flat)
        known["longest"] = max(known["longest"], int(lengths.max(initial=0)))

    def _next_shard(self) -> None:
        self._end_shard()
        name = f"{len(self._shards):05d}"
        self._shards.append({"name": name, "count": 0, "files": {}})
        for field in self.fields:
            for end in ("tokens", "offsets"):
                self._open[f"{field}.{end}"] = _File(self.folder / f"{name}.{field}.{end}")
            self._open[f"{field}.offsets"].write(np.zeros(1, OFFSET))
        self._room = self.shard_size

    def _end_shard(self) -> None:
        for end, file in self._open.items():
            self._shards[-1]["files"][end] = file.close()
        self._open = {}

    def close(self) -> None:
        """Finish the files and write ``meta.json``."""
        if not self._shards:
            self._next_shard()
        self._end_shard()
        meta = {"version": VERSION, "count": self.count, "fields": self.fields, "shards": self._shards}
        (self.folder / META).write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")

    def abandon(self) -> None:
        """Close what is open without finishing; the folder is then of no use."""
        for file in self._open.values():
            file.drop()
        self._open = {}


class _File:
    """A file being written, with its size and checksum so far."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("wb")
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, array: np.ndarray) -> None:
        data = array.tobytes()
        self._file.write(data)
        self._digest.update(data)
        self.size += len(data)

    def close(self) -> dict[str, Any]:
        self._file.close()
        return {"bytes": self.size, "sha256": self._digest.hexdigest()}

    def drop(self) -> None:
        with suppress(OSError):  # the very error that made us give up
            self._file.close()
