"""Records of text from files: pairs (source, target) and triples (source, draft, target). Knows no token.

Three layouts: *parallel* files, one sentence a line, line i of one belonging to line i of the others; *TSV*
with two columns (source, target) or three (source, draft, target); *JSONL* with the keys ``source``,
``target`` and maybe ``draft``. Each may be packed as .gz or .xz. Everything is streamed.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Literal, NamedTuple

from levt.data.lines import Lines, check_file
from levt.errors import ConfigError, InputError, raise_all, wrong_choices

Layout = Literal["parallel", "tsv", "jsonl"]
FIELDS = ("source", "draft", "target")
"""The fields of a record, in the order in which files and columns are given."""


class Record(NamedTuple):
    """One example with the number of its line."""

    line: int
    source: str
    target: str
    draft: str | None = None


@dataclass(frozen=True, kw_only=True)
class Sieve:
    """What is done with lines that cannot serve; whatever is skipped is counted."""

    empty: Literal["skip", "error", "keep"] = "skip"
    """An empty source or target (an empty draft is the empty canvas, and welcome)."""
    long: Literal["skip", "error"] = "skip"
    """A line of more than ``max_bytes``."""
    broken: Literal["skip", "error"] = "error"
    """A line that is not UTF-8, has another number of columns or is not JSON with the keys."""
    max_bytes: int = 16384
    """Longest line, in bytes of UTF-8."""

    def __post_init__(self) -> None:
        problems = wrong_choices(self)
        if self.max_bytes <= 0:
            problems.append(f"max_bytes must be positive, got {self.max_bytes}")
        raise_all(ConfigError, "sieve", problems)


class Corpus:
    """The records of one set of files; can be read again and again."""

    def __init__(self, files: Sequence[Path], *, layout: Layout, has_draft: bool | None = None) -> None:
        """Files as ``corpora`` sorts them; ``has_draft`` is None until the first row of a table tells."""
        self.files = tuple(files)
        self.layout = layout
        self.has_draft = has_draft
        self._readers: list[Lines] = []

    def __repr__(self) -> str:
        return f"Corpus({' '.join(map(str, self.files))})"

    @property
    def bytes_total(self) -> int:
        """Size of the files on disk."""
        return sum(path.stat().st_size for path in self.files)

    @property
    def bytes_read(self) -> int:
        """How much of them the latest reading has gone through."""
        return sum(reader.position for reader in self._readers)

    def records(self, sieve: Sieve, skipped: Counter[str] | None = None) -> Iterator[Record]:
        """Stream the records; reasons for skipping are counted in ``skipped``."""
        skipped = Counter() if skipped is None else skipped
        self._readers = [Lines(path, max_bytes=sieve.max_bytes) for path in self.files]
        rows = self._aligned() if self.layout == "parallel" else self._table(self.layout)
        for number, path, problem, texts in rows:
            reason, verdict = None, "skip"
            if problem is not None:
                too_long = problem.startswith("longer")
                reason, verdict = ("too long", sieve.long) if too_long else ("broken", sieve.broken)
            elif sieve.empty != "keep" and not (texts[0].strip() and texts[-1].strip()):
                side, path = ("target", self.files[-1]) if texts[0].strip() else ("source", self.files[0])
                reason, verdict, problem = f"empty {side}", sieve.empty, f"empty {side}"
            if reason is None:
                yield Record(number, texts[0], texts[-1], texts[1] if len(texts) == 3 else None)
            elif verdict == "error":
                flag = "with --skip-broken" if reason == "broken" else "without --strict"
                raise InputError(
                    f"{path}, line {number}: {problem}",
                    hint=f"correct the line; {flag} such lines of training data are skipped",
                )
            else:
                skipped[reason] += 1

    def _aligned(self) -> Iterator["_Row"]:
        readers = [iter(reader) for reader in self._readers]
        for before, rows in enumerate(zip_longest(*readers)):
            if None in rows:
                # What is left is counted on the spot: a pipe cannot be read again.
                rest = zip(readers, rows, strict=True)
                self._uneven([before + (row is not None) + sum(1 for _ in one) for one, row in rest])
            path, bad = next(
                ((path, row) for path, row in zip(self.files, rows, strict=True) if row.problem),
                (self.files[0], rows[0]),
            )
            yield _Row(rows[0].number, path, bad.problem, tuple(row.text for row in rows))

    def _uneven(self, counts: Sequence[int]) -> None:
        listed = ", ".join(f"{path} has {count}" for path, count in zip(self.files, counts, strict=True))
        raise InputError(
            f"the files do not have the same number of lines: {listed}",
            hint="parallel files need one sentence a line, and line i of each must belong together",
        )

    def _table(self, layout: str) -> Iterator["_Row"]:
        parse: Callable[[str, bool | None], tuple[str, ...]] = _columns if layout == "tsv" else _keys
        for line in self._readers[0]:
            texts: tuple[str, ...] = ("", "")
            problem = line.problem
            if problem is None:
                try:
                    texts = parse(line.text, self.has_draft)
                    if self.has_draft is None:
                        self.has_draft = len(texts) == 3
                except ValueError as error:
                    problem = str(error)
            yield _Row(line.number, self.files[0], problem, texts)


class _Row(NamedTuple):
    number: int
    path: Path
    problem: str | None
    texts: tuple[str, ...]


def _columns(text: str, has_draft: bool | None) -> tuple[str, ...]:
    columns = tuple(text.split("\t"))
    wanted = (2, 3) if has_draft is None else (3,) if has_draft else (2,)
    if len(columns) not in wanted:
        allowed = " or ".join(map(str, wanted))
        raise ValueError(f"{len(columns)} columns where {allowed} are expected (source, [draft,] target)")
    return columns


def _keys(text: str, has_draft: bool | None) -> tuple[str, ...]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from error
    if not isinstance(found, dict):
        raise ValueError("not a JSON object with the keys source and target")
    with_draft = found.get("draft") is not None if has_draft is None else has_draft
    if not with_draft and found.get("draft") is not None:
        raise ValueError("a draft, which the first line has not")
    keys = FIELDS if with_draft else ("source", "target")
    for key in keys:
        if not isinstance(found.get(key), str):
            raise ValueError(f"the key {key!r} is missing or not a text")
    texts = tuple(found[key] for key in keys)
    if any("\ud800" <= character <= "\udfff" for one in texts for character in one):
        raise ValueError("a lone surrogate")
    return texts


def corpora(paths: Sequence[Path], *, layout: Layout | None = None, draft: bool = False) -> list[Corpus]:
    """Sort files into corpora: by twos (source, target), with ``draft`` by threes, tables one by one.

    The layout of a table shows in its name (.tsv, .jsonl, also packed) unless it is given. A folder stands for its
    files in the order of their names: several folders in a row, side by side, belong together file by file.
    """
    found: list[Corpus] = []
    waiting: list[Path] = []
    size = 3 if draft else 2
    for path in _unfolded(paths, layout, size):
        check_file(path)
        kind = layout or _layout_of(path)
        if kind != "parallel" and not waiting:
            found.append(Corpus([path], layout=kind, has_draft=True if draft else None))
            continue
        waiting.append(path)
        if len(waiting) == size:
            found.append(Corpus(waiting, layout="parallel", has_draft=draft))
            waiting = []
    if waiting:
        fields = FIELDS if draft else ("source", "target")
        raise InputError(
            f"{' '.join(map(str, waiting))}: {len(waiting)} of {size} parallel files",
            hint=f"give {' '.join(field.upper() for field in fields)}, or one .tsv or .jsonl file",
        )
    return found


def _unfolded(paths: Sequence[Path], layout: Layout | None, size: int) -> Iterator[Path]:
    """The files of files and folders; of folders of parallel files the first of each, then the second of each, …"""
    at = 0
    while at < len(paths):
        if not paths[at].is_dir():
            yield paths[at]
            at += 1
            continue
        tables = [path for path in shards_in(paths[at]) if (layout or _layout_of(path)) != "parallel"]
        several = 1 if tables else size
        folders = [shards_in(path) if path.is_dir() else [path] for path in paths[at : at + several]]
        counts = [len(files) for files in folders]
        if len(counts) < several or len(set(counts)) > 1:
            raise InputError(
                f"{' '.join(map(str, paths[at : at + several]))}: {' and '.join(map(str, counts))} files",
                hint=f"folders of parallel files come in {size}s, with as many files in each",
            )
        for files in zip(*folders, strict=True):
            yield from files
        at += several


def shards_in(folder: Path) -> list[Path]:
    """The files of a folder in the order of their names; hidden ones, marks and manifests are not data."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    files = [path for path in files if path.name[0] not in "._" and path.name != "manifest.json"]
    if not files:
        raise InputError(f"there is no file in {folder}", hint="name a file, or a folder of files")
    return files


def _layout_of(path: Path) -> Layout:
    name = path.name.removesuffix(".gz").removesuffix(".xz")
    return "tsv" if name.endswith(".tsv") else "jsonl" if name.endswith(".jsonl") else "parallel"
