"""One split on its way from text to a store: read, tokenise, sift, write. Knows no vocabulary learning."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from levt.data.preparation import TRAIN, Preparation, Progress, SplitReport
from levt.data.read import Corpus, Policy, Record
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
    ) -> None:
        """``elsewhere``: hashes of sources; training examples among them are left out, others are added."""
        self.name = name
        self.corpora = corpora
        self.settings = settings
        self.tokenizers = {"source": source, "draft": target, "target": target}
        self.elsewhere = elsewhere
        self.skipped: Counter[str] = Counter()

    def write(self, folder: Path, progress: Progress) -> SplitReport:
        """Write the store to ``folder``, in memory that does not grow with the corpus."""
        begun = time.perf_counter()
        folder.mkdir()
        writer: StoreWriter | None = None
        records = watched(self.corpora, self.settings.policy(self.name), self.skipped, self.name, progress)
        try:
            for chunk in _chunks(records):
                if writer is None:
                    fields = ("source", "target") if chunk[0].draft is None else ("source", "draft", "target")
                    known = {field: self.tokenizers[field] for field in fields}
                    sizes = {field: (one.size, one.fingerprint) for field, one in known.items()}
                    writer = StoreWriter(folder, sizes)
                writer.add(self._encoded(chunk, fields))
            if writer is None or writer.count == 0:
                raise InputError(f"{self.name}: no usable example in {self.corpora}", hint=self._reasons())
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

    def _encoded(self, records: Sequence[Record], fields: Sequence[str]) -> dict[str, list[list[int]]]:
        """The token rows of a chunk, less the examples that are left out."""
        for record in records:
            if (record.draft is not None) != ("draft" in fields):
                raise InputError(
                    f"{self.name}, line {record.line}: some examples have a draft, some have none"
                )
        rows = {
            field: self.tokenizers[field].encode_batch([getattr(record, field) for record in records])
            for field in fields
        }
        lengths = [max(map(len, row)) + 2 for row in zip(*rows.values(), strict=True)]
        keep = [i for i, record in enumerate(records) if self._kept(record, lengths[i])]
        return {field: [rows[field][i] for i in keep] for field in fields}

    def _kept(self, record: Record, length: int) -> bool:
        if self.elsewhere is not None:
            known = hash(self.tokenizers["source"].normalise(record.source).strip())
            if self.name != TRAIN:
                self.elsewhere.add(known)
            elif known in self.elsewhere:
                self.skipped["source also in another split"] += 1
                return False
        limit = self.settings.max_length
        if self.name != TRAIN or length <= limit:
            return True
        if self.settings.strict:
            raise InputError(
                f"{self.name}, line {record.line}: {length} tokens with boundaries, at most {limit} are allowed",
                hint="raise --max-length, or have such lines skipped",
            )
        self.skipped[f"more than {limit} tokens"] += 1
        return False

    def _reasons(self) -> str:
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(self.skipped.items()))
        return f"skipped: {listed}" if listed else "the files are empty"


def watched(
    corpora: Sequence[Corpus], policy: Policy, skipped: Counter[str], stage: str, progress: Progress
) -> Iterator[Record]:
    """The records of several corpora one after the other, telling how far it has come."""
    total = sum(corpus.bytes_total for corpus in corpora)
    before = 0
    for corpus in corpora:
        for number, record in enumerate(corpus.records(policy, skipped)):
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
