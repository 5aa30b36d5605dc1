"""The two things done with a large matrix of logits: a likelihood, and a choice. Modules, so that they compile.

Each reads the logits once in the precision they have; the vocabulary is never written out again. On a GPU a large
vocabulary has kernels of its own, which a compiler does not find: a sample there needs a random number a block, not one
a class.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from levt.imitation import vocabulary_ops
from levt.text.specials import SPECIALS


class Likelihood(nn.Module):
    """−Σ log π(label) with label smoothing; labels below 0 do not count."""

    def __init__(self, smoothing: float) -> None:
        super().__init__()
        self.smoothing = smoothing

    def forward(self, logits: Float[Tensor, "p k"], labels: Int[Tensor, "p"]) -> Float[Tensor, ""]:
        """The sum over all labels, in single precision."""
        if vocabulary_ops.fits(logits):
            total: Tensor = vocabulary_ops.likelihood(logits, labels, self.smoothing)[0].sum()
            return total
        return F.cross_entropy(
            logits.float(), labels, ignore_index=-1, reduction="sum", label_smoothing=self.smoothing
        )


class OwnTokens(nn.Module):
    """t̃ ~ π_tok, or its argmax; a special symbol is never chosen."""

    def __init__(self, *, sample: bool) -> None:
        super().__init__()
        self.sample = sample

    @torch.no_grad()
    def forward(self, logits: Float[Tensor, "p v"]) -> Int[Tensor, "p"]:
        """One token for each row of logits."""
        if self.sample and vocabulary_ops.fits(logits):
            blocks = -(-logits.shape[1] // vocabulary_ops.BLOCK)
            uniform = torch.rand(logits.shape[0], blocks + 1, device=logits.device)
            tokens: Tensor = vocabulary_ops.sample(logits, uniform, len(SPECIALS))
            return tokens
        scores = logits[:, len(SPECIALS) :].float()
        if self.sample:
            # Gumbel's trick: the argmax of log π + g is a sample of π; g = −log(−log u), u never 0.
            uniform = torch.rand_like(scores).clamp_(min=1e-10)
            scores = scores - (-uniform.log()).log()
        return scores.argmax(-1) + len(SPECIALS)
