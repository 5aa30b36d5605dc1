"""What decoding into a canvas of a chosen length needs: lengths, canvases, and the story of rewritten tokens.

For the models that choose a length first and then only rewrite tokens in place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from levt.edits.script import EditScript
from levt.refine.loop import Outcome
from levt.refine.phases import Round
from levt.refine.ranges import MANY, RATIO, Range, check_numbers
from levt.refine.record import Rounds
from levt.refine.request import Request, Tokens
from levt.text.specials import BOS, EOS, PAD, PLH


@dataclass(frozen=True, kw_only=True)
class ParallelOptions:
    """Settings of one request that every model which writes all tokens at once has.

    >>> ParallelOptions(max_iterations=0)
    Traceback (most recent call last):
    levt.errors.ConfigError: options: max_iterations must be at least 1, got 0
    hint: max_iterations is 10 by default
    """

    max_iterations: int = 10
    """Passes through the decoder, at most."""
    max_ratio: float = 2.0
    """No output is longer than this many times the source (boundaries counted)."""
    min_room: int = 10
    """… but always as long as this, boundaries counted."""
    by_sentence: bool = False
    """Translate each sentence of a text by itself."""

    RANGES: ClassVar[dict[str, Range]] = {
        "max_iterations": Range(1, MANY),
        "max_ratio": RATIO,
        "min_room": Range(3, MANY),
    }

    def __post_init__(self) -> None:
        check_numbers("options", self, self.RANGES)

    def limit(self, source: int, positions: int) -> int:
        """Longest output, boundaries counted, of a source of that length."""
        return min(max(int(self.max_ratio * source), self.min_room), positions)


def best_lengths(
    logp: Float[Tensor, "b l"], limits: Sequence[int], count: int
) -> tuple[Int[Tensor, "b c"], Float[Tensor, "b c"]]:
    """The most probable lengths of each source and their log-probabilities; none is 0 or beyond its limit.

    Where a source may have fewer lengths than asked for, its best one stands in for the others.

    >>> best_lengths(torch.tensor([[0.5, 0.1, 0.3, 0.2, 0.4]]).log(), [5], 2)[0].tolist()
    [[2, 3]]
    """
    length = torch.arange(logp.shape[1], device=logp.device)
    most = (torch.tensor(limits, device=logp.device) - 2).clamp(1, logp.shape[1] - 1).unsqueeze(1)
    wrong = length.eq(0) | (length > most)
    scores = logp.float().nan_to_num(nan=float("-inf")).masked_fill(wrong, float("-inf"))
    values, found = scores.topk(min(count, logp.shape[1]), 1)
    # Where no length has a probability, topk may name any.
    best = found[:, :1].clamp(min=1).minimum(most)
    return torch.where(values.isfinite(), found, best), torch.where(values.isfinite(), values, values[:, :1])


def canvas(lengths: Int[Tensor, "b"]) -> Int[Tensor, "b n"]:
    """Rows of that many ``<plh>`` between boundaries.

    >>> canvas(torch.tensor([2, 1])).tolist()
    [[1, 4, 4, 2], [1, 4, 2, 0]]
    """
    column, end = torch.arange(int(lengths.max()) + 2, device=lengths.device), lengths.unsqueeze(1) + 1
    y = torch.where(column < end, PLH, PAD).masked_fill(column.eq(end), EOS)
    return y.masked_fill(column.eq(0), BOS)


def inner(lengths: Int[Tensor, "b"], width: int) -> Bool[Tensor, "b width"]:
    """True between the boundaries of rows of these lengths."""
    column = torch.arange(width, device=lengths.device)
    return (column > 0) & (column <= lengths.unsqueeze(1))


def histories(
    canvases: Sequence[Int[Tensor, "b n"]], sizes: Sequence[int], written: Sequence[int]
) -> list[list[Tokens]]:
    """The states of each row of given size, as often as it was written; read from the device at once."""
    every = torch.stack(list(canvases), 1).tolist()
    return [
        [tuple(state[1 : size + 1]) for state in row[:times]]
        for row, size, times in zip(every, sizes, written, strict=True)
    ]


def rewrite(before: Tokens, after: Tokens) -> EditScript:
    """The edits that put ``after`` in the place of ``before``, token by token; an empty canvas is opened.

    >>> rewrite((7, 8, 9), (7, 5, 9))
    EditScript(drop=(False, True, False), counts=(0, 1, 0), fill=(5,))
    """
    if not before:
        return EditScript(drop=(), counts=(len(after),), fill=after)
    drop = tuple(old != new for old, new in zip(before, after, strict=True))
    counts, fill = [0], []
    for token, gone in zip(after, drop, strict=True):
        if gone:
            counts[-1] += 1
            fill.append(token)
        else:
            counts.append(0)
    return EditScript(drop=drop, counts=tuple(counts), fill=tuple(fill))


def told(states: Sequence[Tokens], logp: Sequence[float], stopped: str) -> Outcome:
    """The outcome of rows that went through these states; ``logp`` are those of the last state's tokens."""
    rounds: list[Round] = []
    before: Tokens = ()
    for i, after in enumerate(states):
        last = i == len(states) - 1
        rounds.append(
            Round(
                rewrite(before, after),
                decided=sum(logp) if last else 0.0,
                decisions=len(logp) if last else 0,
            )
        )
        before = after
    return Outcome(
        Request(source=()),
        Rounds(rounds),
        before,
        iterations=len(states),
        passes=len(states),
        stopped=stopped,
    )
