"""A policy asked for rows of similar length at a time: on a CPU padding costs as much as text. Knows no loop.

Rows that came at different times have states of very different lengths: in one batch, half of what is computed may be
padding. So the rows are sorted by length and cut into chunks where that saves more than a further pass costs; the
chunks are independent, and run side by side on the cores there are.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from levt.refine.phases import Looking, Memory, Policy
from levt.text.specials import PAD

WORTH = 96
"""Tokens whose computation costs about as much as what a pass costs beside: never fewer in a chunk, if possible."""

Rows = list[int]
T = TypeVar("T")


class Chunked:
    """The same policy, the same answers, less padding."""

    def __init__(self, policy: Policy, threads: int = 1) -> None:
        """Around a policy, with as many chunks at a time as there are threads."""
        self.policy, self.threads = policy, threads
        # A thread of its own for each chunk, and none inside it: cores that never wait for each other.
        self._pool = (
            ThreadPoolExecutor(threads, "levt-chunk", initializer=torch.set_num_threads, initargs=(1,))
            if threads > 1
            else None
        )

    @property
    def alike(self) -> bool:
        """Whether deletions and placeholders see a state alike."""
        return isinstance(self.policy, Looking) and self.policy.alike

    def look(
        self, memory: Memory, y: Int[Tensor, "b n"]
    ) -> tuple[Float[Tensor, "b n 2"], Float[Tensor, "b g k"]]:
        """Both at one look, for policies that see a state alike."""
        policy = self.policy
        assert isinstance(policy, Looking)
        lengths = _lengths(y)
        chunks = cut(lengths, self.threads)
        if _whole(chunks, lengths):
            return policy.look(memory, y)

        def one(rows: Int[Tensor, "r"], width: int) -> tuple[Tensor, Tensor]:
            return policy.look(memory.select(rows), y[rows, :width])

        (b, n), found = y.shape, self._each(chunks, lengths, one)
        deletions, placeholders = zip(*found, strict=True)
        return _joined(chunks, deletions, b, n), _joined(chunks, placeholders, b, n - 1)

    def delete(self, memory: Memory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b n 2"]:
        """Keep (0) or delete (1) each token; nothing is asked about states without any."""
        lengths = _lengths(y)
        chunks = cut(lengths, self.threads, least=3)
        if _whole(chunks, lengths):
            return self.policy.delete(memory, y)

        def one(rows: Int[Tensor, "r"], width: int) -> Tensor:
            return self.policy.delete(memory.select(rows), y[rows, :width])

        if not chunks:
            return torch.zeros(*y.shape, 2, device=y.device)
        return _joined(chunks, self._each(chunks, lengths, one), *y.shape)

    def placeholder(self, memory: Memory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b g k"]:
        """How many placeholders to open in each gap."""
        lengths = _lengths(y)
        chunks = cut(lengths, self.threads)
        if _whole(chunks, lengths):
            return self.policy.placeholder(memory, y)

        def one(rows: Int[Tensor, "r"], width: int) -> Tensor:
            return self.policy.placeholder(memory.select(rows), y[rows, :width])

        return _joined(chunks, self._each(chunks, lengths, one), y.shape[0], y.shape[1] - 1)

    def token(
        self, memory: Memory, y: Int[Tensor, "b n"], where: Bool[Tensor, "b n"]
    ) -> Float[Tensor, "p v"]:
        """Which token to write, at the places asked for, row by row."""
        lengths = _lengths(y)
        chunks = cut(lengths, self.threads)
        if _whole(chunks, lengths):
            return self.policy.token(memory, y, where)

        def one(rows: Int[Tensor, "r"], width: int) -> Tensor:
            return self.policy.token(memory.select(rows), y[rows, :width], where[rows, :width])

        found = self._each(chunks, lengths, one)
        number = where.flatten().cumsum(0).view(where.shape) - 1
        answer = found[0].new_empty(int(where.sum()), found[0].shape[1])
        for rows, part in zip(chunks, found, strict=True):
            answer[number[rows][where[rows]]] = part
        return answer

    def _each(
        self, chunks: Sequence[Rows], lengths: Sequence[int], one: Callable[[Tensor, int], T]
    ) -> list[T]:
        @torch.inference_mode()
        def run(rows: Rows) -> T:
            return one(torch.tensor(rows), max(lengths[i] for i in rows))

        mapped: Any = map if self._pool is None or len(chunks) == 1 else self._pool.map
        return list(mapped(run, chunks))


def cut(lengths: Sequence[int], threads: int = 1, *, least: int = 1) -> list[Rows]:
    """Rows of at least ``least`` tokens, longest first, in chunks of similar length.

    A chunk ends where going on would cost more padding than a pass, or where the work has been shared out.

    >>> cut([50, 8, 50, 9, 50] * 4)
    [[0, 2, 4, 5, 7, 9, 10, 12, 14, 15, 17, 19, 3, 8], [13, 18, 1, 6, 11, 16]]
    >>> cut([50, 50, 2], least=3)
    [[0, 1]]
    """
    order = sorted((i for i, length in enumerate(lengths) if length >= least), key=lambda i: -lengths[i])
    share = max(sum(lengths[i] for i in order) / threads, WORTH) if threads > 1 else float("inf")
    chunks: list[Rows] = []
    padding = tokens = 0
    for i in order:
        width = lengths[chunks[-1][0]] if chunks else 0
        if not chunks or padding + width - lengths[i] > WORTH or tokens + lengths[i] > share:
            chunks.append([])
            padding = tokens = 0
            width = lengths[i]
        chunks[-1].append(i)
        padding += width - lengths[i]
        tokens += width
    return chunks


def _joined(chunks: Sequence[Rows], parts: Sequence[Tensor], b: int, n: int) -> Float[Tensor, "b n k"]:
    """The answers of all chunks as one of b rows and n columns; zeros where nobody asked."""
    answer = parts[0].new_zeros(b, n, parts[0].shape[2])
    for rows, part in zip(chunks, parts, strict=True):
        answer[rows, : part.shape[1]] = part
    return answer


def _whole(chunks: Sequence[Rows], lengths: Sequence[int]) -> bool:
    """Whether there is but one chunk: then nothing needs to be moved, and what a policy remembers is of use."""
    return len(chunks) == 1 and len(chunks[0]) == len(lengths)


def _lengths(y: Int[Tensor, "b n"]) -> list[int]:
    found: list[int] = y.ne(PAD).sum(1).tolist()
    return found
