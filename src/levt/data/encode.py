"""Chunks of records to flat token arrays, in this process or in several, in order. Knows no store and no reading."""

import hashlib
import os
from collections import Counter, deque
from collections.abc import Iterator, Sequence, Set
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import NamedTuple

from levt.data.children import helps, mourn, starting
from levt.data.columns import Column, flat
from levt.data.preparation import TRAIN, Preparation
from levt.data.read import Record
from levt.errors import InputError, StoreError
from levt.text.tokenizer import Tokenizer


class Encoded(NamedTuple):
    """A chunk less the examples that are left out."""

    columns: dict[str, Column]
    skipped: dict[str, int]
    sources: set[int]
    """Hashes of the sources, where they are wanted."""


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """How the records of one split become tokens; a pure function, so that it may run anywhere."""

    split: str
    """Name of the split."""
    settings: Preparation
    """What may be left out."""
    fields: tuple[str, ...]
    """source, draft where there is one, target."""
    source: Tokenizer
    """Of the source."""
    target: Tokenizer
    """Of draft and target."""
    elsewhere: Set[int] = field(default_factory=frozenset)
    """Hashes of the sources of other splits; training examples among them are left out."""

    def __call__(self, records: Sequence[Record]) -> Encoded:
        """The tokens of a chunk."""
        for record in records:
            if (record.draft is not None) != ("draft" in self.fields):
                raise InputError(
                    f"{self.split}, line {record.line}: some examples have a draft, some have none",
                    hint="an empty draft will do; files with drafts and files without are prepared apart",
                )
        rows = {
            field: (self.source if field == "source" else self.target).encode_batch(
                [getattr(record, field) for record in records]
            )
            for field in self.fields
        }
        lengths = [max(map(len, row)) + 2 for row in zip(*rows.values(), strict=True)]
        skipped: Counter[str] = Counter()
        sources: set[int] = set()
        keep = [i for i, record in enumerate(records) if self._kept(record, lengths[i], skipped, sources)]
        columns = {field: flat([rows[field][i] for i in keep]) for field in self.fields}
        return Encoded(columns, dict(skipped), sources)

    def _kept(self, record: Record, length: int, skipped: Counter[str], sources: set[int]) -> bool:
        if self.settings.drop_overlap:
            known = fingerprint(self.source.normalise(record.source).strip())
            if self.split != TRAIN:
                sources.add(known)
            elif known in self.elsewhere:
                skipped["source also in another split"] += 1
                return False
        limit = self.settings.max_length
        if self.split != TRAIN or length <= limit:
            return True
        if self.settings.strict:
            raise InputError(
                f"{self.split}, line {record.line}: {length} tokens with boundaries, at most {limit} are allowed",
                hint="raise --max-length; without --strict such lines are skipped",
            )
        skipped[f"more than {limit} tokens"] += 1
        return False


def fingerprint(text: str) -> int:
    """A number for a text, the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest(), "little")


def encoded(encoder: Encoder, chunks: Iterator[list[Record]], processes: int) -> Iterator[Encoded]:
    """The chunks encoded, in their order, here or in so many processes; only a few are on their way at a time."""
    if processes == 1:
        yield from map(encoder, chunks)
        return
    pool = ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=_begin, initargs=(encoder,)
    )
    waiting: deque[Future[Encoded]] = deque()
    try:
        for chunk in chunks:
            with starting():
                waiting.append(pool.submit(_encode, chunk))
            if len(waiting) > 2 * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        mourn()
        raise StoreError(
            "a process that prepared has died",
            hint="run the command again; fewer --processes need less memory",
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_OURS: list[Encoder] = []
"""In a process that encodes: how."""


def _begin(encoder: Encoder) -> None:
    # Each process has one core: the threads of the tokenizers would only be in each other's way.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    helps()
    _OURS[:] = [encoder]


def _encode(records: list[Record]) -> Encoded:
    return _OURS[0](records)
