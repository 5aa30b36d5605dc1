"""The oracle's alignment as vectorised torch: no dependency, any device, no host synchronisation."""

import torch
from jaxtyping import Int
from torch import Tensor

from levt.text.specials import PAD


def align_torch(y: Int[Tensor, "b n"], target: Int[Tensor, "b t"]) -> Int[Tensor, "b n"]:
    """``align_reference`` (leftmost) for a padded batch; padding is aligned with nothing.

    Row i of the table is a running maximum, because L[i−1] never decreases along the target:
    L[i][j] = max over j' ≤ j of (L[i−1][j'−1] + 1 if y_i = t_j' else L[i−1][j']).
    """
    b, n = y.shape
    t = target.shape[1]
    tokens = torch.where(y.eq(PAD), -1, y)
    row = torch.zeros(b, t + 1, dtype=torch.int32, device=y.device)
    rows = [row]
    for i in range(n):
        same = tokens[:, i, None].eq(target)
        ahead = torch.where(same, row[:, :-1] + 1, row[:, 1:]).cummax(1).values
        row = torch.cat([row[:, :1], ahead], 1)
        rows.append(row)

    # Walk back a row at a time: `k` pairs are still to be kept, within the first `j` tokens of the target.
    k = rows[n][:, -1:]
    j = torch.full((b, 1), t, dtype=torch.long, device=y.device)
    match: list[Tensor] = []
    for i in range(n, 0, -1):
        free = rows[i - 1].gather(1, j).eq(k)
        # The first column in which row i reaches k, as an index into the target.
        first = rows[i].lt(k).sum(1, keepdim=True) - 1
        match.append(torch.where(free, -1, first))
        j = torch.where(free, j, first)
        k = k - (~free).to(k.dtype)
    return torch.cat(match[::-1], 1).to(y.dtype) if n else torch.zeros_like(y)
