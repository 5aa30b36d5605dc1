"""MaskT, the conditional masked language model: a length, then the tokens behind the masks (Ghazvininejad et al. 2019).

The mask is ``<plh>``: what LevT opens itself, this model is given. Knows not how masks are chosen.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float, Int
from torch import Tensor

from levt.policy.config import TransformerConfig
from levt.policy.decoder import Tower
from levt.policy.layout import Layout, Padded
from levt.policy.length import LengthPolicy
from levt.policy.memory import Memory
from levt.policy.scores import forbid, log_softmax, log_softmax_tokens
from levt.policy.transformer import Transformer


@dataclass(frozen=True, kw_only=True)
class MaskedConfig(TransformerConfig):
    """The conditional masked language model, MaskT.

    >>> MaskedConfig(source_vocabulary=9, target_vocabulary=9, max_length=2)
    Traceback (most recent call last):
    levt.errors.ConfigError: masked model: max_length must be at least 3, got 2
    hint: `levt train RECIPE --help` explains each setting
    """

    kind: ClassVar[str] = "masked"

    relative_length: bool = False
    """Predict the difference to the source's length and not, as the paper does, the length."""

    def problems(self) -> Iterator[str]:
        """Everything that is wrong with the values."""
        yield from super().problems()
        yield from self._at_least("max_length", 3)


class Masked(Transformer):
    """One decoder that looks everywhere, and a length policy on the encoder."""

    def __init__(self, config: MaskedConfig) -> None:
        super().__init__(config)
        self.config = config
        self.decoder = Tower(config, name="decoder", depth=config.decoder_layers)
        width, longest = config.of_encoder("width"), config.max_length - 2
        self.length_policy = LengthPolicy(width, longest, relative=config.relative_length)

    def encode(self, x: Int[Tensor, "*s"], layout: Layout | None = None) -> Memory:
        """Read the sources; the layout of padded rows may be left out."""
        states, layout = self.read(x, layout)
        return Memory(states, layout, {self.decoder.name: self.decoder.remember(states, layout)})

    def hidden(self, memory: Memory, y: Int[Tensor, "*n"], layout: Layout) -> Float[Tensor, "*n d"]:
        """States of a canvas between its boundaries.

        With c times as many rows as the memory has, row r of y reads row r // c of the memory.
        """
        states: Tensor = self.decoder(self.embed_target(y, layout), layout, memory)
        return states

    def length(self, memory: Memory) -> Float[Tensor, "b l"]:
        """The log π of every length, boundaries not counted."""
        return log_softmax(self.length_policy(memory))

    def token(self, memory: Memory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b n v"]:
        """The log π of every token at every place of padded rows; −∞ for what is never produced."""
        return forbid(log_softmax_tokens(self.token_logits(self.hidden(memory, y, Padded.of(y)))))
