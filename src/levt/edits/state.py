"""State y and the three edits that change it: delete, insert, fill. Pure, batched, on any device.

A state is padded on the right: ``<s> tokens </s> <pad> …``. No function here reads a value back to the
host, so none waits for a GPU; where the width of a result depends on values, the caller says the width.
The edits are the environment 𝓔 of the paper: 𝓔(y, d), 𝓔(y', p), 𝓔(y'', t).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.functional import pad

from levt.text.specials import BOS, EOS, PAD, PLH


@dataclass(frozen=True)
class State:
    """A batch of sequences, each between its boundaries, with the tokens that no policy may delete."""

    y: Int[Tensor, "b n"]
    """Token ids."""
    locked: Bool[Tensor, "b n"]
    """True where a token must survive; boundaries always do, locked or not."""
    glued: Bool[Tensor, "b n"]
    """True where nothing may be inserted between a token and its left neighbour."""

    @classmethod
    def of(
        cls,
        rows: Sequence[Sequence[int]],
        *,
        locked: Sequence[Sequence[bool]] | None = None,
        glued: Sequence[Sequence[bool]] | None = None,
        width: int | None = None,
        device: torch.device | str = "cpu",
    ) -> "State":
        """Build a state from rows of tokens without boundaries (an empty row is the empty canvas)."""
        lengths = torch.tensor([len(row) for row in rows], dtype=torch.long).unsqueeze(1)
        n = int(lengths.max()) + 2 if width is None and len(rows) else width or 2
        y = torch.full((len(rows), n), PAD, dtype=torch.long)
        marks = torch.zeros((2, len(rows), n), dtype=torch.bool)
        # All rows at once: a tensor for each would cost more than an iteration on a GPU.
        column = torch.arange(n)
        inside = (column > 0) & (column <= lengths)
        y[inside] = torch.tensor([token for row in rows for token in row], dtype=torch.long)
        y[:, 0] = BOS
        y.scatter_(1, lengths + 1, EOS)
        for mark, given in zip(marks, (locked, glued), strict=True):
            if given is not None and any(map(any, given)):
                mark[inside] = torch.tensor([flag for row in given for flag in row], dtype=torch.bool)
        return cls(y.to(device), *marks.to(device))

    @property
    def real(self) -> Bool[Tensor, "b n"]:
        """True where there is a token or a boundary, False on padding."""
        return self.y.ne(PAD)

    @property
    def lengths(self) -> Int[Tensor, "b"]:
        """Number of tokens of each row, boundaries included."""
        return self.real.sum(1)

    @property
    def inner(self) -> Bool[Tensor, "b n"]:
        """True on the tokens between the boundaries: those that deletion decides about."""
        return self.real & self.y.ne(BOS) & self.y.ne(EOS)

    @property
    def gaps(self) -> Bool[Tensor, "b g"]:
        """True where a gap lies between two real neighbours that are not glued together."""
        return self.real[:, 1:] & ~self.glued[:, 1:]

    @property
    def placeholders(self) -> Bool[Tensor, "b n"]:
        """True where there is a ``<plh>`` to be filled."""
        return self.y.eq(PLH)

    def select(self, rows: Int[Tensor, "r"]) -> "State":
        """Some of the rows."""
        return State(*(part.index_select(0, rows) for part in (self.y, self.locked, self.glued)))

    def narrow(self, width: int) -> "State":
        """The first ``width`` columns; the others must hold padding alone."""
        return State(self.y[:, :width], self.locked[:, :width], self.glued[:, :width])

    def widen(self, width: int) -> "State":
        """The same rows with padding up to ``width`` columns.

        >>> State.of([[7]]).widen(5).y.tolist()
        [[1, 7, 2, 0, 0]]
        """
        more = (0, width - self.y.shape[1])
        return State(*(pad(part, more, value=PAD) for part in (self.y, self.locked, self.glued)))

    def join(self, other: "State", width: int) -> "State":
        """These rows and then those of another batch, in ``width`` columns."""
        pairs = zip(self.widen(width).parts, other.widen(width).parts, strict=True)
        return State(*(torch.cat(pair) for pair in pairs))

    @property
    def parts(self) -> tuple[Tensor, Tensor, Tensor]:
        """Tokens, locks and glue."""
        return self.y, self.locked, self.glued

    def rows(self) -> list[list[int]]:
        """The tokens of each row without boundaries and padding (waits for the device)."""
        return [[t for t in row if t not in (PAD, BOS, EOS)] for row in self.y.tolist()]


def delete(state: State, drop: Bool[Tensor, "b n"]) -> State:
    """𝓔(y, d): remove the tokens where ``drop`` is True; boundaries and locked tokens always stay.

    >>> state = State.of([[7, 8, 9]])
    >>> delete(state, torch.tensor([[True, False, True, False, True]])).y.tolist()
    [[1, 7, 9, 2, 0]]
    """
    keep = state.real & ~(drop & state.inner & ~state.locked)
    # Each kept token moves left by the number of removed ones before it; the rest land in a spare column.
    b, n = state.y.shape
    to = torch.where(keep, keep.cumsum(1) - 1, n)
    y = state.y.new_full((b, n + 1), PAD)
    return State(y.scatter(1, to, state.y)[:, :n], *_moved(state, to, n))


def _moved(state: State, to: Int[Tensor, "b n"], width: int) -> tuple[Tensor, Tensor]:
    """The marks of each token at the token's new column; those sent to column ``width`` are lost."""
    nothing = state.locked.new_zeros((state.y.shape[0], width + 1))
    return (
        nothing.scatter(1, to, state.locked)[:, :width],
        nothing.scatter(1, to, state.glued)[:, :width],
    )


