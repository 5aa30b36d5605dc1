"""What every Transformer here has: token tables, an encoder, the decoder's embedding, the output."""

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from levt.policy.config import ModelConfig, TransformerConfig
from levt.policy.embedding import Embedder, token_table
from levt.policy.encoder import Encoder
from levt.policy.layout import Layout, Padded


class TokenTables(nn.Module):
    """The token embeddings of source, target and output, as far as they are not one."""

    def __init__(self, config: ModelConfig, *, source_width: int) -> None:
        super().__init__()
        self.target_tokens = token_table(config.target_vocabulary, config.width)
        self.source_tokens: nn.Embedding | None = None
        if not config.joint_embeddings:
            self.source_tokens = token_table(config.source_vocabulary, source_width)
        self.output: nn.Embedding | None = None
        if not config.tie_output:
            self.output = token_table(config.target_vocabulary, config.width)

    @property
    def source_table(self) -> Float[Tensor, "v d"]:
        """The table that embeds source tokens."""
        return (self.target_tokens if self.source_tokens is None else self.source_tokens).weight

    def token_logits(self, h: Float[Tensor, "*p d"]) -> Float[Tensor, "*p v"]:
        """Scores of each token at the places handed in: h_i · Cᵀ, Eq. (5), C being the embedding."""
        return F.linear(h, (self.target_tokens if self.output is None else self.output).weight)


class Transformer(TokenTables):
    """An encoder, and all of a decoder but its tower."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config, source_width=config.of_encoder("width"))
        self.encoder = Encoder(config)
        self.embed = Embedder(
            width=config.width,
            max_length=config.max_length,
            positions=config.positions,
            scale=config.scale_embedding,
            normalise=config.normalise_embedding,
            dropout=config.dropout,
        )

    def read(self, x: Int[Tensor, "*s"], layout: Layout | None) -> tuple[Float[Tensor, "*s d"], Layout]:
        """States of the sources, with their layout; that of padded rows may be left out."""
        layout = Padded.of(x) if layout is None else layout
        return self.encoder(self.encoder.embed(self.source_table, x, layout), layout), layout

    def embed_target(self, y: Int[Tensor, "*n"], layout: Layout) -> Float[Tensor, "*n d"]:
        """What enters a tower."""
        embedded: Tensor = self.embed(self.target_tokens.weight, y, layout)
        return embedded
