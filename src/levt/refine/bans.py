"""Sequences that must not be written: which placeholder gives way where all together would complete one. No policy.

All placeholders are filled at once, so a sequence may come together from several of them, and from tokens that stand
there already. A token that is banned alone is never written. Of a longer sequence each token may be, only not all of
them in a row: the last placeholder of them gets the next best token.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from levt.refine.decide import decide_fill
from levt.refine.request import Tokens
from levt.text.specials import PLH


def fill_without(
    scores: Float[Tensor, "p v"],
    banned: Bool[Tensor, "p v"] | None,
    y: Int[Tensor, "r m"],
    sequences: Sequence[Sequence[Tokens]],
) -> tuple[Int[Tensor, "p"], Float[Tensor, "p"]]:
    """The tokens of the placeholders of ``y``, the most probable that complete none of the sequences of their row.

    ``banned`` is what none may get. A sequence stays where no placeholder of it can get anything else.
    """
    chosen, logp = decide_fill(scores, banned)
    if not any(len(sequence) > 1 for row in sequences for sequence in row):
        return chosen, logp
    chosen, logp, holes = chosen.clone(), logp.clone(), y.eq(PLH)
    first = [0, *holes.sum(1).cumsum(0).tolist()]
    for i, (row, must_not) in enumerate(
        zip(y.masked_scatter(holes, chosen).tolist(), sequences, strict=True)
    ):
        if not must_not:
            continue
        place = {column: first[i] + k for k, column in enumerate(holes[i].nonzero().squeeze(1).tolist())}
        gone: dict[int, list[int]] = {column: [] for column in place}
        while (way_out := _way_out(row, must_not, place, gone, scores, banned)) is not None:
            column, token = way_out
            gone[column].append(row[column])
            row[column] = token
            chosen[place[column]], logp[place[column]] = token, scores[place[column], token].float()
    return chosen, logp


def _way_out(
    row: Sequence[int],
    sequences: Sequence[Tokens],
    place: dict[int, int],
    gone: dict[int, list[int]],
    scores: Float[Tensor, "p v"],
    banned: Bool[Tensor, "p v"] | None,
) -> tuple[int, int] | None:
    """The column of a placeholder that would complete a sequence, and what it gets instead; None where none does."""
    for sequence in sequences:
        for start in range(len(row) - len(sequence) + 1):
            if tuple(row[start : start + len(sequence)]) != sequence:
                continue
            for column in reversed(range(start, start + len(sequence))):
                if column not in place:
                    continue
                p = place[column]
                no = torch.zeros_like(scores[p], dtype=torch.bool) if banned is None else banned[p].clone()
                no[[*gone[column], row[column]]] = True
                token = int(decide_fill(scores[p], no)[0])
                if not no[token]:
                    return column, token
    return None
