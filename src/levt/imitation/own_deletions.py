"""Insertion states that the model's own deletions leave: the dual of the deletion states that it fills itself.

Of y_del the oracle keeps what the target holds, the model drops what it wants to drop; what both keep is again the
target with some tokens taken out, so insertion learns from it as from any other roll-in. Everything happens on the
device, at fixed shapes, without waiting.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn import functional as F

from levt.policy.layout import Packed
from levt.text.specials import PAD, PLH


@dataclass(frozen=True)
class LeftOver:
    """The states y_ins and y_ins′ after the model's deletions, and the expert's insertions."""

    kept: Int[Tensor, "t"]
    kept_rows: Packed
    holes: Int[Tensor, "t"]
    gap_at: Int[Tensor, "g"]
    gap_counts: Int[Tensor, "g"]
    hole_at: Int[Tensor, "p"]
    hole_tokens: Int[Tensor, "p"]


def left_over(
    match: Int[Tensor, "n"],
    drop: Bool[Tensor, "n"],
    rows: Packed,
    target: Int[Tensor, "t"],
    target_rows: Packed,
    most_holes: int,
) -> LeftOver:
    """What is left of the target: ``match`` is the oracle's partner of each token of y_del, ``drop`` the model's wish.

    Boundaries stay. Of all placeholders the first ``most_holes`` are learnt from.
    """
    total = target.shape[0]
    boundary = rows.positions.eq(0) | rows.last
    stays = rows.real & (match >= 0) & (~drop | boundary)
    begins = F.pad(target_rows.offsets[:-1].long(), (0, 1))
    to = torch.where(stays, begins[rows.row] + match, total)
    kept = torch.zeros(total + 1, dtype=torch.bool, device=target.device).scatter(0, to, True)[:total]

    place = torch.arange(total, device=target.device)
    column = torch.where(kept, kept.cumsum(0) - 1, total)
    tokens = _scatter(column, target, total, PAD)
    position = _scatter(column, place, total, -1)
    counted = F.pad(kept.cumsum(0), (1, 0))
    offsets = target_rows.offsets.long()
    lengths = counted[offsets[1:]] - counted[offsets[:-1]]
    kept_rows = Packed.of(lengths, total, target_rows.longest)
    neighbours = kept_rows.real[1:] & kept_rows.row[1:].eq(kept_rows.row[:-1])
    counts = torch.where(neighbours, position[1:] - position[:-1] - 1, -1)

    missing = target_rows.real & ~kept
    slot = torch.where(missing, missing.cumsum(0) - 1, most_holes).clamp(max=most_holes)
    return LeftOver(
        kept=tokens,
        kept_rows=kept_rows,
        holes=torch.where(missing, PLH, target),
        gap_at=place[:-1],
        gap_counts=counts,
        hole_at=_scatter(slot, place, most_holes, 0),
        hole_tokens=_scatter(slot, target, most_holes, -1),
    )


def _scatter(to: Int[Tensor, "n"], values: Int[Tensor, "n"], size: int, rest: int) -> Int[Tensor, "size"]:
    """Values at their new places; those sent to place ``size`` are lost."""
    return values.new_full((size + 1,), rest).scatter(0, to, values)[:size]
