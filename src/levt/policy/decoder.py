"""A decoder tower: a stack of blocks that look at a state and at the memory, and may be left early."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor, nn

from levt.policy.attention import Pattern, pattern
from levt.policy.blocks import QKV_GAIN, Block, BlockShape, Norm, linear
from levt.policy.config import TransformerConfig
from levt.policy.layout import Layout
from levt.policy.memory import Memory


class Tower(nn.Module):
    """A decoder without embedding and head. ``name`` is its key in the memory."""

    def __init__(self, config: TransformerConfig, *, name: str, depth: int, causal: bool = False) -> None:
        super().__init__()
        shape = BlockShape.of_decoder(config)
        self.name, self.depth, self.causal = name, depth, causal
        self.heads, self.head = shape.heads, shape.width // shape.heads
        # One product makes the keys and values of all layers: at batch 1 launches cost more than numbers.
        self.memory = linear(config.of_encoder("width"), shape.width, parts=2 * depth, gain=QKV_GAIN)
        self.blocks = nn.ModuleList(Block(shape, cross=True) for _ in range(depth))
        self.norm = Norm(shape.width) if shape.pre_norm and config.final_norm else None

    def remember(self, states: Float[Tensor, "*s c"], layout: Layout) -> Float[Tensor, "*s l 2 h e"]:
        """Keys and values of every layer, from the states of the encoder."""
        kv: Tensor = layout.clean(self.memory(states)).view(
            *states.shape[:-1], self.depth, 2, self.heads, self.head
        )
        return kv

    def forward(
        self, x: Float[Tensor, "*n d"], layout: Layout, memory: Memory, depth: int | None = None
    ) -> Float[Tensor, "*n d"]:
        """States after ``depth`` blocks (None: all); the blocks above are not run.

        With ``norm`` "pre" the normalisation that closes the tower closes every exit from it.
        """
        look = pattern(layout, layout, x, causal=self.causal)
        across = pattern(layout, memory.layout, x)
        return self.run(x, layout, [look] * (self.depth if depth is None else depth), across, memory)

    def run(
        self,
        x: Float[Tensor, "*n d"],
        layout: Layout,
        looks: Sequence[Pattern],
        across: Pattern,
        memory: Memory,
    ) -> Float[Tensor, "*n d"]:
        """States after as many blocks as there are looks: each block has its own way to see the tokens."""
        kv = memory.kv[self.name].unbind(-4)
        for block, look, here in zip(self.blocks, looks, kv, strict=False):
            x = block(x, layout, look, across, here)
        return x if self.norm is None else self.norm(x)