def fit(state: State, counts: Int[Tensor, "b g"], width: int | Int[Tensor, "b"]) -> Int[Tensor, "b g"]:
    """The counts that can really be opened: none outside the sentence, and no more than ``width`` holds.

    Where the sum would exceed the width (one for all rows, or one each), gaps are served from the left.

    >>> fit(State.of([[7]]), torch.tensor([[2, 3]]), 6).tolist()
    [[2, 1]]
    """
    counts = counts.clamp(min=0) * state.gaps
    room = (width - state.lengths).clamp(min=0).unsqueeze(1)
    served = counts.cumsum(1).minimum(room)
    return torch.diff(served, dim=1, prepend=served.new_zeros(served.shape[0], 1))


def insert(state: State, counts: Int[Tensor, "b g"], width: int) -> State:
    """𝓔(y', p): open ``counts[i]`` placeholders in gap i; the result has ``width`` columns.

    Counts that do not fit are cut as ``fit`` says. ``width`` must hold every row as it is.

    >>> insert(State.of([[7, 8]]), torch.tensor([[0, 2, 0]]), 6).y.tolist()
    [[1, 7, 4, 4, 8, 2]]
    """
    b, n = state.y.shape
    counts = fit(state, counts, width)
    shift = torch.cat([counts.new_zeros(b, 1), counts.cumsum(1)], 1)
    to = torch.where(state.real, torch.arange(n, device=counts.device) + shift, width)
    column = torch.arange(width, device=counts.device)
    total = state.lengths + shift[:, -1]
    canvas = torch.where(column < total.unsqueeze(1), PLH, PAD)
    spare = canvas.new_full((b, 1), PAD)
    y = torch.cat([canvas, spare], 1).to(state.y.dtype).scatter(1, to, state.y)[:, :width]
    return State(y, *_moved(state, to, width))


def fill(state: State, tokens: Int[Tensor, "b n"]) -> State:
    """𝓔(y'', t): put ``tokens`` where the placeholders are; every other position is left as it is.

    >>> state = insert(State.of([[7]]), torch.tensor([[1, 0]]), 4)
    >>> fill(state, torch.tensor([[99, 5, 99, 99]])).y.tolist()
    [[1, 5, 7, 2]]
    """
    return replace(state, y=torch.where(state.placeholders, tokens, state.y))
