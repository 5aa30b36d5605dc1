"""Iterative refinement: how IT writes (Lee et al. 2018). Knows no text.

A length is chosen, the first decoder writes a translation from the spread source, and the second writes it anew
from the one before, until it comes back unchanged or the iterations are used up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from levt.policy.denoising import Stage, spread
from levt.refine.canvas import ParallelOptions, best_lengths, histories, inner, told
from levt.refine.decide import decide_fill
from levt.refine.loop import Outcome
from levt.refine.request import Tokens


@runtime_checkable
class DenoisingPolicy(Protocol):
    """A model that chooses lengths, first translations, and better ones; its memory keeps the source tokens."""

    def length(self, memory: Any) -> Float[Tensor, "b l"]:
        """The log π of every length."""
        ...

    def token(self, memory: Any, y: Int[Tensor, "b n"], stage: Stage) -> Float[Tensor, "b n v"]:
        """The log π of every token at every place."""
        ...


@dataclass(frozen=True, kw_only=True)
class DenoiseOptions(ParallelOptions):
    """Settings of one request to IT; the first translation counts as an iteration."""

    remove_repeats: bool = True
    """In the end, delete tokens that repeat their left neighbour, as the authors do."""


def repeats(tokens: Tokens) -> list[int]:
    """Where a token repeats its left neighbour.

    >>> repeats((7, 7, 8, 7, 7, 7))
    [1, 4, 5]
    """
    return [i for i, (left, token) in enumerate(pairwise(tokens), 1) if left == token]


@torch.inference_mode()
def denoise(
    model: DenoisingPolicy, memory: Any, limits: Sequence[int], options: DenoiseOptions
) -> list[Outcome]:
    """Write the target of every source of a memory; ``limits`` says how long each may be, boundaries counted."""
    lengths = best_lengths(model.length(memory), limits, 1)[0].squeeze(1)
    sizes = lengths.tolist()
    y = spread(memory.extra["source"].long(), lengths, max(sizes) + 2)
    places, logp = inner(lengths, y.shape[1]), torch.zeros(y.shape, device=y.device)
    written, canvases = [0] * len(sizes), []
    alive = torch.ones(len(sizes), dtype=torch.bool, device=y.device)
    going = [True] * len(sizes)
    for iteration in range(options.max_iterations):
        tokens, scores = decide_fill(model.token(memory, y, "refine" if iteration else "draft"))
        change = places & alive.unsqueeze(1)
        after = torch.where(change, tokens, y)
        logp = torch.where(change, scores, logp)
        canvases.append(after)
        written = [n + on for n, on in zip(written, going, strict=True)]
        if iteration:
            alive = alive & after.ne(y).any(1)
            going = alive.tolist()
            if not any(going):
                break
        y = after
    scores_of = [row[1 : size + 1] for row, size in zip(logp.tolist(), sizes, strict=True)]
    stopped = ["limit" if on else "unchanged" for on in going]
    states = histories(canvases, sizes, written)
    outcomes = [told(*parts) for parts in zip(states, scores_of, stopped, strict=True)]
    for outcome in outcomes:
        if options.remove_repeats and (at := repeats(outcome.tokens)):
            outcome.remove(at)
    return outcomes
