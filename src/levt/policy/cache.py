"""Keys and values of the tokens written so far, in tensors whose shapes never change."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True, eq=False)
class KeyValueCache:
    """The cache of a causal tower; ``w`` tokens fit."""

    kv: Float[Tensor, "l 2 r h w e"]
    """Keys and values of every layer."""
    position: Int[Tensor, "1"]
    """How many tokens have been written; the same for all rows."""

    @property
    def rows(self) -> int:
        """Number of hypotheses."""
        return self.kv.shape[2]

    def select(self, rows: Int[Tensor, "r"]) -> "KeyValueCache":
        """A new cache of these rows."""
        return KeyValueCache(self.kv.index_select(2, rows), self.position.clone())

    def copy_(self, other: "KeyValueCache") -> None:
        """Take over another cache's contents."""
        self.kv.copy_(other.kv)
        self.position.copy_(other.position)

    def patterns(self, dtype: torch.dtype) -> list["CachedPattern"]:
        """For each layer, the attention of the next token to those before it and to itself."""
        column = torch.arange(self.kv.shape[4], device=self.kv.device)
        bias = torch.zeros(column.shape, dtype=dtype, device=column.device)
        bias = bias.masked_fill(column > self.position, torch.finfo(dtype).min / 2)
        return [CachedPattern(kv, self.position, bias) for kv in self.kv.unbind(0)]


@dataclass(frozen=True, eq=False)
class CachedPattern:
    """Attention of one new token per row: writes its key and value into the cache, then looks back."""

    kv: Float[Tensor, "2 r h w e"]
    position: Int[Tensor, "1"]
    bias: Float[Tensor, "w"]

    def attend(
        self,
        q: Float[Tensor, "r 1 h e"],
        k: Float[Tensor, "r 1 h e"],
        v: Float[Tensor, "r 1 h e"],
        *,
        dropout: float = 0.0,
    ) -> Float[Tensor, "r 1 h e"]:
        """Look."""
        keys, values = self.kv.unbind(0)
        keys.index_copy_(2, self.position, k.transpose(1, 2))
        values.index_copy_(2, self.position, v.transpose(1, 2))
        out = F.scaled_dot_product_attention(
            q.transpose(1, 2), keys, values, attn_mask=self.bias[None, None, None], dropout_p=dropout
        )
        return out.transpose(1, 2)
