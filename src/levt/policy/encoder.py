"""The encoder: a stack of blocks over the embedded source."""

from jaxtyping import Float
from torch import Tensor, nn

from levt.policy.attention import pattern
from levt.policy.blocks import Block, BlockShape, Norm
from levt.policy.config import TransformerConfig
from levt.policy.embedding import Embedder
from levt.policy.layout import Layout


class Encoder(nn.Module):
    """Blocks that look everywhere in the source."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        shape = BlockShape.of_encoder(config)
        self.embed = Embedder(
            width=shape.width,
            max_length=config.max_length,
            positions=config.of_encoder("positions"),
            scale=config.scale_embedding,
            normalise=config.of_encoder("normalise_embedding"),
            dropout=config.dropout,
        )
        self.blocks = nn.ModuleList(Block(shape, cross=False) for _ in range(config.encoder_layers))
        self.norm = Norm(shape.width) if shape.pre_norm else None

    def forward(self, x: Float[Tensor, "*s d"], layout: Layout) -> Float[Tensor, "*s d"]:
        """States of a source whose tokens are embedded already."""
        look = pattern(layout, layout, x)
        for block in self.blocks:
            x = block(x, layout, look)
        return x if self.norm is None else self.norm(x)
