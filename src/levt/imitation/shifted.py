"""A loss that lets two neighbouring tokens stand a few places off: word order counts, the exact place does not.

After the edit-invariant sequence loss: for every two neighbours of a run of placeholders −log Σ_s π(both, s places
off), both inside the run. Places one by one would punish a right phrase after one word too few.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

REACH = 3
"""How far off, to either side."""


def shifted_loss(
    logits: Float[Tensor, "p v"], labels: Int[Tensor, "p"], places: Int[Tensor, "p"]
) -> Float[Tensor, ""]:
    """The sum over all pairs; ``places`` are those of the placeholders in the packed states, labels below 0 padding."""
    count = labels.shape[0]
    real = labels >= 0
    follows = F.pad(places[1:].eq(places[:-1] + 1) & real[1:] & real[:-1], (1, 0))
    run = torch.where(real, (~follows).long().cumsum(0), -1)
    index = torch.arange(count, device=labels.device)
    log_z = torch.logsumexp(logits.float(), -1)
    scores = []
    for shift in range(-REACH, REACH + 1):
        # log π_{j − s}(t_j): the token of place j, s places before it; −∞ where that is another run.
        at = (index - shift).clamp(0, count - 1)
        inside = real & run[at].eq(run) & at.eq(index - shift)
        log_p = logits[at, labels.clamp(min=0)].float() - log_z[at]
        scores.append(torch.where(inside, log_p, -1e4))
    of_places = torch.stack(scores)
    pairs = of_places[:, :-1] + of_places[:, 1:]
    return -torch.where(follows[1:], torch.logsumexp(pairs, 0), 0.0).sum()
