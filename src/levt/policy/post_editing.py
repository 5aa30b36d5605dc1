"""The paper's baseline for post-editing: one encoder over source and draft, then left to right.

Positions restart at the draft, and every token of the input carries an embedding of its language.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from levt.policy.autoregressive import Autoregressive
from levt.policy.config import PostEditingConfig
from levt.policy.embedding import check_length
from levt.policy.layout import Layout, Padded
from levt.policy.memory import Memory
from levt.text.specials import PAD


class PostEditor(Autoregressive):
    """A causal Transformer that reads a source and a draft."""

    def __init__(self, config: PostEditingConfig) -> None:
        super().__init__(config)
        self.languages = nn.Parameter(torch.randn(2, config.width) * config.width**-0.5)

    def encode_pair(self, x: Int[Tensor, "b s"], draft: Int[Tensor, "b m"]) -> Memory:
        """Read padded sources with their padded drafts, both with boundaries."""
        for part in (Padded.of(x), Padded.of(draft)):
            check_length(part, self.config.max_length)
        return self.encode_joined(*join(x, draft))

    def encode_joined(self, tokens: Int[Tensor, "*s"], parts: Int[Tensor, "*s"], layout: Layout) -> Memory:
        """Read sources and drafts that lie in one sequence: ``parts`` is 0 on the source, 1 on the draft."""
        if self.source_tokens is None:
            embedded = F.embedding(tokens, self.target_tokens.weight)
        else:
            of_draft = parts.eq(1)
            embedded = torch.where(
                of_draft.unsqueeze(-1),
                F.embedding(tokens.masked_fill(~of_draft, PAD), self.target_tokens.weight),
                F.embedding(tokens.masked_fill(of_draft, PAD), self.source_table),
            )
        language: Float[Tensor, "*s d"] = F.embedding(parts, self.languages)
        states = self.encoder(self.encoder.embed.finish(embedded, layout, language), layout)
        return self.remember(states, layout)


def join(
    x: Int[Tensor, "b s"], draft: Int[Tensor, "b m"]
) -> tuple[Int[Tensor, "b j"], Int[Tensor, "b j"], Padded]:
    """Sources and drafts side by side: tokens, parts, and a layout whose positions restart at the draft."""
    tokens = torch.cat([x, draft], 1)
    columns = [torch.arange(part.shape[1], device=x.device) for part in (x, draft)]
    parts = torch.cat([torch.zeros_like(x), torch.ones_like(draft)], 1)
    return tokens, parts, Padded(tokens.ne(PAD), torch.cat(columns).expand_as(tokens))
