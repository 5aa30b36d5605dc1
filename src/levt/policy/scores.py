"""From logits to log-probabilities, and what no policy may write."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from levt.text.specials import BOS, EOS, PAD, PLH

NEVER_PRODUCED = (PAD, BOS, EOS, PLH)
"""Symbols that the token policy never writes; a model that writes from left to right does end with ``</s>``."""


def log_softmax(logits: Float[Tensor, "*n k"]) -> Float[Tensor, "*n k"]:
    """Normalise over the last axis, in single precision."""
    return F.log_softmax(logits, -1, dtype=torch.float32)


def log_softmax_tokens(logits: Float[Tensor, "*n v"]) -> Float[Tensor, "*n v"]:
    """The log π^tok: normalised over every token but ``<plh>``, an input symbol and no class (−∞ there).

    So a converted model, whose vocabulary had no such symbol, keeps its probabilities exactly; in a model
    taught here ``<plh>`` is never a target and the difference vanishes.
    """
    column = torch.arange(logits.shape[-1], device=logits.device)
    return log_softmax(logits.masked_fill(column.eq(PLH), float("-inf")))


def forbid(scores: Float[Tensor, "*n v"], *, end: bool = False) -> Float[Tensor, "*n v"]:
    """Scores of tokens, with −∞ for the symbols that are never produced; ``end`` allows ``</s>``.

    Forbid after normalising: the probability of what is forbidden is not given to the others.

    >>> forbid(torch.zeros(6)).tolist()
    [-inf, -inf, -inf, 0.0, -inf, 0.0]
    """
    # Comparisons, not an index tensor: nothing is copied from the host, so this may be captured.
    column = torch.arange(scores.shape[-1], device=scores.device)
    never = column.eq(PAD) | column.eq(BOS) | column.eq(PLH)
    return scores.masked_fill(never if end else never | column.eq(EOS), float("-inf"))
