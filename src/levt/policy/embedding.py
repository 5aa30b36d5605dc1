"""From tokens and positions to states: E_y + P, Eq. (2), l = 0. Token tables belong to the model, which may share them.

E is scaled by √d and P are sinusoids, as in the Transformer whose sizes the paper takes; its P may also be learnt.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from levt.errors import InputError
from levt.policy.attention import working_dtype
from levt.policy.config import Positions
from levt.policy.layout import Layout, Packed

FIRST_PHASE = 2
"""Phase of the first sinusoidal position: fairseq counts from there, and its models can be converted."""


def token_table(tokens: int, width: int) -> nn.Embedding:
    """A table of token embeddings; with unit variance once scaled by √width."""
    table = nn.Embedding(tokens, width)
    nn.init.normal_(table.weight, std=width**-0.5)
    return table


def sinusoids(length: int, width: int) -> Float[Tensor, "length width"]:
    """Sines, then cosines, with wavelengths from 2π to 10000·2π in geometric steps.

    >>> sinusoids(1, 4).allclose(torch.tensor([math.sin(2), math.sin(2e-4), math.cos(2), math.cos(2e-4)]))
    True
    """
    half = width // 2
    rate = torch.exp(torch.arange(half, dtype=torch.float64) * -(math.log(10000) / (half - 1)))
    phase = torch.arange(FIRST_PHASE, length + FIRST_PHASE, dtype=torch.float64)[:, None] * rate
    return torch.cat([phase.sin(), phase.cos()], 1).float()


class Embedder(nn.Module):
    """The input of an encoder or decoder: scaled token embedding plus position, normalised if asked."""

    def __init__(
        self,
        *,
        width: int,
        max_length: int,
        positions: Positions,
        scale: bool,
        normalise: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.scale = math.sqrt(width) if scale else 1.0
        self.max_length, self.dropout = max_length, dropout
        self.positions: nn.Embedding | None = None
        self.sinusoids: Tensor | None
        self.register_buffer(
            "sinusoids", sinusoids(max_length, width) if positions == "sinusoidal" else None, persistent=False
        )
        if positions == "learned":
            self.positions = token_table(max_length, width)
        self.norm = nn.LayerNorm(width) if normalise else None

    def forward(
        self, table: Float[Tensor, "v d"], y: Int[Tensor, "*n"], layout: Layout
    ) -> Float[Tensor, "*n d"]:
        """Embed the tokens of a layout by a table."""
        check_length(layout, self.max_length)
        return self.finish(F.embedding(y, table), layout)

    def finish(
        self, embedded: Float[Tensor, "*n d"], layout: Layout, extra: Float[Tensor, "*n d"] | None = None
    ) -> Float[Tensor, "*n d"]:
        """Scale, add positions (and what else is to be added), normalise and drop."""
        x = embedded * self.scale
        if self.positions is not None:
            x = x + self.positions(layout.positions)
        elif self.sinusoids is not None:
            x = x + F.embedding(layout.positions, self.sinusoids).to(x.dtype)
        x = x if extra is None else x + extra
        x = x if self.norm is None else self.norm(x)
        return F.dropout(x.to(working_dtype(x)), self.dropout, self.training)


def check_length(layout: Layout, max_length: int) -> None:
    """Refuse sequences beyond the last position (known from shapes alone)."""
    restarted = not isinstance(layout, Packed) and layout.restarted is not None
    if layout.longest > max_length and not restarted:
        raise InputError(
            f"a sequence may have at most {max_length} tokens with its boundaries, got {layout.longest}",
            hint="split the text, or train a model with a larger max_length",
        )
