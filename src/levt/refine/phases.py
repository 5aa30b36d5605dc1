"""The two halves of an iteration on a batch: delete, then insert and fill. Knows no stop and no history.

Where a policy sees a state alike for deletions and placeholders, rows in which nothing is deleted are looked at once
for both; only those that lost a token are looked at again.
"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from levt.edits.script import EditScript
from levt.edits.state import State, delete, fill, fit, insert
from levt.refine.bans import fill_without
from levt.refine.decide import count_logp, decide_counts, decide_drop
from levt.refine.guidance import Guidance
from levt.refine.words import Places, chosen_words, places_of_words


@runtime_checkable
class Memory(Protocol):
    """What a policy remembers of its sources, row by row."""

    def select(self, rows: Int[Tensor, "r"]) -> Any:
        """The memory of some of the rows."""


@runtime_checkable
class Joinable(Memory, Protocol):
    """A memory that others can be added to."""

    def join(self, other: Any, width: int) -> Any:
        """These rows and then those of another memory; no source is longer than ``width``."""


@runtime_checkable
class Policy(Protocol):
    """The three policies over padded states, as log-probabilities; for the first two, logits will do as well."""

    def delete(self, memory: Any, y: Int[Tensor, "b n"]) -> Float[Tensor, "b n 2"]:
        """Keep (0) or delete (1) each token."""

    def placeholder(self, memory: Any, y: Int[Tensor, "b n"]) -> Float[Tensor, "b g k"]:
        """How many placeholders to open in each gap."""

    def token(self, memory: Any, y: Int[Tensor, "b n"], where: Bool[Tensor, "b n"]) -> Float[Tensor, "p v"]:
        """Which token to write, at the places asked for, row by row."""


@runtime_checkable
class Looking(Policy, Protocol):
    """A policy that may answer two questions at one look."""

    @property
    def alike(self) -> bool:
        """Whether it can: deletions and placeholders see a state alike."""

    def look(
        self, memory: Any, y: Int[Tensor, "b n"]
    ) -> tuple[Float[Tensor, "b n 2"], Float[Tensor, "b g k"]]:
        """What ``delete`` and ``placeholder`` say of the same states."""


@dataclass(frozen=True)
class Deletion:
    """y' = 𝓔(y, d̂), and how it came about."""

    before: State
    after: State
    drop: Bool[Tensor, "b n"]
    logp: Float[Tensor, "b n"]
    own: Bool[Tensor, "b n"]
    """True where the model decided; False where it was forced."""
    seen: Float[Tensor, "b g k"] | None = None
    """What the placeholder policy says of the states before, where the same look told it."""

    def select(self, rows: Int[Tensor, "r"]) -> "Deletion":
        """Some of the rows."""
        return Deletion(
            self.before.select(rows),
            self.after.select(rows),
            self.drop[rows],
            self.logp[rows],
            self.own[rows],
            None if self.seen is None else self.seen[rows],
        )


@dataclass(frozen=True)
class Insertion:
    """y'' = 𝓔(y', p̂) and y = 𝓔(y'', t̂), and how they came about."""

    state: State
    counts: Int[Tensor, "b g"]
    counts_logp: Float[Tensor, "b g"]
    counts_own: Bool[Tensor, "b g"]
    placeholders: Bool[Tensor, "b m"]
    fill_logp: Float[Tensor, "b m"]


@dataclass(frozen=True)
class Round:
    """One iteration of one row: what was done, and how probable it was."""

    script: EditScript
    drop_logp: tuple[float, ...] = ()
    counts_logp: tuple[float, ...] = ()
    fill_logp: tuple[float, ...] = ()
    decided: float = 0.0
    """Sum of the log-probabilities of what the model decided itself."""
    decisions: int = 0
    """How many decisions those were; forced ones do not count."""


def delete_phase(policy: Policy, memory: Memory, state: State, guidance: Guidance) -> Deletion:
    """Delete tokens; a batch of empty states asks no policy."""
    forced, seen = guidance.forced_drop(state) & state.inner & ~state.locked, None
    if state.y.shape[1] > 2:
        if isinstance(policy, Looking) and policy.alike:
            scores, seen = policy.look(memory, state.y)
        else:
            scores = policy.delete(memory, state.y)
        drop, logp = decide_drop(scores, state, guidance.min_edit, forced)
    else:
        drop, logp = forced, torch.zeros(state.y.shape, device=state.y.device)
    own = state.inner & ~state.locked & ~forced
    return Deletion(state, delete(state, drop), drop, logp, own, seen)


def insert_phase(policy: Policy, memory: Memory, deletion: Deletion, guidance: Guidance) -> Insertion:
    """Open placeholders and fill them; rows without any skip the token policy."""
    after = deletion.after.narrow(int(deletion.after.lengths.max()))
    scores = _placeholder(policy, memory, deletion, after)
    counts, counts_logp = decide_counts(
        scores, after, guidance.empty_gap_penalty, guidance.min_edit, guidance.max_count
    )
    asked = guidance.forced_counts(deletion.before, deletion.drop)[:, : counts.shape[1]]
    counts = fit(after, torch.where(asked >= 0, asked, counts), guidance.limit)
    if guidance.open is not None:
        counts_logp = torch.where(asked >= 0, count_logp(scores, counts), counts_logp)

    wide = insert(after, counts, int((after.lengths + counts.sum(1)).max()))
    holes = wide.placeholders
    tokens, fill_logp = wide.y, torch.zeros(wide.y.shape, device=wide.y.device)
    rows = holes.any(1).nonzero().squeeze(1)
    words: Places = {}
    if guidance.only and guidance.open is not None:
        words = places_of_words(guidance.only, guidance.open, deletion.drop, wide.y)
    if len(rows):
        logits = policy.token(memory.select(rows), wide.y[rows], holes[rows])
        banned = guidance.banned_at(rows, holes[rows])
        if words:
            banned = chosen_words(logits, banned, wide.y, words)
        chosen, logp = fill_without(logits, banned, wide.y[rows], [guidance.banned[i] for i in rows.tolist()])
        tokens, fill_logp = tokens.masked_scatter(holes, chosen), fill_logp.masked_scatter(holes, logp)
    state = fill(wide, tokens)
    for i, column in words:
        state.locked[i, column] = True
    return Insertion(state, counts, counts_logp, after.gaps & (asked < 0), holes, fill_logp)


def _placeholder(policy: Policy, memory: Memory, deletion: Deletion, after: State) -> Float[Tensor, "b g k"]:
    """Scores of placeholders; of what has been seen already, only rows that lost a token are asked about."""
    if deletion.seen is None:
        return policy.placeholder(memory, after.y)
    scores = deletion.seen[:, : after.y.shape[1] - 1]
    rows = deletion.drop.any(1).nonzero().squeeze(1)
    if len(rows):
        lost = after.select(rows)
        lost, scores = lost.narrow(int(lost.lengths.max())), scores.clone()
        scores[rows, : lost.y.shape[1] - 1] = policy.placeholder(memory.select(rows), lost.y)
    return scores
