"""Stand-ins for MaskT, IT and the Insertion Transformer: every row's scores follow from its own tokens alone."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

VOCABULARY = 11
NEVER = (0, 1, 2, 4)


@dataclass
class Sources:
    """A memory that knows which source each row has."""

    names: list[int]
    tokens: list[list[int]]

    @property
    def states(self) -> Tensor:
        return torch.zeros(len(self.names), 1)

    @property
    def extra(self) -> dict[str, Tensor]:
        n = max(map(len, self.tokens))
        return {"source": torch.tensor([[*row, *[0] * (n - len(row))] for row in self.tokens]).float()}

    def select(self, rows: Tensor) -> "Sources":
        chosen = rows.tolist()
        return Sources([self.names[i] for i in chosen], [self.tokens[i] for i in chosen])

    def alone(self, i: int) -> "Sources":
        return Sources([self.names[i]], [self.tokens[i]])


def sources(count: int, seed: int = 0) -> Sources:
    rng = random.Random(seed)
    rows = [[1, *(rng.randrange(5, VOCABULARY) for _ in range(rng.randint(1, 6))), 2] for _ in range(count)]
    return Sources([seed * 100 + i for i in range(count)], rows)


def scores(key: tuple[object, ...], count: int, sharpness: float = 3.0) -> list[float]:
    """Log-probabilities of ``count`` classes that only depend on the key."""
    rng = random.Random(repr(key))
    raw = torch.tensor([rng.random() * sharpness for _ in range(count)])
    found: list[float] = raw.log_softmax(0).tolist()
    return found


def real(row: Sequence[int]) -> tuple[int, ...]:
    return tuple(t for t in row if t != 0)


class Mock:
    """All three at once."""

    def __init__(self, longest: int = 12) -> None:
        self.longest, self.passes = longest, 0

    def length_of(self, name: int) -> list[float]:
        return scores(("length", name), self.longest + 1)

    def token_of(self, name: int, row: tuple[int, ...], stage: str = "") -> list[list[float]]:
        return [
            self.forbidden(scores(("token", name, row, i, stage), VOCABULARY), NEVER) for i in range(len(row))
        ]

    def gap_of(self, name: int, row: tuple[int, ...]) -> list[list[float]]:
        found = [scores(("gap", name, row, i), VOCABULARY) for i in range(len(row) - 1)]
        # The longer the state, the surer that nothing is missing.
        return [self.forbidden([*s[:2], s[2] + 0.25 * len(row), *s[3:]], (0, 1, 4)) for s in found]

    @staticmethod
    def forbidden(row: list[float], never: Sequence[int]) -> list[float]:
        return [float("-inf") if i in never else value for i, value in enumerate(row)]

    def length(self, memory: Sources) -> Tensor:
        return torch.tensor([self.length_of(name) for name in memory.names])

    def token(self, memory: Sources, y: Tensor, stage: str = "") -> Tensor:
        self.passes += 1
        each = y.shape[0] // len(memory.names)
        found = torch.zeros(*y.shape, VOCABULARY)
        for i, row in enumerate(y.tolist()):
            values = self.token_of(memory.names[i // each], real(row), stage)
            found[i, : len(values)] = torch.tensor(values)
        return found

    def gap(self, memory: Sources, y: Tensor) -> Tensor:
        self.passes += 1
        found = torch.zeros(y.shape[0], y.shape[1] - 1, VOCABULARY)
        for i, row in enumerate(y.tolist()):
            values = self.gap_of(memory.names[i], real(row))
            found[i, : len(values)] = torch.tensor(values)
        return found


def best_token(row: Sequence[float]) -> tuple[int, float]:
    """The best token that is no special symbol."""
    token = max(range(5, VOCABULARY), key=lambda t: row[t])
    return token, row[token]
