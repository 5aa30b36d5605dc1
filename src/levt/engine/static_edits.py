"""The decisions and edits of one iteration at a fixed width: three steps, nothing read back to the host.

Plain torch here, the same functions as the reference loop uses; on CUDA ``edit_kernels`` does each step in one
or two launches. What a step leaves is written into the tensors of a ``Frame``, so that it can be captured.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from levt.edits.state import State, delete, fill, fit, insert
from levt.policy.scores import log_softmax_tokens
from levt.refine.decide import decide_counts, decide_drop, decide_fill
from levt.text.specials import PLH


@dataclass(frozen=True)
class Controls:
    """The dials of each row."""

    empty_gap_penalty: Float[Tensor, "b"]
    min_edit: Float[Tensor, "b"]
    max_count: Int[Tensor, "b"]
    limit: Int[Tensor, "b"]

    @classmethod
    def empty(cls, b: int, device: torch.device | str) -> "Controls":
        """Dials that stand still: a row of padding stays as it is."""
        zeros, ones = torch.zeros(b, device=device), torch.ones(b, dtype=torch.long, device=device)
        return cls(zeros, zeros.clone(), ones, ones.clone())

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """All dials."""
        return self.empty_gap_penalty, self.min_edit, self.max_count, self.limit


class Frame:
    """States of a fixed width, what the last iteration did to them, and what the host wants to know.

    All numbers lie in two blocks, so that the host reads an iteration in two copies.
    """

    def __init__(
        self, ints: Int[Tensor, "6 b n"], floats: Float[Tensor, "4 b n"], marks: Bool[Tensor, "2 b n"]
    ) -> None:
        self.ints, self.floats, self.marks = ints[:5], floats[:3], marks
        self.y, self.after, self.drop, self.counts, lengths = self.ints.unbind(0)
        """The state; the state after deletion; 1 where a token was deleted; placeholders behind each token."""
        self.length = lengths.view(-1)[: self.y.shape[0]]
        """Tokens after insertion if there were no end of the row: above n says that the row is too narrow."""
        self.drop_logp, self.counts_logp, self.fill_logp = self.floats.unbind(0)
        self.locked, self.glued = marks.unbind(0)
        self.filled, self.filled_logp = ints[5], floats[3]
        """The last state that was filled, for a host that looks only when it has been edited again."""

    @classmethod
    def empty(cls, b: int, n: int, device: torch.device | str) -> "Frame":
        """Nothing but padding."""
        return cls(
            torch.zeros(6, b, n, dtype=torch.long, device=device),
            torch.zeros(4, b, n, device=device),
            torch.zeros(2, b, n, dtype=torch.bool, device=device),
        )

    @property
    def state(self) -> State:
        """The state as the edits know it."""
        return State(self.y, self.locked, self.glued)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Whatever is done meanwhile, everything is afterwards as it was."""
        parts = (self.ints, self.floats, self.marks)
        copies = [part.clone() for part in parts]
        try:
            yield
        finally:
            for part, copy in zip(parts, copies, strict=True):
                part.copy_(copy)

    def keep_filled(self) -> None:
        """Keep the state that has just been filled."""
        self.filled.copy_(self.y)
        self.filled_logp.copy_(self.fill_logp)


def delete_step(frame: Frame, logits: Float[Tensor, "b n 2"], controls: Controls) -> None:
    """Delete: y' = 𝓔(y, d̂)."""
    state = frame.state
    drop, logp = decide_drop(logits, state, controls.min_edit)
    after = delete(state, drop)
    frame.drop.copy_(drop)
    frame.drop_logp.copy_(logp)
    frame.y.copy_(after.y)
    frame.locked.copy_(after.locked)
    frame.glued.copy_(after.glued)
    frame.after.copy_(after.y)


def keep_step(frame: Frame) -> None:
    """The deletion that an empty canvas skips."""
    frame.drop.zero_()
    frame.drop_logp.zero_()
    frame.after.copy_(frame.y)


def insert_step(frame: Frame, logits: Float[Tensor, "b g k"], controls: Controls) -> None:
    """Insert: y'' = 𝓔(y', p̂); a row that does not fit keeps what fits, and says so by its length."""
    state, n = frame.state, frame.y.shape[1]
    wanted, logp = decide_counts(
        logits, state, controls.empty_gap_penalty, controls.min_edit, controls.max_count
    )
    wanted = fit(state, wanted, controls.limit)
    frame.length.copy_(state.lengths + wanted.sum(1))
    counts = fit(state, wanted, n)
    after = insert(state, counts, n)
    frame.counts[:, -1] = 0
    frame.counts[:, :-1].copy_(counts)
    frame.counts_logp[:, :-1].copy_(logp)
    frame.y.copy_(after.y)
    frame.locked.copy_(after.locked)
    frame.glued.copy_(after.glued)


def fill_step(frame: Frame, logits: Float[Tensor, "b n v"]) -> None:
    """Fill: y = 𝓔(y'', t̂)."""
    state = frame.state
    tokens, logp = decide_fill(log_softmax_tokens(logits))
    frame.fill_logp.copy_(torch.where(state.placeholders, logp, 0))
    frame.y.copy_(fill(state, tokens).y)


def holes(y: Int[Tensor, "b n"], most: int) -> Int[Tensor, "most"]:
    """Where the placeholders are in the flattened state, row by row; -1 behind the last of them.

    >>> holes(torch.tensor([[1, 4, 2], [4, 4, 0]]), 4).tolist()
    [1, 3, 4, -1]
    """
    hole = y.flatten().eq(PLH)
    # Every place that is no placeholder, or one too many, goes to a spare slot.
    to = torch.where(hole, hole.cumsum(0) - 1, most).clamp(max=most)
    found = torch.full((most + 1,), -1, dtype=torch.long, device=y.device)
    return found.scatter(0, to, torch.arange(hole.shape[0], device=y.device))[:most]


def fill_places(frame: Frame, logits: Float[Tensor, "p v"], places: Int[Tensor, "p"]) -> None:
    """Fill at some places of the flattened state alone; -1 is no place."""
    tokens, logp = decide_fill(log_softmax_tokens(logits))
    size = frame.y.numel()
    to = torch.where(places.lt(0), size, places)
    y = torch.cat([frame.y.flatten(), to.new_zeros(1)]).scatter(0, to, tokens)
    found = logp.new_zeros(size + 1).scatter(0, to, logp)
    frame.y.copy_(y[:size].view_as(frame.y))
    frame.fill_logp.copy_(found[:size].view_as(frame.fill_logp))
