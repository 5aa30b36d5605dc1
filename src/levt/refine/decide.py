"""From a policy's logits to edits: the three greedy decisions of Algorithm 2, with the user's dials.

Pure functions of tensors without host synchronisation, so that the plain loop, the captured graphs of the
engine and the server all decide alike. Each gives the choice and its log-probability.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from levt.edits.state import State
from levt.text.specials import SPECIALS


def decide_drop(
    logits: Float[Tensor, "b n 2"],
    state: State,
    min_edit: Float[Tensor, "b"],
    forced: Bool[Tensor, "b n"] | None = None,
) -> tuple[Bool[Tensor, "b n"], Float[Tensor, "b n"]]:
    """d̂: delete a token where π_del(1) > (1 + min_edit) / 2; never a boundary, never a locked token.

    With min_edit = 0 this is the argmax, a tie keeping the token; with 1 nothing is ever deleted. What is
    ``forced`` goes whatever the policy says, with the probability that it gives to that.
    """
    odds = (logits[..., 1] - logits[..., 0]).float()
    drop = (odds > _odds(min_edit).unsqueeze(1)) & state.inner & ~state.locked
    drop = drop if forced is None else drop | forced
    return drop, F.logsigmoid(torch.where(drop, odds, -odds))  # finite, however unlikely


def decide_counts(
    logits: Float[Tensor, "b g k"],
    state: State,
    empty_gap_penalty: Float[Tensor, "b"],
    min_edit: Float[Tensor, "b"],
    max_count: Int[Tensor, "b"],
) -> tuple[Int[Tensor, "b g"], Float[Tensor, "b g"]]:
    """p̂: the most probable count of each gap after γ was subtracted from the logit of 0; 0 in closed gaps.

    An insertion must also have π_plh(> 0) > (1 + min_edit) / 2, which the argmax implies for min_edit = 0.
    """
    logits = logits.float()
    penalised = torch.cat([logits[..., :1] - empty_gap_penalty.view(-1, 1, 1), logits[..., 1:]], -1)
    counts = penalised.argmax(-1)
    odds = penalised[..., 1:].logsumexp(-1) - penalised[..., 0]
    # At 0 the argmax decides alone: rounding in the sum must not overrule it.
    bold = (odds > _odds(min_edit).unsqueeze(1)) | min_edit.eq(0).unsqueeze(1)
    counts = torch.where(bold & state.gaps, counts, 0).minimum(max_count.unsqueeze(1))
    return counts, count_logp(logits, counts)


def count_logp(logits: Float[Tensor, "b g k"], counts: Int[Tensor, "b g"]) -> Float[Tensor, "b g"]:
    """Log-probabilities of counts, whoever chose them; −∞ for more than the policy can open.

    >>> count_logp(torch.zeros(1, 2, 2), torch.tensor([[1, 2]])).exp().tolist()
    [[0.5, 0.0]]
    """
    most = logits.shape[-1] - 1
    found = logits.float().log_softmax(-1).gather(-1, counts.clamp(max=most).unsqueeze(-1)).squeeze(-1)
    return found.masked_fill(counts > most, float("-inf"))


def decide_fill(
    scores: Float[Tensor, "*p v"], banned: Bool[Tensor, "*p v"] | None = None
) -> tuple[Int[Tensor, "*p"], Float[Tensor, "*p"]]:
    """t̂: the most probable token of each placeholder; a special symbol is never chosen.

    Scores are log π, normalised by the policy: over a whole vocabulary that is not to be done twice.
    """
    usable = scores if banned is None else scores.masked_fill(banned, float("-inf"))
    # A slice, not a mask: whatever the scores are, the choice lies behind the special symbols.
    tokens = usable[..., len(SPECIALS) :].argmax(-1) + len(SPECIALS)
    return tokens, scores.gather(-1, tokens.unsqueeze(-1)).squeeze(-1).float()


def _odds(min_edit: Float[Tensor, "b"]) -> Float[Tensor, "b"]:
    """Log-odds of the probability an edit must exceed: 0 for min_edit 0, ∞ for 1."""
    return torch.log1p(min_edit) - torch.log1p(-min_edit)
