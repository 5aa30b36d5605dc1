"""The decisions and edits of one iteration at a fixed width: three steps, nothing read back to the host.

Plain torch here, the same functions as the reference loop uses; on CUDA ``edit_kernels`` does each step in one
or two launches. What a step leaves is written into the tensors of a ``Frame``, so that it can be captured.
"""

from dataclasses import dataclass, fields

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from levt.edits.state import State, delete, fill, fit, insert
from levt.policy.scores import log_softmax_tokens
from levt.refine.decide import decide_counts, decide_drop, decide_fill
from levt.text.specials import PAD


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

    def copy_(self, other: "Controls") -> None:
        """Take over other values."""
        for one in fields(self):
            getattr(self, one.name).copy_(getattr(other, one.name), non_blocking=True)


@dataclass(frozen=True)
class Frame:
    """A state of fixed width, what the last iteration did to it, and what the host wants to know."""

    y: Int[Tensor, "b n"]
    locked: Bool[Tensor, "b n"]
    glued: Bool[Tensor, "b n"]
    drop: Bool[Tensor, "b n"]
    drop_logp: Float[Tensor, "b n"]
    counts: Int[Tensor, "b n"]
    """One column more than there are gaps, so that all arrays have one width; the last is 0."""
    counts_logp: Float[Tensor, "b n"]
    fill_logp: Float[Tensor, "b n"]
    after: Int[Tensor, "b n"]
    """The state after deletion."""
    length: Int[Tensor, "b"]
    """Tokens after insertion if there were no end of the row: above n says that the row is too narrow."""

    @classmethod
    def empty(cls, b: int, n: int, device: torch.device | str) -> "Frame":
        """Rows of padding."""

        def made(dtype: torch.dtype, fill_value: int = 0) -> Tensor:
            return torch.full((b, n), fill_value, dtype=dtype, device=device)

        return cls(
            y=made(torch.long, PAD), locked=made(torch.bool), glued=made(torch.bool), drop=made(torch.bool),
            drop_logp=made(torch.float32), counts=made(torch.long), counts_logp=made(torch.float32),
            fill_logp=made(torch.float32), after=made(torch.long, PAD),
            length=torch.zeros(b, dtype=torch.long, device=device),
        )  # fmt: skip

    @property
    def state(self) -> State:
        """The state as the edits know it."""
        return State(self.y, self.locked, self.glued)

    def put(self, state: State) -> None:
        """Take over a state of at most this width, the rest being padding."""
        n = state.y.shape[1]
        for mine, theirs, rest in (
            (self.y, state.y, PAD),
            (self.locked, state.locked, 0),
            (self.glued, state.glued, 0),
        ):
            mine[:, n:] = rest
            mine[:, :n].copy_(theirs, non_blocking=True)


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
