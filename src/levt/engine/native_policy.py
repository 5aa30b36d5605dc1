"""The policies of LevT by ``native.c``, as the loops of ``levt.refine`` ask for them, over padded states."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from levt.engine.native_library import Array
from levt.engine.native_network import Packed, Source
from levt.policy.config import POLICIES, LevTConfig, Policy
from levt.policy.layout import Padded
from levt.policy.memory import Memory
from levt.policy.scores import NEVER_PRODUCED
from levt.refine.request import Tokens
from levt.text.specials import BOS, EOS, PAD


@lru_cache(maxsize=256)
def _layout(rows: int, width: int) -> Padded:
    return Padded(torch.ones(rows, width, dtype=torch.bool))


@dataclass(frozen=True, eq=False)
class NativeMemory(Memory):
    """Encoded sources, each by itself."""

    sources: tuple[Source, ...] = ()

    @classmethod
    def of(cls, sources: Sequence[Source]) -> "NativeMemory":
        """The memory of sources."""
        longest = max((source.length for source in sources), default=0)
        # Nobody reads them; their shapes say how many rows there are.
        return cls(
            torch.empty(len(sources), longest, 0), _layout(len(sources), longest), {}, sources=tuple(sources)
        )

    def select(self, rows: Int[Tensor, "r"]) -> "NativeMemory":
        """The memory of some rows."""
        return NativeMemory.of([self.sources[i] for i in rows.tolist()])

    def join(self, other: Memory, width: int) -> "NativeMemory":
        """These rows and then those of another batch."""
        assert isinstance(other, NativeMemory)
        return NativeMemory.of(self.sources + other.sources)


@dataclass(frozen=True)
class Depth:
    """How deep a tower is."""

    name: str
    depth: int


class NativePolicy(nn.Module):
    """The three policies."""

    def __init__(self, packed: Packed, config: LevTConfig) -> None:
        super().__init__()
        self.packed, self.config = packed, config

    @property
    def towers(self) -> dict[Policy, Depth]:
        """The tower on which each policy stands."""
        names = self.packed.tower_of
        return {policy: Depth(names[policy], len(self.packed.memory[names[policy]])) for policy in POLICIES}

    def read(self, sources: Sequence[Tokens]) -> NativeMemory:
        """Read sources without boundaries."""
        return NativeMemory.of(self.packed.encode([(BOS, *source, EOS) for source in sources]))

    def encode(self, x: Int[Tensor, "b s"]) -> NativeMemory:
        """Read padded sources."""
        return NativeMemory.of(self.packed.encode(real_rows(x)))

    def states(self, sources: Sequence[Source], rows: Sequence[Sequence[int]], policy: Policy) -> Array:
        """Flat states of rows for one policy."""
        return self.packed.states(sources, rows, self.packed.tower_of[policy], self.config.exit_of(policy))

    def delete(self, memory: NativeMemory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b n 2"]:
        """Scores of keeping (0) or deleting (1) each token."""
        return self._delete(self.states(memory.sources, real_rows(y), "delete"), y)

    def placeholder(self, memory: NativeMemory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b g k"]:
        """Scores of how many placeholders to open in each gap."""
        return self._placeholder(self.states(memory.sources, real_rows(y), "placeholder"), y)

    @property
    def alike(self) -> bool:
        """Whether deletions and placeholders see a state alike."""
        return self.config.shares("delete", "placeholder")

    def look(
        self, memory: NativeMemory, y: Int[Tensor, "b n"]
    ) -> tuple[Float[Tensor, "b n 2"], Float[Tensor, "b g k"]]:
        """Both at one look, for policies that see a state alike."""
        h = self.states(memory.sources, real_rows(y), "delete")
        return self._delete(h, y), self._placeholder(h, y)

    def token(
        self, memory: NativeMemory, y: Int[Tensor, "b n"], where: Bool[Tensor, "b n"]
    ) -> Float[Tensor, "p v"]:
        """The log π^tok at the places asked for; −∞ for what is never produced."""
        h = self.states(memory.sources, real_rows(y), "token")
        places = np.flatnonzero(where[y.ne(PAD)].numpy())
        scores = torch.from_numpy(self.packed.token_scores(h[places])[0])
        scores[:, list(NEVER_PRODUCED)] = float("-inf")
        return scores

    def _delete(self, h: Array, y: Int[Tensor, "b n"]) -> Float[Tensor, "b n 2"]:
        found = torch.zeros(*y.shape, 2)
        found[y.ne(PAD)] = torch.from_numpy(self.packed.delete_scores(h))
        return found

    def _placeholder(self, h: Array, y: Int[Tensor, "b n"]) -> Float[Tensor, "b g k"]:
        scores = self.packed.placeholder_scores(h)
        found, begin = torch.zeros(y.shape[0], y.shape[1] - 1, scores.shape[1]), 0
        for i, length in enumerate(y.ne(PAD).sum(1).tolist()):
            found[i, : length - 1] = torch.from_numpy(scores[begin : begin + length - 1])
            begin += length
        return found


def real_rows(y: Int[Tensor, "b n"]) -> list[list[int]]:
    """The rows of a padded batch without their padding.

    >>> real_rows(torch.tensor([[1, 7, 2], [1, 2, 0]]))
    [[1, 7, 2], [1, 2]]
    """
    return [row[:n] for row, n in zip(y.tolist(), y.ne(PAD).sum(1).tolist(), strict=True)]
