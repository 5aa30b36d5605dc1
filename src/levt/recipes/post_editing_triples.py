"""Triples of source, draft and post-edit, as files and as lists. Knows no token and no model.

A folder of triples has, for each split, ``SPLIT.src``, ``SPLIT.mt`` and ``SPLIT.pe``, line by line: as the shared
tasks publish them.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from levt.data.aligned import aligned
from levt.errors import InputError
from levt.evaluation.edit_order import Times
from levt.evaluation.keystrokes import read_actions, replay

ENDS = ("src", "mt", "pe")


@dataclass(frozen=True)
class Triples:
    """What post-editing learns from and is judged by, row by row."""

    sources: list[str]
    drafts: list[str]
    targets: list[str]

    def __post_init__(self) -> None:
        if not len(self.sources) == len(self.drafts) == len(self.targets):
            raise InputError(
                f"triples must be aligned, got {len(self.sources)} sources, {len(self.drafts)} drafts, "
                f"{len(self.targets)} targets",
                hint="line i of each file must belong to line i of the others",
            )

    def __len__(self) -> int:
        return len(self.sources)

    def rows(self) -> list[tuple[str, str, str]]:
        """One by one."""
        return list(zip(self.sources, self.drafts, self.targets, strict=True))

    def first(self, most: int) -> "Triples":
        """The first ones."""
        return Triples(self.sources[:most], self.drafts[:most], self.targets[:most])

    def without(self, sources: Iterable[str]) -> "Triples":
        """Those with another source than any of these; capitals and spaces make no difference.

        >>> Triples(["The dog .", "A cat ."], ["x", "y"], ["x", "y"]).without(["the  dog ."]).sources
        ['A cat .']
        """
        known = {key(source) for source in sources}
        return of_rows(row for row in self.rows() if key(row[0]) not in known)

    def write(self, paths: Sequence[Path]) -> None:
        """As three files, one sentence a line."""
        for path, texts in zip(paths, (self.sources, self.drafts, self.targets), strict=True):
            path.write_bytes("".join(f"{text}\n" for text in texts).encode())


def key(text: str) -> str:
    """What two texts share that differ in capitals and spaces alone: some sets have lost the capitals of beginnings."""
    return " ".join(text.casefold().split())


def of_rows(rows: Iterable[tuple[str, ...]]) -> Triples:
    """Triples from rows."""
    sources, drafts, targets = (
        ([*column] for column in zip(*rows, strict=True)) if (rows := [*rows]) else ([],) * 3
    )
    return Triples(sources, drafts, targets)


def files(folder: Path, split: str) -> list[Path]:
    """The three files of a split."""
    return [folder / f"{split}.{end}" for end in ENDS]


def read(paths: Sequence[Path]) -> Triples:
    """The triples of three files."""
    return of_rows(aligned(*paths))


@dataclass(frozen=True)
class Watched:
    """Triples of which is known in which order a person edited them."""

    triples: Triples
    times: list[Times]
    """When each place of a draft was first edited."""


def watched(triples: Triples, keystrokes: Sequence[Path], actions: Path) -> Watched:
    """The rows of some triples whose edits were recorded: the same source and draft, but for capitals.

    What a model was not taught with can so be compared with what people did, even where the recordings are those of
    a training set: only rows of ``triples`` are given back. Recordings that do not fit their draft, or in which nothing
    was edited, are left out.
    """
    recorded: dict[tuple[str, str], Times] = {}
    texts, all_steps = read(keystrokes), read_actions(actions)
    if len(texts) != len(all_steps):
        raise InputError(
            f"{actions} must have one line for each line of {keystrokes[0]}, {len(texts)}, got {len(all_steps)}",
            hint="line i of each file must belong to line i of the others",
        )
    for (source, draft, _), steps in zip(texts.rows(), all_steps, strict=True):
        with suppress(InputError):
            recorded[key(source), key(draft)] = replay(draft.split(), steps)[1]
    rows, found = [], []
    for row in triples.rows():
        times = recorded.get((key(row[0]), key(row[1])))
        if times:
            rows.append(row)
            found.append(times)
    return Watched(of_rows(rows), found)
