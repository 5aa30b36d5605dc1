"""Rows of tokens in the packed layout that networks learn from."""

from collections.abc import Sequence

import torch
from torch import Tensor

from levt.policy.layout import Packed
from levt.text.specials import PAD


def packed_rows(
    rows: Sequence[Sequence[int]],
    *,
    total: int,
    count: int | None = None,
    longest: int | None = None,
    device: torch.device | str = "cpu",
) -> tuple[Tensor, Packed]:
    """Rows as they are, with boundaries: the flat tokens, padded to ``total``, and the layout of ``count`` rows."""
    lengths = [len(row) for row in rows]
    lengths += [0] * ((len(rows) if count is None else count) - len(rows))
    flat = torch.full((total,), PAD, dtype=torch.long)
    flat[: sum(lengths)] = torch.tensor([t for row in rows for t in row], dtype=torch.long)
    longest = max(lengths, default=0) if longest is None else longest
    layout = Packed.of(torch.tensor(lengths, dtype=torch.long, device=device), total, longest)
    return flat.to(device), layout
