"""Mask-predict: how MaskT writes (Ghazvininejad et al. 2019). Knows no text.

A length is chosen and all its places are masked. In iteration t = 0 … T−1 the masked tokens are predicted at
once; then the n = ⌊N·(T−t)/T⌋ tokens that were least probable when they were predicted are masked anew. A row
ends when nothing is left to mask. With a length beam of l, the l most probable lengths are written side by side
and the text with the highest mean log-probability is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from levt.refine.canvas import ParallelOptions, best_lengths, canvas, histories, inner, told
from levt.refine.decide import decide_fill
from levt.refine.loop import Outcome
from levt.refine.ranges import MANY, Range
from levt.text.specials import PLH


@runtime_checkable
class MaskedPolicy(Protocol):
    """A model that chooses lengths, and tokens for masks."""

    def length(self, memory: Any) -> Float[Tensor, "b l"]:
        """The log π of every length."""
        ...

    def token(self, memory: Any, y: Int[Tensor, "r n"]) -> Float[Tensor, "r n v"]:
        """The log π of every token at every place; with c rows per source, row r belongs to source r // c."""
        ...


@dataclass(frozen=True, kw_only=True)
class MaskPredictOptions(ParallelOptions):
    """Settings of one request to MaskT; ``max_iterations`` is T, and the masks follow from it."""

    length_beam: int = 5
    """How many lengths are tried side by side."""

    RANGES: ClassVar[dict[str, Range]] = {**ParallelOptions.RANGES, "length_beam": Range(1, MANY)}


def masks(lengths: Int[Tensor, "b"], t: int, total: int) -> Int[Tensor, "b"]:
    """The n = ⌊N·(T−t)/T⌋ masks of iteration t of T.

    >>> [int(masks(torch.tensor([12]), t, 4)) for t in range(4)]
    [12, 9, 6, 3]
    """
    return lengths * (total - t) // total


def worst(
    logp: Float[Tensor, "b n"], where: Bool[Tensor, "b n"], count: Int[Tensor, "b"]
) -> Bool[Tensor, "b n"]:
    """The ``count`` least probable places of each row among those asked for; of equals the left ones.

    >>> worst(torch.tensor([[0.0, -3, -1, -2, 0]]), torch.tensor([[False, True, True, True, False]]),
    ...       torch.tensor([2])).int().tolist()
    [[0, 1, 0, 1, 0]]
    """
    order = logp.masked_fill(~where, float("inf")).argsort(stable=True, dim=1)
    rank: Tensor = order.argsort(1)
    return (rank < count.unsqueeze(1)) & where


@torch.inference_mode()
def mask_predict(
    model: MaskedPolicy, memory: Any, limits: Sequence[int], options: MaskPredictOptions
) -> list[Outcome]:
    """Write the target of every source of a memory; ``limits`` says how long each may be, boundaries counted."""
    chosen, _ = best_lengths(model.length(memory), limits, options.length_beam)
    lengths, beam, total = chosen.flatten(), chosen.shape[1], options.max_iterations
    y = canvas(lengths)
    places = inner(lengths, y.shape[1])
    logp = torch.zeros(y.shape, device=y.device)
    sizes = lengths.tolist()
    # How often each row is written follows from its length: nothing in the loop waits for the device.
    written = [sum(size * (total - t) // total > 0 for t in range(total)) for size in sizes]
    canvases: list[Tensor] = []
    for t in range(max(written)):
        masked = worst(logp, places, masks(lengths, t, total))
        tokens, scores = decide_fill(model.token(memory, y.masked_fill(masked, PLH)))
        y = torch.where(masked, tokens, y)
        logp = torch.where(masked, scores.nan_to_num(nan=float("-inf")), logp)
        canvases.append(y)
    states = histories(canvases, sizes, written)
    of_tokens = [row[1 : size + 1] for row, size in zip(logp.tolist(), sizes, strict=True)]
    means = [sum(row) / len(row) for row in of_tokens]
    outcomes = []
    for first in range(0, len(sizes), beam):
        candidates = range(first, first + beam)
        # Candidates are in the order of their lengths' probabilities, and of equals max takes the first.
        best = max(candidates, key=means.__getitem__)
        outcome = told(states[best], of_tokens[best], "ended")
        outcome.passes = max(len(states[i]) for i in candidates)
        outcomes.append(outcome)
    return outcomes
