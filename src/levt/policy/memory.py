"""What the encoder leaves for the decoders: states, and the keys and values that cross-attention reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor

from levt.policy.layout import Layout, Packed


@dataclass(frozen=True, eq=False)
class Memory:
    """An encoded batch of sources."""

    states: Float[Tensor, "*s d"]
    """Last states of the encoder."""
    layout: Layout
    """Layout of the sources."""
    kv: Mapping[str, Float[Tensor, "*s l 2 h e"]]
    """For each decoder tower, the keys and values of all its layers, computed once."""
    extra: Mapping[str, Float[Tensor, "b ..."]] = field(default_factory=dict)
    """What else a kind of model keeps for each source."""

    @property
    def rows(self) -> int:
        """Number of sources."""
        return self.layout.rows

    def select(self, rows: Int[Tensor, "r"]) -> "Memory":
        """The memory of some rows of a padded batch, in the order given; a row may come more than once."""
        if isinstance(self.layout, Packed):
            raise TypeError("rows can be selected from a padded memory only")
        return Memory(
            self.states.index_select(0, rows),
            self.layout.select(rows),
            {name: kv.index_select(0, rows) for name, kv in self.kv.items()},
            {name: kept.index_select(0, rows) for name, kept in self.extra.items()},
        )

    def join(self, other: "Memory", width: int) -> "Memory":
        """These rows and then those of another padded batch; no source is longer than ``width``."""
        if isinstance(self.layout, Packed) or isinstance(other.layout, Packed):
            raise TypeError("rows can be joined in a padded memory only")
        return Memory(
            _stacked(self.states, other.states, width),
            self.layout.join(other.layout, width),
            {name: _stacked(kv, other.kv[name], width) for name, kv in self.kv.items()},
            {name: torch.cat([kept, other.extra[name]]) for name, kept in self.extra.items()},
        )


def _stacked(first: Tensor, second: Tensor, width: int) -> Tensor:
    """Two blocks of padded rows below each other, both cut or padded to ``width``."""
    stacked = first.new_zeros(first.shape[0] + second.shape[0], width, *first.shape[2:])
    for block, place in ((first, stacked[: first.shape[0]]), (second, stacked[first.shape[0] :])):
        columns = min(width, block.shape[1])
        place[:, :columns] = block[:, :columns]
    return stacked
