"""Whole words that somebody asked for in a gap: which placeholders are theirs, and what may be written there.

A placeholder that is left to the model may get any piece. One that stands for a word of the person's gets a piece
that is a word, and neither one of those around the gap nor that just written. Knows no text and no policy.
"""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from levt.refine.decide import decide_fill
from levt.refine.request import Tokens
from levt.text.specials import PLH

Places = dict[tuple[int, int], Tokens]
"""Row and column of a placeholder → what may be written there."""


def places_of_words(
    only: Sequence[Mapping[int, Tokens]],
    asked: Int[Tensor, "b g"],
    drop: Bool[Tensor, "b n"],
    y: Int[Tensor, "b m"],
) -> Places:
    """The placeholders of ``y`` that were opened in the gaps of ``only``, as many as were ``asked`` for there.

    As for counts, a gap whose left neighbour was deleted, as ``drop`` says, lies behind the last token kept; where
    several have become one by that, their placeholders stand in the order of the gaps.

    >>> y, asked = torch.tensor([[1, 7, PLH, 8, PLH, PLH, 2]]), torch.tensor([[-1, 1, 2]])
    >>> places_of_words([{2: (5, 6)}], asked, torch.zeros(1, 4, dtype=torch.bool), y)
    {(0, 4): (5, 6), (0, 5): (5, 6)}
    """
    places: Places = {}
    for i, gaps in enumerate(only):
        if not gaps:
            continue
        gone = drop[i].tolist()
        waiting: dict[int, list[Tokens]] = {}
        for gap, count in enumerate(asked[i].tolist()):
            waiting.setdefault(gap - sum(gone[: gap + 1]), []).extend([gaps.get(gap, ())] * count)
        gap = -1
        for column, token in enumerate(y[i].tolist()):
            if token != PLH:
                gap += 1
            elif (here := waiting.get(gap)) and (tokens := here.pop(0)):
                places[i, column] = tokens
    return places


def chosen_words(
    scores: Float[Tensor, "p v"], banned: Bool[Tensor, "p v"] | None, y: Int[Tensor, "b m"], places: Places
) -> Bool[Tensor, "p v"]:
    """What may not be written into each placeholder of ``y``, so that each of ``places`` gets a word of its own."""
    banned = torch.zeros(scores.shape, dtype=torch.bool, device=scores.device) if banned is None else banned
    for p, (i, column) in enumerate(y.eq(PLH).nonzero().tolist()):
        if (i, column) not in places:
            continue
        usual = banned[p].clone()
        banned[p] = True
        banned[p, list(places[i, column])] = False
        banned[p] |= usual
        first, last = column, column
        while y[i, first - 1] == PLH:
            first -= 1
        while y[i, last + 1] == PLH:
            last += 1
        beside = [int(y[i, first - 1]), int(y[i, last + 1])]
        if first < column:
            beside.append(int(decide_fill(scores[p - 1], banned[p - 1])[0]))
        banned[p, beside] = True
    return banned
