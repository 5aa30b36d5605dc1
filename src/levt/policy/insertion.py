"""The Insertion Transformer: in each gap of a state a token, or none (Stern et al. 2019).

What LevT does in two steps, placeholders and tokens, it does in one: at most one token per gap and iteration.
``</s>`` is the class that says: nothing is missing here. Knows not how it is taught or decoded.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from levt.policy.blocks import linear
from levt.policy.config import TransformerConfig
from levt.policy.decoder import Tower
from levt.policy.layout import Layout, Padded
from levt.policy.memory import Memory
from levt.policy.scores import forbid, log_softmax_tokens
from levt.policy.transformer import Transformer


@dataclass(frozen=True, kw_only=True)
class InsertionConfig(TransformerConfig):
    """The Insertion Transformer."""

    kind: ClassVar[str] = "insertion"


class InsertionTransformer(Transformer):
    """One decoder that looks everywhere; both neighbours of a gap, joined and mapped, score its token."""

    def __init__(self, config: InsertionConfig) -> None:
        super().__init__(config)
        self.config = config
        self.decoder = Tower(config, name="decoder", depth=config.decoder_layers)
        self.join = linear(2 * config.width, config.width)

    def encode(self, x: Int[Tensor, "*s"], layout: Layout | None = None) -> Memory:
        """Read the sources; the layout of padded rows may be left out."""
        states, layout = self.read(x, layout)
        return Memory(states, layout, {self.decoder.name: self.decoder.remember(states, layout)})

    def hidden(self, memory: Memory, y: Int[Tensor, "*n"], layout: Layout) -> Float[Tensor, "*n d"]:
        """States of the tokens of a state between its boundaries."""
        states: Tensor = self.decoder(self.embed_target(y, layout), layout, memory)
        return states

    def gap_logits(self, pairs: Float[Tensor, "*g e"]) -> Float[Tensor, "*g v"]:
        """Scores of every token in gaps, from their neighbours' states one behind the other, e = 2 d."""
        joined: Tensor = self.join(pairs)
        return self.token_logits(joined)

    def gap(self, memory: Memory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b g v"]:
        """The log π of every token in every gap of padded states; ``</s>``: none; −∞ for what is never produced."""
        h = self.hidden(memory, y, Padded.of(y))
        pairs = torch.cat([h[:, :-1], h[:, 1:]], -1)
        return forbid(log_softmax_tokens(self.gap_logits(pairs)), end=True)
