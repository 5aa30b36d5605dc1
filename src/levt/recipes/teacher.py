"""A teacher at work: it decodes the sources of a store, shard by shard. Knows not who else does."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from levt.data.prepare import load_tokenizers
from levt.data.store import Store
from levt.engine.batching import Budget
from levt.engine.model import Model, load
from levt.engine.result import Result
from levt.errors import ConfigError, InputError
from levt.policy.folder import Tokenizers
from levt.recipes.distillation import Distillation
from levt.recipes.experiment import as_input
from levt.recipes.shards import Shards
from levt.refine.decoders import options_of
from levt.refine.options import Options

TRAIN = "train"
EMPTY, UNFINISHED, TOO_LONG, UNREADABLE = "empty", "unfinished", "too long", "unreadable source"
"""Why a target keeps its reference."""


@dataclass(frozen=True, kw_only=True)
class Teaching:
    """The work of a teacher: the sources of a corpus, shard by shard."""

    teacher: Path
    """Its model folder."""
    corpus: Path
    """Folder that ``levt prepare`` has written."""
    settings: Distillation
    """How it writes."""
    pieces: Shards
    """What is to be done, and where it is kept."""
    engine: str = "auto"
    """What runs the teacher."""

    def open(self, device: str | None) -> Callable[[int], None]:
        """Load the teacher and the corpus."""
        store, tokenizers = Store.open(self.corpus / TRAIN), Tokenizers(*load_tokenizers(self.corpus))
        size = self.settings.batch_size
        budget = Budget(rows=size, tokens=max(64 * size, 8_192), window=max(4_096, self.settings.shard))
        model = load(self.teacher, device=device, engine=self.engine, budget=budget)
        writer = Writer(model, store, tokenizers, self.settings, longest=longest_target(self.corpus))

        def do(piece: int) -> None:
            targets, kept = writer.targets(self.pieces.rows(piece))
            self.pieces.write(piece, {"targets": targets, "kept": kept})

        return do


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
        known = [one.name for one in fields(Options if model.kind == "levt" else options_of(model.kind))]
        wanted = {**vars(settings), "length_beam": settings.beam}
        self.options: dict[str, Any] = {name: value for name, value in wanted.items() if name in known}
        edits = model.kind == "post-editing" or (model.kind == "levt" and not settings.from_scratch)
        if model.kind == "post-editing" and not store.has_draft:
            raise ConfigError(
                "a post-editing teacher reads drafts, and this corpus has none",
                hint="prepare one with drafts: levt prepare --draft --train SOURCE DRAFT TARGET",
            )
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
        # Who writes from left to right has not come to the end; all others have written all of a text.
        if result.stopped == "limit" and "beam" in self.options:
            return None, UNFINISHED
        return (tokens, None) if len(tokens) + 2 <= self.longest else (None, TOO_LONG)


def longest_target(corpus: Path) -> int:
    """Most tokens, boundaries counted, that the corpus was prepared for."""
    try:
        note = json.loads((corpus / "prepare.json").read_text("utf-8"))
        return int(note["settings"]["max_length"])
    except (OSError, ValueError, KeyError, TypeError):
        return 512
