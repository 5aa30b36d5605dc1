"""Towers in fewer launches: what lies between two matrix products is one of them. Same numbers up to rounding.

The residual sum and its normalisation are one launch; for a single token so are keeping a key and looking back, and
the look at the memory; a product, its bias and its nonlinearity are one, too.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from levt.engine import step_ops
from levt.engine.graph import FEW
from levt.engine.step_ops import Hypotheses
from levt.policy.attention import pattern
from levt.policy.autoregressive import Autoregressive
from levt.policy.blocks import Block, FeedForward, Norm
from levt.policy.config import Policy
from levt.policy.decoder import Tower
from levt.policy.layout import Layout, Padded
from levt.policy.levt import LevT
from levt.policy.memory import Memory

Look = Callable[[int, Block, Tensor], Tensor]
"""Attention of a block, by its number: from what it reads to what is added to the stream."""


def pieces(device: torch.device) -> Any:
    """The pieces of a step: kernels on a GPU, plain torch elsewhere."""
    if device.type == "cuda":
        from levt.engine import step_kernels

        return step_kernels
    return step_ops


class FusedStep:
    """A step of an autoregressive network."""

    def __init__(self, network: Autoregressive) -> None:
        self.network = network
        self.ops = pieces(next(network.parameters()).device)

    def __call__(
        self, memory: Memory, state: Hypotheses, cache: Float[Tensor, "l 2 r h w e"]
    ) -> Float[Tensor, "r v"]:
        """Take the last token of each hypothesis and score the next."""
        y = state.tokens.unsqueeze(1)
        layout = Padded(torch.ones_like(y, dtype=torch.bool), state.position.expand_as(y))
        x = self.network.embed_target(y, layout).squeeze(1)
        assert isinstance(memory.layout, Padded)
        tower, real = self.network.decoder, memory.layout.real
        kv = memory.kv[tower.name]

        def look(i: int, block: Block, z: Tensor) -> Tensor:
            attention = block.self_attention
            seen = self.ops.attend_step(attention.qkv(z), cache[i], state.origin, state.position)
            out: Tensor = attention.out(seen)
            return out

        def across(i: int, block: Block, z: Tensor) -> Tensor:
            attention = block.cross_attention
            assert attention is not None
            out: Tensor = attention.out(self.ops.attend_memory(attention.query(z), kv[:, :, i], real))
            return out

        blocks = [block for block in tower.blocks if isinstance(block, Block)]
        return self.network.token_logits(through(self.ops, blocks, tower.norm, x, look, across))


class FusedHidden:
    """The states of a LevT network over padded rows."""

    def __init__(self, network: LevT) -> None:
        self.network = network
        self.ops = pieces(next(network.parameters()).device)

    def __call__(
        self, memory: Memory, y: Int[Tensor, "b n"], layout: Padded, policy: Policy
    ) -> Float[Tensor, "b n d"]:
        """As ``LevT.hidden``."""
        network = self.network
        tower: Tower = network.towers[policy]
        x = network.embed_target(y, layout)
        kv = memory.kv[tower.name]
        looks = self._few if y.shape[0] <= FEW else self._many
        look, across = looks(x, layout, memory.layout, kv)
        depth = network.config.exit_of(policy)
        blocks = [block for block in tower.blocks if isinstance(block, Block)][:depth]
        return through(self.ops, blocks, tower.norm, x.flatten(0, 1), look, across).view_as(x)

    def _few(self, x: Tensor, layout: Padded, sources: Layout, kv: Tensor) -> tuple[Look, Look]:
        """Every place looks for itself: one launch, and enough to do only for a few rows."""
        b, n, d = x.shape
        assert isinstance(sources, Padded)

        def look(i: int, block: Block, z: Tensor) -> Tensor:
            attention = block.self_attention
            qkv = attention.qkv(z)
            seen = qkv.view(b, n, 3, attention.heads, -1)[:, :, 1:]
            out: Tensor = attention.out(self.ops.attend_memory(qkv[:, :d], seen, layout.real))
            return out

        def across(i: int, block: Block, z: Tensor) -> Tensor:
            attention = block.cross_attention
            assert attention is not None
            seen = self.ops.attend_memory(attention.query(z), kv[:, :, i], sources.real)
            out: Tensor = attention.out(seen)
            return out

        return look, across

    def _many(self, x: Tensor, layout: Padded, sources: Layout, kv: Tensor) -> tuple[Look, Look]:
        here, there = pattern(layout, layout, x), pattern(layout, sources, x)

        def look(i: int, block: Block, z: Tensor) -> Tensor:
            out: Tensor = block.self_attention(z.view_as(x), layout, here).flatten(0, 1)
            return out

        def across(i: int, block: Block, z: Tensor) -> Tensor:
            attention = block.cross_attention
            assert attention is not None
            out: Tensor = attention(z.view_as(x), layout, there, kv[:, :, i]).flatten(0, 1)
            return out

        return look, across


def through(
    ops: Any, blocks: Sequence[Block], final: Norm | None, x: Float[Tensor, "r d"], look: Look, across: Look
) -> Float[Tensor, "r d"]:
    """The stream through blocks; each sublayer reads it normalised by its own norm, or by that of the one before."""
    z = blocks[0].self_norm(x) if blocks[0].pre_norm else x
    for i, block in enumerate(blocks):
        after = blocks[i + 1].self_norm if i + 1 < len(blocks) else final
        x, z = _around(ops, block, x, look(i, block, z), block.self_norm, block.cross_norm)
        x, z = _around(ops, block, x, across(i, block, z), block.cross_norm, block.feed_norm)
        x, z = _around(ops, block, x, _feed(block.feed_forward, z), block.feed_norm, after)
    return z


def _around(
    ops: Any, block: Block, x: Tensor, inner: Tensor, mine: Norm | None, following: Norm | None
) -> tuple[Tensor, Tensor]:
    """The stream with what is added to it, and what the next sublayer reads."""
    norm = following if block.pre_norm else mine
    if norm is None:
        total = x + inner
        return total, total
    total, normed = ops.add_norm(x, inner, norm.weight, norm.bias, norm.eps)
    return (total, normed) if block.pre_norm else (normed, normed)


def _feed(feed: FeedForward, z: Tensor) -> Tensor:
    if feed.activation is F.relu and z.is_cuda:
        inner = torch._addmm_activation(feed.into.bias, z, feed.into.weight.t())
    else:
        inner = feed.activation(feed.into(z))
    out: Tensor = feed.out(inner)
    return out
