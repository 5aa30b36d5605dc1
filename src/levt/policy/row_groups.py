"""Packed rows in groups of similar length: attention on a CPU, where one long row must not make all rows long.

In a batch of all lengths padded to the longest, nearly everything is padding (with the texts of software, 98 % of
the scores). The host of a CPU knows the lengths, so rows are sorted into a few groups and each is padded by itself.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from levt.policy.layout import Packed

FINEST = 8
"""Rows up to this long are one group; each further group ends half as far again."""


@dataclass(frozen=True, eq=False)
class RowGroup:
    """Some rows, padded to the longest of them."""

    queries: Int[Tensor, "r n"]
    """Where each query lies; padding lies at the row's beginning, and is not kept."""
    kept: Bool[Tensor, "r n"]
    keys: Int[Tensor, "r s"]
    seen: Bool[Tensor, "r s"]
    """False on padding."""

    def attend(
        self, q: Float[Tensor, "t h e"], k: Float[Tensor, "m h e"], v: Float[Tensor, "m h e"], *,
        causal: bool, dropout: float,
    ) -> Float[Tensor, "kept h e"]:  # fmt: skip
        """What the real queries of these rows find."""
        # Where it looks only backwards padding is behind all that is real, and needs no mask.
        mask = None if causal or self.seen.all() else self.seen[:, None, None, :]
        out = F.scaled_dot_product_attention(
            taken(q, self.queries), taken(k, self.keys), taken(v, self.keys), attn_mask=mask, dropout_p=dropout,
            is_causal=causal,
        )  # fmt: skip
        return out.transpose(1, 2)[self.kept]


def taken(x: Float[Tensor, "t h e"], places: Int[Tensor, "r n"]) -> Float[Tensor, "r h n e"]:
    """The places as padded rows, as attention wants them."""
    return x.index_select(0, places.flatten()).view(*places.shape, *x.shape[1:]).transpose(1, 2)


def row_groups(queries: Packed, keys: Packed) -> list[RowGroup]:
    """All rows with queries and keys, those of about one length together.

    >>> lengths = torch.tensor([2, 30, 0, 3])
    >>> [group.queries.shape for group in row_groups(*[Packed.of(lengths, 40, 64)] * 2)]
    [torch.Size([2, 3]), torch.Size([1, 30])]
    """
    asked, seen = queries.offsets.diff(), keys.offsets.diff()
    longer = torch.maximum(asked, seen)
    groups, least, most = [], 0, FINEST
    while least < int(longer.max()):
        rows = ((longer > least) & (longer <= most) & (asked > 0) & (seen > 0)).nonzero().squeeze(1)
        if len(rows):
            groups.append(RowGroup(*padded(queries, rows), *padded(keys, rows)))
        least, most = most, most * 3 // 2
    return groups


def padded(layout: Packed, rows: Int[Tensor, "r"]) -> tuple[Int[Tensor, "r n"], Bool[Tensor, "r n"]]:
    """Where the tokens of some rows lie, in rows as long as the longest; and which are real."""
    begins, lengths = layout.offsets[rows].long(), layout.offsets.diff()[rows]
    column = torch.arange(int(lengths.max()))
    real = column < lengths[:, None]
    return begins[:, None] + column * real, real


def grouped_attention(
    groups: list[RowGroup], q: Float[Tensor, "t h e"], k: Float[Tensor, "m h e"], v: Float[Tensor, "m h e"], *,
    causal: bool, dropout: float,
) -> Float[Tensor, "t h e"]:  # fmt: skip
    """Row by row ``softmax(q kᵀ / √e) v``; zero in places of no row."""
    if not groups:
        # Zero, but not cut off: processes that share the weights wait for each other's gradients, also for none.
        return 0 * (q + k.sum() + v.sum())
    places = torch.cat([group.queries[group.kept] for group in groups])
    parts = [group.attend(q, k, v, causal=causal, dropout=dropout) for group in groups]
    return torch.zeros_like(q).index_copy(0, places, torch.cat(parts))
