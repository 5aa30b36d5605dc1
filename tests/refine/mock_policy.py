"""Policies without a network: one that answers anything, and one that plays back what it is told."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

VOCABULARY = 12


@dataclass(frozen=True)
class Rows:
    """A memory that only knows which rows it holds."""

    rows: Tensor

    def select(self, rows: Tensor) -> "Rows":
        return Rows(self.rows[rows])


class Hostile:
    """Logits that are a pure function of (seed, row's source, state): any numbers, infinities and NaN among them."""

    def __init__(
        self, seed: int, *, max_count: int = 6, broken: bool = True, vocabulary: int = VOCABULARY
    ) -> None:
        self.seed, self.max_count, self.broken, self.vocabulary = seed, max_count, broken, vocabulary

    def _draw(self, memory: Rows, y: Tensor, what: int, width: int, gaps: bool = False) -> Tensor:
        answers = []
        for source, row in zip(memory.rows.tolist(), y.tolist(), strict=True):
            real = tuple(t for t in row if t)
            generator = torch.Generator().manual_seed(hash((self.seed, source, what, real)) % (1 << 60))
            size = len(row) - gaps
            answer = torch.zeros(size, width)
            drawn = torch.randn(len(real) - gaps, width, generator=generator) * 3
            if self.broken:
                odd = torch.rand(drawn.shape, generator=generator)
                drawn[odd < 0.03] = float("inf")
                drawn[(odd > 0.03) & (odd < 0.06)] = float("-inf")
                drawn[(odd > 0.06) & (odd < 0.09)] = float("nan")
            answer[: len(real) - gaps] = drawn
            answers.append(answer)
        return torch.stack(answers)

    def delete(self, memory: Rows, y: Tensor) -> Tensor:
        return self._draw(memory, y, 0, 2)

    def placeholder(self, memory: Rows, y: Tensor) -> Tensor:
        return self._draw(memory, y, 1, self.max_count + 1, gaps=True)

    def token(self, memory: Rows, y: Tensor, where: Tensor) -> Tensor:
        return self._draw(memory, y, 2, self.vocabulary)[where].log_softmax(-1)


class Scripted:
    """Answers made by three functions of a row's tokens (boundaries included)."""

    def __init__(
        self,
        drop: Callable[[list[int]], list[bool]],
        counts: Callable[[list[int]], list[int]],
        fill: Callable[[list[int]], list[int]],
        max_count: int = 8,
        sure_of: int | None = None,
    ) -> None:
        self.drop, self.counts, self.fill, self.max_count = drop, counts, fill, max_count
        self.sure_of = sure_of

    def delete(self, memory: Rows, y: Tensor) -> Tensor:
        logits = torch.zeros(*y.shape, 2)
        for i, row in enumerate(y.tolist()):
            real = [t for t in row if t]
            for j, gone in enumerate(self.drop(real)):
                logits[i, j, int(gone)] = 5.0
        return logits

    def placeholder(self, memory: Rows, y: Tensor) -> Tensor:
        logits = torch.zeros(y.shape[0], y.shape[1] - 1, self.max_count + 1)
        for i, row in enumerate(y.tolist()):
            for j, count in enumerate(self.counts([t for t in row if t])):
                logits[i, j, count] = 5.0
        return logits

    def token(self, memory: Rows, y: Tensor, where: Tensor) -> Tensor:
        logits = torch.zeros(*y.shape, VOCABULARY)
        for i, row in enumerate(y.tolist()):
            for j, token in enumerate(self.fill([t for t in row if t])):
                logits[i, j, token] = 50.0 if token == self.sure_of else 5.0
        return logits[where].log_softmax(-1)
