"""What does refinement do with a trained model? Iterations, its own texts, repair of drafts, terms, batches.

    python benchmarks/refinement.py runs/m30k/dist-1 test.en test.de --teacher runs/m30k/ar-1 \
        > benchmarks/results/refinement_multi30k_202611.md

Three bars: its own texts as drafts change in less than 1 % of the sentences; every term that is asked for appears, and
BLEU is not lower for it; a text is the same in a batch of 1 and of 64.
"""

import argparse
import platform
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import torch

import levt
from levt.engine.batching import Budget
from levt.engine.model import Model, load
from levt.engine.result import Result
from levt.evaluation.corruption import corrupted
from levt.evaluation.metrics import bleu, ter
from levt.evaluation.score import Score
from levt.evaluation.surface import term_use, words
from levt.evaluation.table import Row, markdown

RATES = (0.1, 0.3)
"""Shares of words that are corrupted in a reference."""
DIALS = (0.0, 0.5, 0.9)
"""min_edit."""
LETTERS = 5
"""A content word has at least so many."""


def counted(name: str, value: float) -> Score:
    """A number that no metric gave."""
    return Score(name=name, value=value, signature="")


def quality(texts: list[str], references: list[str]) -> tuple[Score, ...]:
    """BLEU and TER with their signatures."""
    return bleu(texts, references), ter(texts, references)


def work(results: list[Result]) -> tuple[Score, ...]:
    """How much was done for them, on average, and how it ended."""
    n = max(len(results), 1)
    stops = Counter(result.stopped for result in results)
    return (
        counted("iterations", sum(result.iterations for result in results) / n),
        counted("passes", sum(result.passes for result in results) / n),
        *(
            counted(f"{stop} %", 100 * stops[stop] / n)
            for stop in ("unchanged", "repeated", "cycle", "limit")
        ),
    )


def texts_of(results: list[Result]) -> list[str]:
    return [result.text for result in results]


def changed(one: list[str], other: list[str]) -> Score:
    """Share of the sentences that differ."""
    return counted("changed %", 100 * sum(a != b for a, b in zip(one, other, strict=True)) / max(len(one), 1))


def writing(model: Model, sources: list[str], references: list[str], teacher: Model | None) -> list[str]:
    """Translation, and what becomes of it as a draft; gives the translations."""
    results = model.translate(sources)
    texts = texts_of(results)
    once = model.translate(sources, reread=False)
    again = model.refine(sources, draft=texts)
    tokens = model.refine(sources, draft=texts_of(once), reread=False)
    rows = [
        Row(name="from nothing", scores=quality(texts, references) + work(results)),
        Row(name="… its text as draft", scores=(*work(again), changed(texts, texts_of(again)))),
        Row(name="from nothing, not read again", scores=quality(texts_of(once), references) + work(once)),
        Row(
            name="… its text as draft, too", scores=(*work(tokens), changed(texts_of(once), texts_of(tokens)))
        ),
    ]
    if teacher is not None:
        chosen = model.translate(sources, teacher=teacher)
        rows += [
            Row(name="the teacher chooses", scores=quality(texts_of(chosen), references) + work(chosen)),
            Row(
                name="teacher, beam 4",
                scores=quality(texts_of(teacher.translate(sources, beam=4)), references),
            ),
        ]
    print("## Writing, and its own texts as drafts\n")
    print(markdown(rows, flip=True), "\n")
    return texts


def repair(model: Model, sources: list[str], references: list[str]) -> None:
    """References with errors, before and after."""
    print("## Repair: references with words that are missing, there twice, wrong or moved\n")
    pool = [word for text in references for word in text.split(" ")]
    for rate in RATES:
        rng = random.Random(f"repair {rate}")
        drafts = [corrupted(text, rate, pool, rng) for text in references]
        rows = [Row(name=f"draft, {rate:.0%} wrong", scores=quality(drafts, references))]
        for dial in DIALS:
            results = model.refine(sources, draft=drafts, min_edit=dial)
            scores = (*quality(texts_of(results), references), *work(results))
            rows.append(Row(name=f"refined, min_edit {dial:g}", scores=scores))
        print(markdown(rows, flip=True), "\n")


def wanted(references: list[str], without: list[str] | None) -> list[list[str]]:
    """One or two content words of each reference; of those only that a text lacks, where texts are given."""
    rng = random.Random("terms")
    found = []
    for i, reference in enumerate(references):
        here = set(words(without[i])) if without else set()
        content = [
            w for w in dict.fromkeys(words(reference)) if w.isalpha() and len(w) >= LETTERS and w not in here
        ]
        found.append(rng.sample(content, min(len(content), rng.randint(1, 2))))
    return found


def terms(model: Model, sources: list[str], references: list[str], texts: list[str]) -> None:
    """Words of the reference as terms."""
    print("## Terms: one or two words of the reference, of five letters or more\n")
    rows = [Row(name="without terms", scores=quality(texts, references))]
    for name, asked in (
        ("any words", wanted(references, None)),
        ("words it lacked", wanted(references, texts)),
    ):
        results = model.translate(sources, terms=asked)
        found = texts_of(results)
        scores = (
            *quality(found, references),
            counted("terms", float(sum(map(len, asked)))),
            counted("present without %", 100 * term_use(texts, asked)),
            counted("present %", 100 * term_use(found, asked)),
        )
        rows.append(Row(name=name, scores=scores + work(results)))
    print(markdown(rows, flip=True), "\n")


def batches(model: Model, sources: list[str], texts: list[str]) -> None:
    """The same texts alone and together."""
    print("## Batches\n")
    rows = []
    for size in (1, 64):
        found = texts_of(Model(model.engine, Budget(rows=size)).translate(sources))
        rows.append(Row(name=f"batch {size}", scores=(changed(texts, found),)))
    print(markdown(rows, flip=True), "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--teacher", type=Path)
    parser.add_argument("--engine", default="torch")
    parser.add_argument("--device")
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    how: dict[str, Any] = {"engine": given.engine, "device": given.device}
    sources, references = (
        path.read_text(encoding="utf-8").splitlines()[: given.limit]
        for path in (given.source, given.reference)
    )
    model = load(given.model, **how)
    teacher = load(given.teacher, device=given.device) if given.teacher else None
    gpu = torch.cuda.is_available() and given.device != "cpu"
    where = torch.cuda.get_device_name() if gpu else f"CPU, {torch.get_num_threads()} thread(s)"
    print(f"# Refinement: {given.model.name} on {given.source.name}, {len(sources):,} sentences\n")
    print(f"levt {levt.__version__}, torch {torch.__version__}, Python {platform.python_version()}, ", end="")
    print(f"{where}, engine {given.engine}\n")
    began = time.perf_counter()
    texts = writing(model, sources, references, teacher)
    repair(model, sources, references)
    terms(model, sources, references, texts)
    batches(model, sources, texts)
    print(f"All of it took {time.perf_counter() - began:.0f} s.")


if __name__ == "__main__":
    main()
