"""The length policy of models that cannot change it later: log π(number of target tokens | source).

It reads the encoder's state of ``<s>``, the first place of every source, whose token says nothing else.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from levt.policy.layout import Packed
from levt.policy.memory import Memory


class LengthPolicy(nn.Module):
    """Scores of 0 … ``longest`` tokens, boundaries not counted.

    ``relative``: the classes are differences to the length of the source, so that "as long as the source"
    is one class and not one for each length; a length that no source of this length may have is no class.
    """

    def __init__(self, width: int, longest: int, *, relative: bool) -> None:
        super().__init__()
        self.longest, self.relative = longest, relative
        classes = 2 * longest + 1 if relative else longest + 1
        self.head = nn.Parameter(torch.randn(classes, width) * width**-0.5)

    def forward(self, memory: Memory) -> Float[Tensor, "b l"]:
        """Scores of every length, for each source of a memory."""
        logits = F.linear(first_states(memory), self.head)
        if not self.relative:
            return logits
        length = torch.arange(self.longest + 1, device=logits.device)
        # Difference 0 has the class in the middle.
        at = length - source_lengths(memory).clamp(max=self.longest).unsqueeze(1) + self.longest
        return logits.gather(1, at)


def first_states(memory: Memory) -> Float[Tensor, "b d"]:
    """The encoder's state of each ``<s>``; of an empty row anything."""
    layout = memory.layout
    if isinstance(layout, Packed):
        at = layout.offsets[:-1].long().clamp(max=memory.states.shape[0] - 1)
        return memory.states.index_select(0, at)
    return memory.states[:, 0]


def source_lengths(memory: Memory) -> Int[Tensor, "b"]:
    """Tokens of each source, boundaries not counted."""
    layout = memory.layout
    lengths = layout.offsets.diff().long() if isinstance(layout, Packed) else layout.real.sum(1)
    return (lengths - 2).clamp(min=0)
