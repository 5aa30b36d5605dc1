"""A teacher at work: it decodes the sources of a store, shard by shard, in one process or in several."""

import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any

import torch

from levt.data.prepare import load_tokenizers
from levt.data.store import Store
from levt.engine.model import Model, load
from levt.engine.result import Result
from levt.errors import ConfigError, InputError, LevtError
from levt.policy.folder import Tokenizers
from levt.recipes.distillation import Distillation, Progress
from levt.recipes.experiment import as_input
from levt.recipes.shards import Shards

TRAIN = "train"
EMPTY, UNFINISHED, TOO_LONG, UNREADABLE = "empty", "unfinished", "too long", "unreadable source"
"""Why a target keeps its reference."""


def decode_shards(
    teacher: Path,
    corpus: Path,
    settings: Distillation,
    shards: Shards,
    *,
    processes: int,
    device: str | None,
    progress: Progress,
) -> None:
    """Finish all shards, here or in so many processes of our own; other commands may help."""
    total = shards.count
    progress(shards.done, total)
    if shards.done == total:
        return
    if processes == 1:
        for _ in work(teacher, corpus, settings, shards, device_of_this_process(device)):
            progress(shards.done, total)
        progress(shards.done, total)
        return
    context = get_context("spawn")
    threads = max(1, (os.cpu_count() or 1) // processes)
    trouble: SimpleQueue[LevtError] = context.SimpleQueue()
    children = [
        context.Process(
            target=_child, args=(teacher, corpus, settings, shards, device, threads, trouble), daemon=True
        )
        for _ in range(processes)
    ]
    try:
        for child in children:
            child.start()
        while any(child.is_alive() for child in children):
            wait([child.sentinel for child in children if child.is_alive()], timeout=0.3)
            progress(shards.done, total)
            if any(child.exitcode for child in children):
                break
        if not trouble.empty():
            raise trouble.get()
        if any(child.exitcode for child in children):
            raise LevtError(
                "a process that decoded has died",
                hint="run the command again, it goes on; fewer --processes need less memory",
            )
    finally:
        for child in children:
            if child.is_alive():
                child.terminate()


def _child(
    teacher: Path,
    corpus: Path,
    settings: Distillation,
    shards: Shards,
    device: str | None,
    threads: int,
    trouble: "SimpleQueue[LevtError]",
) -> None:
    """What each process does; it does not outlive the one that started it."""
    threading.Thread(target=_die_with_the_parent, daemon=True).start()
    torch.set_num_threads(threads)
    try:
        for _ in work(teacher, corpus, settings, shards, device):
            pass
    except LevtError as error:
        trouble.put(error)
        sys.exit(2)


def _die_with_the_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def work(
    teacher: Path, corpus: Path, settings: Distillation, shards: Shards, device: str | None
) -> Iterator[int]:
    """Take shards and finish them, one for each step of this iterator."""
    model = load(teacher, device=device)
    store, tokenizers = Store.open(corpus / TRAIN), Tokenizers(*load_tokenizers(corpus))
    writer = Writer(model, store, tokenizers, settings, longest=longest_target(corpus))
    for piece in shards.claimed():
        targets, kept = writer.targets(shards.rows(piece))
        shards.write(piece, {"targets": targets, "kept": kept})
        yield piece


class Writer:
    """A teacher and the corpus it writes targets for."""

    def __init__(
        self, model: Model, store: Store, tokenizers: Tokenizers, settings: Distillation, *, longest: int
    ) -> None:
        self.model, self.store, self.tokenizers, self.longest = model, store, tokenizers, longest
        own = model.engine.tokenizers
        for side, mine, corpus in (
            ("source", own.source, tokenizers.source),
            ("target", own.target, tokenizers.target),
        ):
            if mine != corpus and (mine.by_pieces or corpus.by_pieces):
                raise ConfigError(
                    f"the {side} of the corpus is cut into given pieces, and the teacher has others",
                    hint="prepare the corpus with the teacher's tokenizer.json",
                )
        if model.kind == "levt":
            self.options: dict[str, Any] = {
                "max_iterations": settings.max_iterations,
                "empty_gap_penalty": settings.empty_gap_penalty,
            }
        else:
            self.options = {"beam": settings.beam, "length_penalty": settings.length_penalty}
        edits = model.kind == "post-editing" or (model.kind == "levt" and not settings.from_scratch)
        if model.kind == "post-editing" and not store.has_draft:
            raise ConfigError("a post-editing teacher reads drafts, and this corpus has none")
        self.with_draft = edits and store.has_draft

    def targets(self, rows: range) -> tuple[list[list[int] | None], dict[str, int]]:
        """For each example the teacher's target, or None where the reference stays; and why it does."""
        sources = as_input(self.tokenizers.source, [self.store.source(i).tolist() for i in rows])
        drafts = [""] * len(sources)
        if self.with_draft:
            drafts = as_input(
                self.tokenizers.target, [d.tolist() for i in rows if (d := self.store.draft(i)) is not None]
            )
        found: list[list[int] | None] = []
        kept: Counter[str] = Counter()
        for result in self._results(sources, drafts):
            target, reason = self._judged(result)
            found.append(target)
            if reason is not None:
                kept[reason] += 1
        return found, dict(sorted(kept.items()))

    def _results(self, sources: Sequence[str], drafts: Sequence[str]) -> list[Result | None]:
        """One result for each; None where the teacher cannot read a source. The others do not notice."""
        fits = [self._readable(source, draft) for source, draft in zip(sources, drafts, strict=True)]
        many = iter(self._run([s for s, fit in zip(sources, fits, strict=True) if fit],
                              [d for d, fit in zip(drafts, fits, strict=True) if fit]))  # fmt: skip
        found: list[Result | None] = []
        for source, draft, fit in zip(sources, drafts, fits, strict=True):
            if fit:
                found.append(next(many))
                continue
            try:
                found += self._run([source], [draft])
            except InputError:
                found.append(None)
        return found

    def _readable(self, source: str, draft: str) -> bool:
        """Whether a text goes through the teacher whole; one that does not is tried by itself."""
        positions, own = self.model.engine.config.max_length, self.model.engine.tokenizers
        return len(own.source.encode(source)) + 2 <= positions and (
            not self.with_draft or len(own.target.encode(draft)) + 2 <= positions
        )

    def _run(self, sources: list[str], drafts: list[str]) -> list[Result]:
        if self.with_draft:
            return self.model.refine(sources, draft=drafts, **self.options)
        return self.model.translate(sources, **self.options)

    def _judged(self, result: Result | None) -> tuple[list[int] | None, str | None]:
        if result is None:
            return None, UNREADABLE
        if not result.text.strip():
            return None, EMPTY
        target = self.tokenizers.target
        # As the tokenizer would cut the text: what the student is asked to write must be what it would read.
        tokens = list(result.tokens) if target.by_pieces else target.encode(result.text)
        if result.stopped == "limit" and self.model.kind != "levt":
            return None, UNFINISHED
        return (tokens, None) if len(tokens) + 2 <= self.longest else (None, TOO_LONG)


def longest_target(corpus: Path) -> int:
    """Most tokens, boundaries counted, that the corpus was prepared for."""
    try:
        note = json.loads((corpus / "prepare.json").read_text("utf-8"))
        return int(note["settings"]["max_length"])
    except (OSError, ValueError, KeyError, TypeError):
        return 512


def device_of_this_process(device: str | None) -> str | None:
    """The device asked for; under torchrun each process has a GPU of its own, where there are any."""
    rank = os.environ.get("LOCAL_RANK")
    return f"cuda:{rank}" if device is None and rank is not None and torch.cuda.is_available() else device
