"""The Transformer that writes from left to right: the paper's baseline, and the teacher of distillation."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from levt.errors import ConfigError
from levt.policy.attention import pattern, working_dtype
from levt.policy.cache import KeyValueCache
from levt.policy.config import TransformerConfig
from levt.policy.decoder import Tower
from levt.policy.layout import Layout, Padded
from levt.policy.memory import Memory
from levt.policy.transformer import Transformer


class Autoregressive(Transformer):
    """A causal Transformer. The state after y_0 … y_i scores y_{i+1}; y_0 is ``<s>``."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.config = config
        self.decoder = Tower(config, name="decoder", depth=config.decoder_layers, causal=True)

    def encode(self, x: Int[Tensor, "*s"], layout: Layout | None = None) -> Memory:
        """Read the sources; the layout of padded rows may be left out."""
        return self.remember(*self.read(x, layout))

    def remember(self, states: Float[Tensor, "*s d"], layout: Layout) -> Memory:
        """The memory of encoder states."""
        return Memory(states, layout, {self.decoder.name: self.decoder.remember(states, layout)})

    def hidden(self, memory: Memory, y: Int[Tensor, "*n"], layout: Layout) -> Float[Tensor, "*n d"]:
        """States of the tokens so far, all places at once."""
        states: Tensor = self.decoder(self.embed_target(y, layout), layout, memory)
        return states

    def logits(
        self, memory: Memory, y: Int[Tensor, "*n"], layout: Layout | None = None
    ) -> Float[Tensor, "*n v"]:
        """Scores of the next token at every place."""
        return self.token_logits(self.hidden(memory, y, Padded.of(y) if layout is None else layout))

    def start(self, memory: Memory, width: int, copies: int = 1) -> KeyValueCache:
        """An empty cache for ``width`` tokens of ``copies`` hypotheses for each source."""
        check_width(width, self.config.max_length)
        kv = memory.kv[self.decoder.name]
        layers, _, heads, size = kv.shape[-4:]
        return KeyValueCache(
            kv.new_zeros(layers, 2, memory.rows * copies, heads, width, size),
            torch.zeros(1, dtype=torch.long, device=kv.device),
        )

    @torch.no_grad()
    def step(self, memory: Memory, tokens: Int[Tensor, "r"], cache: KeyValueCache) -> Float[Tensor, "r v"]:
        """Take one more token of each row and score the next. Nothing waits for the device."""
        y = tokens.unsqueeze(1)
        layout = Padded(torch.ones_like(y, dtype=torch.bool), cache.position.expand_as(y))
        x = self.embed_target(y, layout)
        across = pattern(layout, memory.layout, x)
        x = self.decoder.run(x, layout, cache.patterns(working_dtype(x)), across, memory)
        cache.position.add_(1)
        return self.token_logits(x.squeeze(1))

    def reorder(self, cache: KeyValueCache, rows: Int[Tensor, "r"]) -> KeyValueCache:
        """The cache of hypotheses that continue these rows."""
        return cache.select(rows)


def check_width(width: int, max_length: int) -> None:
    """Refuse a cache that no position could fill."""
    if not 1 <= width <= max_length:
        raise ConfigError(f"the longest output must be between 1 and {max_length} tokens, got {width}")
