"""The expert's deletions for states that only exist on the device: drop* of packed rows, without waiting."""

from jaxtyping import Bool, Int
from torch import Tensor

from levt.edits.oracle import align
from levt.policy.layout import Packed


def expert_drop(
    y: Int[Tensor, "n"], rows: Packed, target: Int[Tensor, "t"], target_rows: Packed
) -> Bool[Tensor, "n"]:
    """d* = argmin 𝓓(y*, 𝓔(y, d)) for every row of a packed batch; True also in the tail."""
    if y.is_cuda:
        from levt.edits.oracle_triton import align_rows

        match = align_rows(
            y, rows.offsets[:-1], rows.offsets.diff(), target, target_rows.offsets[:-1], target_rows.offsets.diff(),
            longest=rows.longest, longest_target=target_rows.longest,
        )  # fmt: skip
        return match < 0
    return rows.flatten(align(rows.spread(y), target_rows.spread(target))) < 0
