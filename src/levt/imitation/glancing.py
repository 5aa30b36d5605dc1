"""Glancing: the worse the model fills a row at first sight, the more of its placeholders are shown before it learns.

A first look without gradient; of a row of which it gets the share w wrong, each placeholder is shown with probability
λ w. What is shown stands in the state as the target's token and is not asked for. Knows states, no network.
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def shown(
    guesses: Int[Tensor, "p"], labels: Int[Tensor, "p"], row: Int[Tensor, "p"], rows: int, share: float
) -> Bool[Tensor, "p"]:
    """Which placeholders are shown: ``row`` is that of each, labels below 0 are padding.

    >>> same = torch.tensor([7, 8, 9, 7])
    >>> shown(same, torch.tensor([7, 8, 5, 5]), torch.tensor([0, 0, 1, 1]), 2, 1.0).tolist()
    [False, False, True, True]
    """
    real = labels >= 0
    wrong = (real & guesses.ne(labels)).float()
    total = wrong.new_zeros(rows + 1).index_add(0, row, real.float())
    missed = wrong.new_zeros(rows + 1).index_add(0, row, wrong)
    probability = share * missed / total.clamp(min=1)
    return real & (torch.rand_like(wrong) < probability[row])
