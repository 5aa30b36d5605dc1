"""One split on its way from text to a store: read, encode, write. Knows no vocabulary learning."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from levt.data.encode import Encoder, encoded
from levt.data.preparation import TRAIN, Preparation, Progress, SplitReport
from levt.data.read import Corpus, Record, Sieve
from levt.data.write import StoreWriter
from levt.errors import InputError
from levt.text.tokenizer import Tokenizer

CHUNK = 4096
"""Examples tokenised at a time, at most."""
CHUNK_CHARACTERS = 1 << 20
"""Their characters; a chunk ends with the example that reaches this."""


class Split:
    """The corpora of one split and what is done with them."""

    def __init__(
        self,
        name: str,
        corpora: Sequence[Corpus],
        settings: Preparation,
        *,
        source: Tokenizer,
        target: Tokenizer,
        elsewhere: set[int] | None = None,
        processes: int = 1,
    ) -> None:
        """``elsewhere``: hashes of sources; training examples among them are left out, others are added."""
        self.name = name
        self.corpora = corpora
        self.settings = settings
        self.tokenizers = {"source": source, "draft": target, "target": target}
        self.elsewhere: set[int] = set() if elsewhere is None else elsewhere
        self.processes = processes
        self.skipped: Counter[str] = Counter()

    def write(self, folder: Path, progress: Progress) -> SplitReport:
        """Write the store to ``folder``, in memory that does not grow with the corpus."""
        begun = time.perf_counter()
        folder.mkdir()
        writer: StoreWriter | None = None
        records = watched(self.corpora, self.settings.sieve(self.name), self.skipped, self.name, progress)
        chunks = _chunks(records)
        try:
            if (first := next(chunks, None)) is not None:
                encoder = self._encoder(first[0])
                known = {field: self.tokenizers[field] for field in encoder.fields}
                writer = StoreWriter(
                    folder, {field: (one.size, one.fingerprint) for field, one in known.items()}
                )
                for found in encoded(encoder, chain([first], chunks), self.processes):
                    writer.add_flat(found.columns)
                    self.skipped.update(found.skipped)
                    self.elsewhere |= found.sources
            if writer is None or writer.count == 0:
                files = " ".join(str(file) for corpus in self.corpora for file in corpus.files)
                raise InputError(f"{self.name}: no usable example in {files}", hint=self._reasons())
            writer.close()
        finally:
            if writer is not None:
                writer.abandon()
        return SplitReport(
            examples=writer.count,
            skipped=dict(sorted(self.skipped.items())),
            tokens={field: known["tokens"] for field, known in writer.fields.items()},
            longest={field: known["longest"] for field, known in writer.fields.items()},
            seconds=time.perf_counter() - begun,
        )

    def _encoder(self, first: Record) -> Encoder:
        """How the records are encoded, of which this is the first."""
        return Encoder(
            split=self.name,
            settings=self.settings,
            fields=("source", "target") if first.draft is None else ("source", "draft", "target"),
            source=self.tokenizers["source"],
            target=self.tokenizers["target"],
            elsewhere=frozenset(self.elsewhere) if self.name == TRAIN else frozenset(),
        )

    def _reasons(self) -> str:
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(self.skipped.items()))
        return f"skipped: {listed}" if listed else "the files are empty"


def watched(
    corpora: Sequence[Corpus], sieve: Sieve, skipped: Counter[str], stage: str, progress: Progress
) -> Iterator[Record]:
    """The records of several corpora one after the other, telling how far it has come."""
    total = sum(corpus.bytes_total for corpus in corpora)
    before = 0
    for corpus in corpora:
        for number, record in enumerate(corpus.records(sieve, skipped)):
            if number & 0x3FF == 0:
                progress(stage, before + corpus.bytes_read, total)
            yield record
        before += corpus.bytes_total
    progress(stage, total, total)


def _chunks(records: Iterator[Record]) -> Iterator[list[Record]]:
    chunk: list[Record] = []
    characters = 0
    for record in records:
        chunk.append(record)
        characters += len(record.source) + len(record.target) + len(record.draft or "")
        if len(chunk) == CHUNK or characters >= CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk
