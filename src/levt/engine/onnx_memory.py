"""What graphs remember of sources: keys and values in the order in which attention reads them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor

from levt.engine.onnx_graph import Array
from levt.policy.layout import Padded
from levt.policy.memory import Memory


@dataclass(frozen=True, eq=False)
class GraphMemory(Memory):
    """An encoded batch of sources, without the states of the encoder, which no graph needs again."""

    towers: Mapping[str, Float[Tensor, "l b h s e"]] = field(default_factory=dict)
    """For each decoder tower the keys and values of its layers, one after another."""

    @classmethod
    def of(cls, towers: Mapping[str, Float[Tensor, "l b h s e"]], layout: Padded) -> "GraphMemory":
        """The memory of sources that lie so."""
        return cls(torch.empty(*layout.real.shape, 0), layout, {}, towers=towers)

    def select(self, rows: Int[Tensor, "r"]) -> "GraphMemory":
        """The memory of some rows; all of them in their order are nothing new."""
        if rows.tolist() == list(range(self.rows)):
            return self
        layout = self.padded.select(rows)
        towers = {name: kv.index_select(1, rows) for name, kv in self.towers.items()}
        return GraphMemory.of(towers, layout)

    def join(self, other: Memory, width: int) -> "GraphMemory":
        """These rows and then those of another batch; no source is longer than ``width``."""
        assert isinstance(other, GraphMemory)
        layout = self.padded.join(other.padded, width)
        towers = {}
        for name, kv in self.towers.items():
            joined = kv.new_zeros(kv.shape[0], layout.rows, kv.shape[2], width, kv.shape[4])
            for block, place in (
                (kv, joined[:, : self.rows]),
                (other.towers[name], joined[:, self.rows :]),
            ):
                columns = min(width, block.shape[3])
                place[:, :, :, :columns] = block[:, :, :, :columns]
            towers[name] = joined
        return GraphMemory.of(towers, layout)

    @property
    def padded(self) -> Padded:
        """The layout, which is one of rows."""
        assert isinstance(self.layout, Padded)
        return self.layout

    def feeds(self, tower: str) -> dict[str, Array]:
        """Inputs of a graph that looks at the memory: views, nothing is copied."""
        kv: Array = self.towers[tower].numpy()
        found = {f"{('key', 'value')[i % 2]}.{i // 2}": part for i, part in enumerate(kv)}
        return {"real": self.padded.real.numpy(), **found}
