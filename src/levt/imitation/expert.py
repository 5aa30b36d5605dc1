"""The expert for states that only exist on the device: the oracle's alignment of packed rows, without waiting."""

from jaxtyping import Int
from torch import Tensor

from levt.edits.oracle import align
from levt.policy.layout import Packed


def expert_match(
    y: Int[Tensor, "n"], rows: Packed, target: Int[Tensor, "t"], target_rows: Packed
) -> Int[Tensor, "n"]:
    """For each token of a packed batch its partner's place in its target row, or -1 where d* deletes it."""
    if y.is_cuda:
        from levt.edits.oracle_triton import align_rows

        return align_rows(
            y, rows.offsets[:-1], rows.offsets.diff(), target, target_rows.offsets[:-1], target_rows.offsets.diff(),
            longest=rows.longest, longest_target=target_rows.longest,
        )  # fmt: skip
    return rows.flatten(align(rows.spread(y), target_rows.spread(target)))
