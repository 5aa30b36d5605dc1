"""An LSTM over the rows of any layout. Knows no network around it.

Rows of a packed batch have all lengths, so padded to the longest they would be mostly padding (one token in twenty,
for short texts). Torch's own packed sequences hold what is real, place by place, longest row first; to sort the rows
the host must know their lengths, for which it waits. A step that is being captured cannot wait, and runs padded.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import pad
from torch.nn.utils.rnn import PackedSequence

from levt.policy.layout import Layout, Packed, Padded

Begin = tuple[Float[Tensor, "1 r d"], Float[Tensor, "1 r d"]]
"""What the LSTM remembers of each row, and its cell."""


def over_rows(
    lstm: nn.LSTM, x: Float[Tensor, "*n e"], layout: Layout, begin: Begin | None = None
) -> Float[Tensor, "*n d"]:
    """The state of every place after it was read, each row from the left; zero in the tail."""
    found: Tensor
    if isinstance(layout, Padded):
        found = lstm(x, begin)[0]
        return found
    if is_captured(x):
        wide = None if begin is None else tuple(pad(one, (0, 0, 0, 1)) for one in begin)
        return layout.clean(layout.flatten(lstm(layout.spread(x), wide)[0]))
    order, index, sizes = by_column(layout)
    if not len(index):
        # Zero, but not cut off: processes that share the weights wait for each other's gradients, also for none.
        untouched = torch.stack([part.sum() for part in (x, *(begin or ()), *lstm.parameters())]).sum()
        return x.new_zeros(x.shape[0], lstm.hidden_size) + 0 * untouched
    index = index.to(x.device)
    if begin is not None:
        rows = order[: int(sizes[0])].to(x.device)
        begin = begin[0].index_select(1, rows), begin[1].index_select(1, rows)
    found = lstm(PackedSequence(x.index_select(0, index), sizes), begin)[0].data
    return found.new_zeros(x.shape[0], found.shape[1]).index_copy(0, index, found)


def is_captured(x: Tensor) -> bool:
    """Whether what is done with it now is being captured."""
    return x.is_cuda and torch.cuda.is_current_stream_capturing()


def by_column(layout: Packed) -> tuple[Int[Tensor, "b"], Int[Tensor, "t"], Int[Tensor, "columns"]]:
    """The rows by length, the longest first; the places column by column in that order; how many each column has.

    >>> order, index, sizes = by_column(Packed.of(torch.tensor([1, 3, 0, 2]), 7, 5))
    >>> order.tolist(), index.tolist(), sizes.tolist()
    ([1, 3, 0, 2], [1, 4, 0, 2, 5, 3], [3, 2, 1])
    """
    offsets = layout.offsets.long().cpu()
    lengths = offsets.diff()
    order = lengths.argsort(descending=True, stable=True)
    column = torch.arange(int(lengths.max()) if len(lengths) else 0)
    there = column[:, None] < lengths[order]
    places = offsets[:-1][order] + column[:, None]
    return order, places[there], there.sum(1)


def mirrored(x: Float[Tensor, "*n e"], layout: Layout) -> Float[Tensor, "*n e"]:
    """Every row in reverse, within its own length: what is behind it stays there, so padding is never read."""
    if isinstance(layout, Padded):
        column = torch.arange(layout.longest, device=x.device)
        last = layout.real.sum(1, keepdim=True) - 1
        return x.gather(1, torch.where(layout.real, last - column, column)[..., None].expand_as(x))
    place = torch.arange(x.shape[0], device=x.device)
    row = layout.row.clamp(max=layout.rows - 1)
    turned = layout.offsets[row] + layout.offsets[row + 1] - 1 - place
    return x.index_select(0, torch.where(layout.real, turned, place))


def last_of(x: Float[Tensor, "*n d"], layout: Layout) -> Float[Tensor, "b d"]:
    """What is at the last place of every row; of an empty one, anything."""
    if isinstance(layout, Padded):
        last = layout.real.sum(1).sub(1).clamp(min=0)
        return x[torch.arange(layout.rows, device=x.device), last]
    return x.index_select(0, layout.offsets[1:].sub(1).clamp(min=0))
