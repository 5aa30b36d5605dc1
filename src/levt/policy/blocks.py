"""The Transformer block and its parts, the same for encoder and decoders, padded or packed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from levt.policy.attention import Pattern, working_dtype
from levt.policy.config import Activation, TransformerConfig
from levt.policy.layout import Layout

ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
    "tanh": torch.tanh,
}


@dataclass(frozen=True)
class BlockShape:
    """The numbers that a block is made from; encoder and decoder may differ in them."""

    width: int
    hidden: int
    heads: int
    pre_norm: bool
    activation: Activation
    dropout: float
    attention_dropout: float
    activation_dropout: float

    @classmethod
    def of_encoder(cls, config: TransformerConfig) -> "BlockShape":
        """The encoder's numbers."""
        return cls._of(config, config.of_encoder)

    @classmethod
    def of_decoder(cls, config: TransformerConfig) -> "BlockShape":
        """The decoder's numbers."""
        return cls._of(config, lambda name: getattr(config, name))

    @classmethod
    def _of(cls, config: TransformerConfig, side: Callable[[str], Any]) -> "BlockShape":
        return cls(
            width=side("width"),
            hidden=side("hidden"),
            heads=side("heads"),
            pre_norm=side("norm") == "pre",
            activation=config.activation,
            dropout=config.dropout,
            attention_dropout=config.attention_dropout,
            activation_dropout=config.activation_dropout,
        )


def linear(inputs: int, outputs: int, *, parts: int = 1, gain: float = 1.0) -> nn.Linear:
    """A linear map, Xavier-uniform with zero bias; ``parts`` matrices stacked are initialised as if apart."""
    made = nn.Linear(inputs, outputs * parts)
    bound = gain * (6 / (inputs + outputs)) ** 0.5
    nn.init.uniform_(made.weight, -bound, bound)
    nn.init.zeros_(made.bias)
    return made


QKV_GAIN = 0.5**0.5
"""Queries, keys and values begin smaller than other maps: attention begins near uniform."""


class Norm(nn.LayerNorm):
    """Layer normalisation that keeps the precision of the matrix products around it.

    Autocast would give single precision, and with it a residual stream of twice the traffic; the statistics
    are in single precision either way.
    """

    def forward(self, x: Float[Tensor, "*n d"]) -> Float[Tensor, "*n d"]:
        """Normalise."""
        return super().forward(x).to(working_dtype(x))


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence to itself, with one product for queries, keys and values."""

    def __init__(self, shape: BlockShape) -> None:
        super().__init__()
        self.heads, self.head = shape.heads, shape.width // shape.heads
        self.dropout = shape.attention_dropout
        self.qkv = linear(shape.width, shape.width, parts=3, gain=QKV_GAIN)
        self.out = linear(shape.width, shape.width)

    def project(
        self, x: Float[Tensor, "*n d"], layout: Layout
    ) -> tuple[Float[Tensor, "*n h e"], Float[Tensor, "*n h e"], Float[Tensor, "*n h e"]]:
        """Queries, keys and values, by head."""
        q, k, v = layout.clean(self.qkv(x)).view(*x.shape[:-1], 3, self.heads, self.head).unbind(-3)
        return q, k, v

    def forward(self, x: Float[Tensor, "*n d"], layout: Layout, look: Pattern) -> Float[Tensor, "*n d"]:
        """Attend."""
        q, k, v = self.project(x, layout)
        seen: Tensor = look.attend(q, k, v, dropout=self.dropout if self.training else 0.0)
        out: Tensor = self.out(seen.flatten(-2))
        return out


class CrossAttention(nn.Module):
    """Multi-head attention to the memory, whose keys and values were made when the source was encoded."""

    def __init__(self, shape: BlockShape) -> None:
        super().__init__()
        self.heads, self.head = shape.heads, shape.width // shape.heads
        self.dropout = shape.attention_dropout
        self.query = linear(shape.width, shape.width, gain=QKV_GAIN)
        self.out = linear(shape.width, shape.width)

    def forward(
        self, x: Float[Tensor, "*n d"], layout: Layout, look: Pattern, kv: Float[Tensor, "*s 2 h e"]
    ) -> Float[Tensor, "*n d"]:
        """Attend."""
        q = layout.clean(self.query(x)).view(*x.shape[:-1], self.heads, self.head)
        k, v = kv.unbind(-3)
        seen: Tensor = look.attend(q, k, v, dropout=self.dropout if self.training else 0.0)
        out: Tensor = self.out(seen.flatten(-2))
        return out


class FeedForward(nn.Module):
    """Two linear maps with a nonlinearity between them, at each place alone."""

    def __init__(self, shape: BlockShape) -> None:
        super().__init__()
        self.activation, self.dropout = ACTIVATIONS[shape.activation], shape.activation_dropout
        self.into = linear(shape.width, shape.hidden)
        self.out = linear(shape.hidden, shape.width)

    def forward(self, x: Float[Tensor, "*n d"]) -> Float[Tensor, "*n d"]:
        """Map."""
        inner = self.activation(self.into(x))
        out: Tensor = self.out(F.dropout(inner, self.dropout, self.training))
        return out


class Block(nn.Module):
    """Self-attention, cross-attention where there is a memory, feed-forward; each around a residual."""

    def __init__(self, shape: BlockShape, *, cross: bool) -> None:
        super().__init__()
        self.pre_norm, self.dropout = shape.pre_norm, shape.dropout
        self.self_attention = SelfAttention(shape)
        self.self_norm = Norm(shape.width)
        self.cross_attention = CrossAttention(shape) if cross else None
        self.cross_norm = Norm(shape.width) if cross else None
        self.feed_forward = FeedForward(shape)
        self.feed_norm = Norm(shape.width)

    def around(self, x: Tensor, norm: nn.Module, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """A sublayer with its residual and its normalisation, before or after."""
        inner = sublayer(norm(x)) if self.pre_norm else sublayer(x)
        x = x + F.dropout(inner, self.dropout, self.training)
        return x if self.pre_norm else norm(x)

    def forward(
        self,
        x: Float[Tensor, "*n d"],
        layout: Layout,
        look: Pattern,
        across: Pattern | None = None,
        kv: Float[Tensor, "*s 2 h e"] | None = None,
    ) -> Float[Tensor, "*n d"]:
        """One block; ``across`` and ``kv`` are the look at the memory and its keys and values here."""
        x = self.around(x, self.self_norm, lambda z: self.self_attention(z, layout, look))
        return self.rest(x, layout, across, kv)

    def rest(
        self,
        x: Float[Tensor, "*n d"],
        layout: Layout,
        across: Pattern | None,
        kv: Float[Tensor, "*s 2 h e"] | None,
    ) -> Float[Tensor, "*n d"]:
        """What follows self-attention."""
        cross, norm = self.cross_attention, self.cross_norm
        if cross is not None and norm is not None and across is not None and kv is not None:
            x = self.around(x, norm, lambda z: cross(z, layout, across, kv))
        return self.around(x, self.feed_norm, self.feed_forward)
