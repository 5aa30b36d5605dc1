"""The model that writes from left to right by graphs, as the search of ``levt.refine`` asks for it."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from levt.engine.onnx_memory import GraphMemory
from levt.engine.onnx_policy import GraphNetwork
from levt.policy.autoregressive import check_width
from levt.policy.embedding import check_length
from levt.policy.layout import Padded

TOWER = "decoder"
"""Name of the only tower."""


@dataclass
class GraphCache:
    """Keys and values of the tokens written so far; grows by one with every step."""

    parts: list[Float[Tensor, "r h t e"]]
    """Of every layer the keys, then the values."""
    copies: int
    """Hypotheses of each source."""

    @property
    def rows(self) -> int:
        """Number of hypotheses."""
        return self.parts[0].shape[0]

    def select(self, rows: Int[Tensor, "r"]) -> "GraphCache":
        """A new cache of these rows."""
        return GraphCache([part.index_select(0, rows) for part in self.parts], self.copies)

    def copy_(self, other: "GraphCache") -> None:
        """Take over another cache's contents."""
        self.parts, self.copies = list(other.parts), other.copies


class GraphWriter(GraphNetwork):
    """A causal Transformer."""

    def start(self, memory: GraphMemory, width: int, copies: int = 1) -> GraphCache:
        """An empty cache."""
        check_width(width, self.config.max_length)
        kv = memory.towers[TOWER]
        _, rows, heads, _, size = kv.shape
        return GraphCache([kv.new_zeros(rows * copies, heads, 0, size) for _ in kv], copies)

    def step(self, memory: GraphMemory, tokens: Int[Tensor, "r"], cache: GraphCache) -> Float[Tensor, "r v"]:
        """Take one more token of each row and score the next."""
        names = [f"{('key', 'value')[i % 2]}.{i // 2}" for i in range(len(cache.parts))]
        past = {f"past_{name}": part.numpy() for name, part in zip(names, cache.parts, strict=True)}
        y = tokens.view(memory.rows, cache.copies).numpy()
        found = self.sessions.run("step", memory.feeds(TOWER) | past | {"y": y})
        cache.parts = [torch.from_numpy(found[f"longer_{name}"]) for name in names]
        return torch.from_numpy(found["scores"])

    def reorder(self, cache: GraphCache, rows: Int[Tensor, "r"]) -> GraphCache:
        """The cache of hypotheses that continue these rows."""
        return cache.select(rows)

    def logits(self, memory: GraphMemory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b n v"]:
        """Scores of the next token after every place of padded targets."""
        check_length(Padded.of(y), self.config.max_length)
        found = self.sessions.run("score", memory.feeds(TOWER) | {"y": y.numpy()})
        return torch.from_numpy(found["scores"]).view(*y.shape, -1)
