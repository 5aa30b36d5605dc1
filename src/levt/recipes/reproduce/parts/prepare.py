"""The step that turns texts into a corpus of tokens: ``OUT/corpus``."""

import json
import shutil
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from levt.data.aligned import aligned
from levt.data.preparation import Preparation
from levt.data.prepare import prepare
from levt.data.read import Corpus, corpora
from levt.recipes.reproduce.framework.step import Job, Step

CORPUS = "corpus"
MAX_LENGTH = 256
"""Longest training example, in tokens with boundaries."""


def prepare_step(
    name: str, splits: Mapping[str, Sequence[tuple[str, str]]], where: Path | Step, *, vocabulary: int,
    separate: bool = False, limit: int | None = None,
) -> Step:  # fmt: skip
    """Prepare splits of pairs of files, which lie in a folder or were written by a step.

    Training examples whose source is also in dev or test are left out, and counted in ``corpus/prepare.json``.
    """
    inputs: dict[str, Step | Path] = {"texts": where} if isinstance(where, Step) else {}
    if isinstance(where, Path):
        for split, pairs in splits.items():
            for i, pair in enumerate(pairs):
                inputs |= {f"{split}.{i}.{side}": where / file for side, file in enumerate_sides(pair)}
    config: dict[str, Any] = {
        "vocabulary": vocabulary, "separate": separate, "limit": limit, "max_length": MAX_LENGTH
    }  # fmt: skip
    if isinstance(where, Step):
        config["files"] = {split: [list(pair) for pair in pairs] for split, pairs in splits.items()}
    else:
        config["pairs"] = {split: len(pairs) for split, pairs in splits.items()}
    seconds = 2.0 if isinstance(where, Step) else 20.0
    return Step(
        label=f"{name}.corpus", run=prepare_corpus, inputs=inputs, config=config, seconds=seconds, light=True
    )


def enumerate_sides(pair: tuple[str, str]) -> list[tuple[str, str]]:
    """Source and target of a pair, by name."""
    return list(zip(("source", "target"), pair, strict=True))


def prepare_corpus(job: Job) -> None:
    """Write ``corpus`` as ``levt prepare`` does."""
    limit, shortened = job.config["limit"], job.out / "shortened"
    splits: dict[str, list[Corpus]] = {}
    for split, files in _files(job).items():
        pairs = files
        if split == "train" and limit is not None:
            for pair in files:
                check_aligned(pair)
            pairs = [
                [_head(path, shortened / f"{i}.{path.name}", limit) for path in pair]
                for i, pair in enumerate(files)
            ]
        splits[split] = [one for pair in pairs for one in corpora(pair)]
    settings = Preparation(
        vocabulary=job.config["vocabulary"],
        separate=job.config["separate"],
        max_length=job.config["max_length"],
        drop_overlap=True,
    )
    prepare(job.out / CORPUS, splits, settings, progress=lambda stage, done, total: job.tell(stage))
    shutil.rmtree(shortened, ignore_errors=True)


def overlap(folder: Path) -> int:
    """How many training examples a step has left out because their sources are in the dev or test sets."""
    note = json.loads((folder / CORPUS / "prepare.json").read_text("utf-8"))
    return int(note["splits"]["train"]["skipped"].get("source also in another split", 0))


def _files(job: Job) -> dict[str, list[list[Path]]]:
    if "files" in job.config:
        known: dict[str, list[list[str]]] = job.config["files"]
        return {
            split: [[job.inputs["texts"] / file for file in pair] for pair in pairs]
            for split, pairs in known.items()
        }
    return {
        split: [[job.inputs[f"{split}.{i}.{side}"] for side in ("source", "target")] for i in range(count)]
        for split, count in job.config["pairs"].items()
    }


def check_aligned(pair: Sequence[Path]) -> None:
    """Refuse files of different lengths, of which the beginnings alone are read and would be as long as each other."""
    for _ in aligned(*pair):
        pass


def _head(path: Path, out: Path, lines: int) -> Path:
    """The first lines of a file, as a file."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with path.open("rb") as whole, out.open("wb") as part:
        part.writelines(islice(whole, lines))
    return out
