"""Steps that write the pairs of a language for post-editing, with their words apart."""

import multiprocessing
import os
import random
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

from levt.data.aligned import aligned
from levt.data.children import end_with_the_parent
from levt.evaluation.scorers import tokenizer_named
from levt.recipes.post_editing_triples import key
from levt.recipes.post_editing_words import words_apart
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.post_editing_language import Language
from levt.recipes.reproduce.parts.post_editing_task import real_tasks
from levt.recipes.reproduce.parts.toy import sentence, target
from levt.recipes.synthesis import first_half

MANY = 20_000
"""Lines that are worth several processes."""


def pairs_step(language: Language, setting: Setting) -> Step:
    """The pairs of a language with their words apart; none for training that a dev or test set has."""
    if language.toy:
        return Step(label="post-editing-toy.pairs", run=write_toy_pairs, config={"draw": 3}, seconds=0.1)
    inputs: dict[str, Step | Path] = {}
    for i, pair in enumerate(language.train):
        inputs |= {f"train.{i}.{side}": setting.data / path for side, path in enumerate(pair)}
    for split, pair in (("dev", language.dev), ("test", language.test)):
        inputs |= {f"{split}.{side}": setting.data / path for side, path in enumerate(pair)}
    for task in real_tasks(language, setting.scale):
        for split in ("dev", "test"):
            inputs[f"held.{task.name}.{split}"] = setting.data / task.triples / f"{split}.src"
    config: dict[str, Any] = {"sets": len(language.train), "limit": language.limit}
    if language.tokenize is not None:
        config["tokenize"] = language.tokenize
    return Step(
        label=f"{language.name}.pairs",
        run=write_pairs,
        inputs=inputs,
        config=config,
        seconds=20.0,
        light=True,
    )


def write_pairs(job: Job) -> None:
    """Write SPLIT.src and SPLIT.tgt for every part."""
    held, tokenize = set(), job.config.get("tokenize")
    for name, path in job.inputs.items():
        if name.startswith("held."):
            held |= {key(text) for (text,) in aligned(path)}
    found: dict[str, list[tuple[str, str]]] = {}
    for split in ("dev", "test"):
        found[split] = _apart(job.inputs[f"{split}.0"], job.inputs[f"{split}.1"], None, tokenize)
        held |= {key(source) for source, _ in found[split]}
    found |= {"train": [], "first": [], "second": []}
    for i in range(job.config["sets"]):
        job.tell(f"set {i + 1} of {job.config['sets']}")
        left, right = (job.inputs[f"train.{i}.{side}"] for side in (0, 1))
        pairs = _apart(left, right, job.config["limit"], tokenize)
        pairs = [pair for pair in pairs if key(pair[0]) not in held and all(pair)]
        found["train"] += pairs
        if i == 0:
            for pair in pairs:
                found["first" if first_half(pair[0]) else "second"].append(pair)
    _write_parts(job.out, found)


def _apart(
    source: Path, target: Path, limit: int | None, tokenize: str | None = None
) -> list[tuple[str, str]]:
    rows = list(aligned(source, target))[:limit]  # all are read: files of different lengths are refused
    count = processes() if len(rows) > MANY else 1
    both = partial(_both, tokenize=tokenize)
    if count == 1:
        return [both(row) for row in rows]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, context, initializer=end_with_the_parent) as pool:
        return list(pool.map(both, rows, chunksize=MANY // 4))


def _both(row: tuple[str, ...], tokenize: str | None = None) -> tuple[str, str]:
    x, y = row
    if tokenize == "none":
        return x, y
    return words_apart(x), words_apart(y if tokenize is None else _tokenizer(tokenize)(y))


_tokenizer = cache(tokenizer_named)


def processes() -> int:
    """How many processes a step of plain Python may use: other steps run beside it."""
    return max(1, min(12, (os.cpu_count() or 1) - 4))


def _write_parts(out: Path, found: dict[str, list[tuple[str, str]]]) -> None:
    for part, pairs in found.items():
        for side, end in enumerate(("src", "tgt")):
            write_lines(out / f"{part}.{end}", [pair[side] for pair in pairs])


def write_lines(path: Path, texts: list[str]) -> None:
    """One text a line."""
    path.write_bytes("".join(f"{text}\n" for text in texts).encode())


def write_toy_pairs(job: Job) -> None:
    """Pairs of the toy language."""
    rng = random.Random(job.config["draw"])
    found = {}
    for part, count in (("train", 100), ("dev", 6), ("test", 6)):
        sources = [sentence(rng) for _ in range(count)]
        found[part] = [(source, target(source, "translation")) for source in sources]
    found["first"], found["second"] = found["train"][:50], found["train"][50:]
    _write_parts(job.out, found)
