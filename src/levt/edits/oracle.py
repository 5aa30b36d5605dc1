"""The oracle: the best edits towards a target, and the choice of the fastest way to find them.

Eq. (8) of the paper: a* = argmin_a 𝓓(y*, 𝓔(y, a)), with 𝓓 the Levenshtein distance of insertions and
deletions alone. The minimum is |y| + |y*| − 2·LCS(y, y*), so keeping a longest common subsequence,
deleting the rest and inserting what is missing is optimal for *any* pair. Ties are broken as
``oracle_reference`` says, alike on every device.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from levt.edits.kernels import HAVE_TRITON
from levt.edits.oracle_bits import align_bits
from levt.edits.oracle_reference import Tie
from levt.edits.oracle_torch import align_torch
from levt.text.specials import PAD

Align = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Edits:
    """The edits of one iteration for a batch: a = (d, p, t)."""

    drop: Bool[Tensor, "b n"]
    """Delete: True where a token of the state goes."""
    counts: Int[Tensor, "b g"]
    """Placeholder: how many to open in each gap of the state after deletion."""
    fill: Int[Tensor, "b m"]
    """Token: what to write at each position of the state after insertion, read only at ``<plh>``."""


def _has_triton(device: str) -> bool:
    return device == "cuda" and HAVE_TRITON


@cache
def _align_for(device: str) -> Align:
    if _has_triton(device):
        from levt.edits.oracle_triton import align_triton

        return align_triton
    return align_bits if device == "cpu" else align_torch


def mirror(y: Int[Tensor, "b n"]) -> Int[Tensor, "b n"]:
    """Each row reversed within its own length; padding stays on the right."""
    return y.gather(1, _mirrored_index(y))


def _mirrored_index(y: Int[Tensor, "b n"]) -> Int[Tensor, "b n"]:
    at = torch.arange(y.shape[1], device=y.device).expand_as(y)
    back = y.ne(PAD).sum(1, keepdim=True) - 1 - at
    return torch.where(back >= 0, back, at)


def align(y: Int[Tensor, "b n"], target: Int[Tensor, "b t"], tie: Tie = "leftmost") -> Int[Tensor, "b n"]:
    """For each token the position of the target it is kept as, or -1 where the oracle deletes it.

    >>> align(torch.tensor([[1, 5, 9, 2]]), torch.tensor([[1, 8, 5, 2]])).tolist()
    [[0, 2, -1, 3]]
    """
    how = _align_for(y.device.type)
    if tie == "leftmost":
        return how(y, target)
    match = how(mirror(y), mirror(target)).gather(1, _mirrored_index(y))
    lengths = target.ne(PAD).sum(1, keepdim=True)
    return torch.where(match >= 0, lengths - 1 - match, match)


def oracle(y: Int[Tensor, "b n"], target: Int[Tensor, "b t"], tie: Tie = "leftmost") -> Edits:
    """The edits that turn ``y`` into ``target`` with the fewest insertions and deletions.

    >>> edits = oracle(torch.tensor([[1, 5, 9, 2]]), torch.tensor([[1, 8, 5, 2]]))
    >>> edits.drop.int().tolist(), edits.counts.tolist()
    ([[0, 0, 1, 0]], [[1, 0, 0]])
    """
    if tie == "leftmost" and _has_triton(y.device.type):
        from levt.edits.oracle_triton import edits_triton

        _, drop, counts = edits_triton(y, target)
        return Edits(drop=drop, counts=counts, fill=target)
    match = align(y, target, tie)
    kept = match >= 0
    # Kept tokens close up to the left, as deletion will do; the gaps between them are what is missing.
    b, n = y.shape
    to = torch.where(kept, kept.cumsum(1) - 1, n)
    position = match.new_full((b, n + 1), -1).scatter_(1, to, match)[:, :n]
    counts = torch.where(position[:, 1:] >= 0, position[:, 1:] - position[:, :-1] - 1, 0)
    return Edits(drop=y.ne(PAD) & ~kept, counts=counts, fill=target)
