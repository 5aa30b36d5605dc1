"""What the requests of a batch ask for, as tensors that follow the rows. Knows no policy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from levt.edits.state import State
from levt.refine.request import Request, Tokens


@dataclass(frozen=True)
class Guidance:
    """The settings and the steering of every row."""

    state: State
    """The drafts, with their locks."""
    empty_gap_penalty: Float[Tensor, "b"]
    min_edit: Float[Tensor, "b"]
    max_count: Int[Tensor, "b"]
    limit: Int[Tensor, "b"]
    """Longest state of each row, boundaries counted."""
    banned: tuple[tuple[Tokens, ...], ...]
    """Sequences that must not stand in the result, row by row."""
    vocabulary: int
    """Size of the target vocabulary."""
    drop: Bool[Tensor, "b n"] | None
    """First iteration only: tokens of the draft that must go."""
    open: Int[Tensor, "b g"] | None
    """First iteration only: placeholders to open in each gap of the draft, -1 where nobody asked."""
    only: tuple[dict[int, Tokens], ...] = ()
    """First iteration only, row by row: what may be written into which gaps, and then stays; or nothing at all."""

    @classmethod
    def of(
        cls,
        requests: Sequence[Request],
        *,
        positions: int,
        vocabulary: int,
        device: torch.device | str = "cpu",
    ) -> "Guidance":
        """The guidance of a batch, for a policy with that many positions and target tokens."""
        state = State.of(
            [r.draft for r in requests], locked=[r.locked for r in requests], glued=[r.glued for r in requests],
            device=device,
        )  # fmt: skip
        drop = open_ = None
        if any(any(r.drop) for r in requests):
            drop = State.of([r.draft for r in requests], locked=[r.drop for r in requests]).locked.to(device)
        if any(r.open for r in requests):
            open_ = torch.full(state.gaps.shape, -1, dtype=torch.long)
            for i, request in enumerate(requests):
                for gap, count in request.open.items():
                    open_[i, gap] = count
            open_ = open_.to(device)
        each = [r.options for r in requests]
        limits = [
            r.options.limit(len(r.source) + 2, len(r.draft) + 2, positions) for r in requests
        ]  # boundaries counted
        return cls(
            state=state,
            empty_gap_penalty=torch.tensor([o.empty_gap_penalty for o in each], device=device),
            min_edit=torch.tensor([o.min_edit for o in each], device=device),
            max_count=torch.tensor([o.max_count for o in each], device=device),
            limit=torch.tensor(limits, device=device),
            banned=tuple(r.banned for r in requests),
            vocabulary=vocabulary,
            drop=drop,
            open=open_,
            only=tuple(r.only for r in requests) if any(r.only for r in requests) else (),
        )

    def select(self, rows: Int[Tensor, "r"]) -> "Guidance":
        """The guidance of some of the rows."""
        return replace(
            self,
            empty_gap_penalty=self.empty_gap_penalty[rows],
            min_edit=self.min_edit[rows],
            max_count=self.max_count[rows],
            limit=self.limit[rows],
            banned=tuple(self.banned[i] for i in rows.tolist()),
            drop=None if self.drop is None else self.drop[rows],
            open=None if self.open is None else self.open[rows],
            only=tuple(self.only[i] for i in rows.tolist()) if self.only else (),
        )

    def join(self, other: "Guidance", rows: int, others: int, width: int) -> "Guidance":
        """The guidance of these rows and then of some that begin now, whose states have ``width`` columns."""
        return replace(
            self,
            empty_gap_penalty=torch.cat([self.empty_gap_penalty, other.empty_gap_penalty]),
            min_edit=torch.cat([self.min_edit, other.min_edit]),
            max_count=torch.cat([self.max_count, other.max_count]),
            limit=torch.cat([self.limit, other.limit]),
            banned=self.banned + other.banned,
            drop=_joined(self.drop, other.drop, (rows, others), width, False),
            open=_joined(self.open, other.open, (rows, others), width - 1, -1),
            only=(self.only or ({},) * rows) + (other.only or ({},) * others)
            if self.only or other.only
            else (),
        )

    def after_first(self) -> "Guidance":
        """What still holds once the first iteration is done."""
        if self.drop is None and self.open is None:
            return self
        return replace(self, drop=None, open=None, only=())

    def forced_drop(self, state: State) -> Bool[Tensor, "b n"]:
        """Tokens that must go now: crossed out in the draft, or part of a banned sequence."""
        forced = torch.zeros_like(state.locked) if self.drop is None else self.drop
        if not any(self.banned):
            return forced
        forced = forced.clone()
        for i, (row, sequences) in enumerate(zip(state.rows(), self.banned, strict=True)):
            for at in occurrences(row, sequences):
                forced[i, at + 1] = True
        return forced

    def forced_counts(self, old: State, drop: Bool[Tensor, "b n"]) -> Int[Tensor, "b g"]:
        """Placeholders that were asked for, in the gaps of the state after deletion; -1 where nobody asked.

        A gap of the draft lies behind its left neighbour; when that is deleted, behind the last one kept.
        """
        none = torch.full_like(old.y[:, 1:], -1)
        if self.open is None:
            return none
        left = (~drop & old.real).cumsum(1)[:, :-1] - 1
        asked = torch.zeros_like(none).scatter_add(1, left, self.open.clamp(min=0))
        wanted = torch.zeros_like(none).scatter_add(1, left, self.open.ge(0).long())
        return torch.where(wanted > 0, asked, none)

    def banned_at(self, rows: Int[Tensor, "r"], where: Bool[Tensor, "r m"]) -> Bool[Tensor, "p v"] | None:
        """Tokens that no placeholder of these rows may get: those that are banned alone."""
        if not any(len(sequence) == 1 for row in self.banned for sequence in row):
            return None
        mask = torch.zeros(len(rows), self.vocabulary, dtype=torch.bool, device=where.device)
        for i, row in enumerate(rows.tolist()):
            mask[i, [sequence[0] for sequence in self.banned[row] if len(sequence) == 1]] = True
        return mask.repeat_interleave(where.sum(1), 0)


def _joined(
    first: Tensor | None, second: Tensor | None, rows: tuple[int, int], width: int, nothing: int
) -> Tensor | None:
    """Two blocks of marks below each other, where a missing one says nothing."""
    blocks = [
        None if block is None else pad(block, (0, width - block.shape[1]), value=nothing)
        for block in (first, second)
    ]
    some = next((block for block in blocks if block is not None), None)
    if some is None:
        return None
    return torch.cat(
        [
            some.new_full((count, width), nothing) if block is None else block
            for block, count in zip(blocks, rows, strict=True)
        ]
    )


def occurrences(tokens: Sequence[int], sequences: Sequence[Tokens]) -> list[int]:
    """Positions of all tokens that belong to an occurrence of one of the sequences.

    >>> occurrences([5, 6, 7, 5], [(6, 7), (9,)])
    [1, 2]
    """
    found: set[int] = set()
    for sequence in sequences:
        for i in range(len(tokens) - len(sequence) + 1):
            if tuple(tokens[i : i + len(sequence)]) == sequence:
                found.update(range(i, i + len(sequence)))
    return sorted(found)
