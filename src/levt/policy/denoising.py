"""IT, iterative refinement by denoising: a length, a first translation, then better ones (Lee et al. 2018).

The first decoder reads the source's tokens, spread over the target's length; the second reads a translation
and writes it anew, every token at once. Our blocks replace the paper's: no highway layers, no positional
attention, and the second decoder reads tokens alone (the paper's adds the states that wrote them). Knows not how
often the second is asked.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from levt.policy.config import TransformerConfig
from levt.policy.decoder import Tower
from levt.policy.embedding import check_length
from levt.policy.layout import Layout, Padded
from levt.policy.length import LengthPolicy
from levt.policy.memory import Memory
from levt.policy.scores import forbid, log_softmax, log_softmax_tokens
from levt.policy.transformer import Transformer
from levt.text.specials import BOS, EOS, PAD, UNK

Stage = Literal["draft", "refine"]
"""The first decoder, and the second."""


@dataclass(frozen=True, kw_only=True)
class DenoisingConfig(TransformerConfig):
    """Iterative refinement by denoising, IT."""

    kind: ClassVar[str] = "denoising"

    relative_length: bool = True
    """Predict the difference to the source's length, as the paper does, and not the length."""
    share_decoders: bool = False
    """One decoder for the first translation and the better ones; the paper has two."""

    def problems(self) -> Iterator[str]:
        """Everything that is wrong with the values."""
        yield from super().problems()
        yield from self._at_least("max_length", 3)
        if self.of_encoder("width") != self.width:
            yield f"the decoder reads source tokens: encoder_width must be width, got {self.encoder_width}"


class Denoising(Transformer):
    """Two decoders that look everywhere, and a length policy on the encoder."""

    def __init__(self, config: DenoisingConfig) -> None:
        super().__init__(config)
        self.config = config
        stages: tuple[Stage, ...] = ("refine",) if config.share_decoders else ("draft", "refine")
        self.decoders = nn.ModuleDict(
            {stage: Tower(config, name=stage, depth=config.decoder_layers) for stage in stages}
        )
        longest = config.max_length - 2
        self.length_policy = LengthPolicy(config.width, longest, relative=config.relative_length)

    def tower(self, stage: Stage) -> Tower:
        """The decoder of a stage."""
        tower = self.decoders[stage if stage in self.decoders else "refine"]
        assert isinstance(tower, Tower)
        return tower

    def encode(self, x: Int[Tensor, "*s"], layout: Layout | None = None) -> Memory:
        """Read the sources; the layout of padded rows may be left out."""
        states, layout = self.read(x, layout)
        kv = {name: self.tower(name).remember(states, layout) for name in self.decoders}  # type: ignore[arg-type]
        # The first decoder reads the tokens again; numbers below 2²⁴ are exact in single precision.
        extra = {"source": x.float()} if isinstance(layout, Padded) else {}
        return Memory(states, layout, kv, extra)

    def hidden(
        self, memory: Memory, y: Int[Tensor, "*n"], layout: Layout, stage: Stage
    ) -> Float[Tensor, "*n d"]:
        """States of rows between their boundaries: spread source tokens for the first stage, else target tokens."""
        if stage == "draft":
            check_length(layout, self.config.max_length)
            x: Tensor = self.embed.finish(F.embedding(y, self.source_table), layout)
        else:
            x = self.embed_target(y, layout)
        states: Tensor = self.tower(stage)(x, layout, memory)
        return states

    def length(self, memory: Memory) -> Float[Tensor, "b l"]:
        """The log π of every length, boundaries not counted."""
        return log_softmax(self.length_policy(memory))

    def token(self, memory: Memory, y: Int[Tensor, "b n"], stage: Stage) -> Float[Tensor, "b n v"]:
        """The log π of every token at every place of padded rows; −∞ for what is never produced."""
        h = self.hidden(memory, y, Padded.of(y), stage)
        return forbid(log_softmax_tokens(self.token_logits(h)))


def spread(x: Int[Tensor, "b s"], lengths: Int[Tensor, "b"], width: int) -> Int[Tensor, "b width"]:
    """Source rows over other lengths: inner token t of T is source token ⌊t·S/T⌋ of S; ``<unk>`` where S is 0.

    >>> spread(torch.tensor([[1, 7, 8, 2]]), torch.tensor([4]), 7).tolist()
    [[1, 7, 7, 8, 8, 2, 0]]
    """
    column = torch.arange(width, device=x.device).unsqueeze(0)
    size = (x.ne(PAD).sum(1, keepdim=True) - 2).clamp(min=0)
    wanted = lengths.unsqueeze(1)
    at = 1 + (column - 1).clamp(min=0) * size // wanted.clamp(min=1)
    tokens = x.gather(1, at.clamp(max=x.shape[1] - 1)).masked_fill(size.eq(0), UNK)
    tokens = tokens.masked_fill(column.eq(0), BOS).masked_fill(column.eq(wanted + 1), EOS)
    return tokens.masked_fill(column > wanted + 1, PAD)
