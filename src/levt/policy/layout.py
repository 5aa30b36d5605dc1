"""How a batch of sequences lies in a tensor: in padded rows, or one after another. Knows no network.

All pointwise parts of a network take tensors ``[... d]`` and do not care; only attention and positions ask
the layout. Neither kind reads a value back to the host, so both may be captured and exported.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int, Int32, Shaped
from torch import Tensor
from torch.nn.functional import pad

from levt.text.specials import PAD


@dataclass(frozen=True, eq=False)
class Padded:
    """Rows of equal width, tensors ``[b n d]``: the reference, and how decoding runs."""

    real: Bool[Tensor, "b n"]
    """False on padding. Where a network is causal, padding must be on the right."""
    restarted: Int[Tensor, "b n"] | None = None
    """Positions, where they do not simply count the columns."""

    @classmethod
    def of(cls, y: Int[Tensor, "b n"]) -> "Padded":
        """The layout of token rows padded with ``<pad>``."""
        return cls(y.ne(PAD))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.real.shape[0]

    @property
    def longest(self) -> int:
        """Width of a row."""
        return self.real.shape[1]

    @property
    def positions(self) -> Int[Tensor, "*n"]:
        """Place of each token in its sequence, from 0."""
        if self.restarted is not None:
            return self.restarted
        return torch.arange(self.longest, device=self.real.device)

    def clean(self, x: Shaped[Tensor, "..."]) -> Shaped[Tensor, "..."]:
        """Nothing to clean: every place of a padded tensor is always computed."""
        return x

    def select(self, rows: Int[Tensor, "r"]) -> "Padded":
        """The layout of some of the rows."""
        restarted = None if self.restarted is None else self.restarted.index_select(0, rows)
        return Padded(self.real.index_select(0, rows), restarted)

    def join(self, other: "Padded", width: int) -> "Padded":
        """These rows and then those of another batch, all of this width; what is cut off must be padding."""
        if self.restarted is not None or other.restarted is not None:
            raise TypeError("rows whose positions start again cannot be joined")
        real = [pad(part.real, (0, width - part.longest)) for part in (self, other)]
        return Padded(torch.cat(real))


@dataclass(frozen=True, eq=False)
class Packed:
    """Sequences one after another, tensors ``[t d]``: how training runs, because nothing is wasted.

    Rows may be empty and places may be left over at the end (the tail), so that one fixed ``t``, one fixed
    number of rows and one ``longest`` serve every batch and a compiled step is compiled once.
    """

    offsets: Int32[Tensor, "offsets"]
    """Where each row begins, and where the last one ends."""
    longest: int
    """No row is longer than this; a constant of the compiled step."""
    row: Int[Tensor, "t"]
    """Row of each place; b in the tail."""
    positions: Int[Tensor, "t"]
    """Place of each token in its sequence, from 0; 0 in the tail."""

    @classmethod
    def of(
        cls,
        lengths: Int[Tensor, "b"],
        total: int,
        longest: int,
    ) -> "Packed":
        """The layout of rows of these lengths in ``total`` places; on any device, without waiting for it.

        >>> layout = Packed.of(torch.tensor([2, 0, 3]), 6, 4)
        >>> layout.offsets.tolist(), layout.row.tolist(), layout.positions.tolist()
        ([0, 2, 2, 5], [0, 0, 2, 2, 2, 3], [0, 1, 0, 1, 2, 0])
        """
        ends = lengths.cumsum(0)
        place = torch.arange(total, device=lengths.device)
        # The row of a place is the number of rows that have ended before or at it.
        row = torch.searchsorted(ends, place, right=True)
        begins = torch.cat([ends.new_zeros(1), ends])
        tail = row.eq(lengths.shape[0])
        positions = (place - begins[row]).masked_fill(tail, 0)
        return cls(begins.to(torch.int32), longest, row, positions)

    @property
    def rows(self) -> int:
        """Number of rows, empty ones included."""
        return self.offsets.shape[0] - 1

    @property
    def real(self) -> Bool[Tensor, "t"]:
        """False in the tail."""
        return self.row.lt(self.rows)

    @property
    def last(self) -> Bool[Tensor, "t"]:
        """True on the last token of every row."""
        place = torch.arange(self.row.shape[0], device=self.row.device)
        return place + 1 == pad(self.offsets[1:], (0, 1), value=-1)[self.row]

    @property
    def slots(self) -> Int[Tensor, "t"]:
        """Place of each token in rows padded to ``longest``, flattened; the tail lies in a row of its own."""
        place = torch.arange(self.row.shape[0], device=self.row.device)
        column = (place - self.offsets[self.row]).masked_fill(~self.real, 0)
        return self.row * self.longest + column

    def spread(self, x: Shaped[Tensor, "t ..."]) -> Shaped[Tensor, "rows longest ..."]:
        """Flat places as padded rows, zero on padding, with one row more than there are: for the tail."""
        wide = x.new_zeros((self.rows + 1) * self.longest, *x.shape[1:]).index_copy(0, self.slots, x)
        return wide.view(self.rows + 1, self.longest, *x.shape[1:])

    def flatten(self, x: Shaped[Tensor, "rows longest ..."]) -> Shaped[Tensor, "t ..."]:
        """The way back from ``spread``."""
        return x.reshape(-1, *x.shape[2:]).index_select(0, self.slots)

    def clean(self, x: Shaped[Tensor, "t ..."]) -> Shaped[Tensor, "t ..."]:
        """Zero the tail, and cut the gradient there.

        The variable-length kernel leaves the tail of its results and gradients unwritten; whatever lies
        in that memory (it may be NaN) must reach no weight.
        """
        return torch.where(self.real.view(-1, *[1] * (x.dim() - 1)), x, x.new_zeros(()))

    def grouped(self, copies: int) -> "Packed":
        """Each ``copies`` neighbouring rows as one."""
        if copies == 1:
            return self
        # The kernel wants its offsets contiguous.
        offsets = self.offsets[::copies].contiguous()
        return Packed(offsets, copies * self.longest, self.row // copies, self.positions)


Layout = Padded | Packed
