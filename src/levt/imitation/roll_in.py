"""Roll-in: the states from which the policies learn (Algorithm 1). On the host, before the step.

Both insertion states of Eq. (7), the draft after oracle deletion and the target after random deletion, are
the target with some tokens taken out. So a roll-in for insertion is a mask over the target: what is kept is
y_ins, the rest are the placeholders of y_ins′ and the tokens to learn. The deletion state of Eq. (6) is the
draft, or y_ins′ as the model itself fills it during the step.
"""

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Int64

from levt.edits.oracle import align
from levt.errors import FLAGS, ConfigError, raise_all, wrong_choices
from levt.imitation.drafts import Drafts
from levt.imitation.ragged import Ragged


@dataclass(frozen=True, kw_only=True)
class RollIn:
    """Which states are visited, and how often."""

    alpha: float = 0.5
    """α: share of deletion states that are the draft; a row without a draft uses the model's insertion."""
    beta: float = 0.5
    """β: share of insertion states that are the draft after oracle deletion, of rows that have a draft."""
    empty: float = 0.0
    """Share of empty canvases among random deletions: β of a row without a draft."""
    complete: float = 0.0
    """Share of complete sentences among random deletions, on top of those that chance leaves complete."""
    fill: Literal["sample", "argmax"] = "sample"
    """How the model fills its own deletion state: by sampling (Eq. 6) or by argmax (Algorithm 1)."""
    deletion: Literal["model", "noise"] = "model"
    """Deletion states that are not drafts: filled by the model, or corrupted targets (the ablation DAE)."""
    noise: float = 0.15
    """Share of tokens that corruption replaces, repeats or swaps."""
    drafts: Drafts = field(default_factory=Drafts)
    """Drafts made up on the way, beside those that the corpus has."""

    def __post_init__(self) -> None:
        problems = wrong_choices(self)
        problems += [
            f"{name} must be between 0 and 1, got {getattr(self, name)}"
            for name in ("alpha", "beta", "empty", "complete", "noise")
            if not 0 <= getattr(self, name) <= 1
        ]
        if self.empty + self.complete > 1:
            problems.append(f"empty + complete must be at most 1, got {self.empty + self.complete}")
        raise_all(ConfigError, "roll-in", problems, hint=FLAGS)

    def share_deleted(self) -> float:
        """Expected share of target tokens that become placeholders, for rows without a draft."""
        return self.empty + (1 - self.empty - self.complete) / 2

    def spread_deleted(self) -> float:
        """Standard deviation of that share in one row."""
        of_squares = self.empty + (1 - self.empty - self.complete) / 3
        return math.sqrt(max(of_squares - self.share_deleted() ** 2, 0.0))


def random_deletion(target: Ragged, config: RollIn, draw: np.random.Generator) -> Bool[np.ndarray, "t"]:
    """π_RND: which target tokens (with boundaries) stay.

    Each row draws a rate from [0, 1] and keeps each token with it, so the number kept is uniform on 0 … n,
    both ends included: the empty canvas and the complete sentence occur, as they do in decoding.
    """
    b = len(target.lengths)
    rate, kind = draw.random(b), draw.random(b)
    rate[kind < config.empty] = -1.0
    rate[kind >= 1 - config.complete] = 2.0
    kept: np.ndarray = draw.random(len(target.flat)) < rate[target.row]
    kept[~target.inner] = True
    return kept


def draft_deletion(
    target: Ragged, draft: Ragged, rows: Int64[np.ndarray, "r"], kept: Bool[np.ndarray, "t"]
) -> None:
    """𝓔(y⁰, d*) for some rows, written into ``kept``: the target tokens that the oracle finds in the draft."""
    if not len(rows):
        return
    part = np.isin(draft.row, rows)
    y = Ragged(draft.flat[part], draft.lengths[rows]).padded()
    wanted = Ragged(target.flat[np.isin(target.row, rows)], target.lengths[rows]).padded()
    match = align(torch.from_numpy(y), torch.from_numpy(wanted)).numpy()
    kept[np.isin(target.row, rows)] = False
    where = match >= 0
    kept[(target.begins[rows][:, None] + match)[where]] = True


def hold_to(
    kept: Bool[np.ndarray, "t"], inner: Bool[np.ndarray, "t"], low: int, high: int, draw: np.random.Generator
) -> None:
    """Change as few choices as needed, at random, so that between ``low`` and ``high`` inner tokens are deleted."""
    deleted = np.flatnonzero(~kept)
    if len(deleted) > high:
        kept[draw.choice(deleted, len(deleted) - high, replace=False)] = True
    elif len(deleted) < low:
        stays = np.flatnonzero(kept & inner)
        missing = min(low - len(deleted), len(stays))
        kept[draw.choice(stays, missing, replace=False)] = False


def hold_rows(
    from_draft: Bool[np.ndarray, "b"],
    own: Int64[np.ndarray, "b"],
    draft: Int64[np.ndarray, "b"],
    most: int,
    draw: np.random.Generator,
) -> None:
    """Give up drafts that are longer than what they replace, at random, until all rows have ``most`` tokens.

    Drafts and targets fit each by themselves, but not every mixture of the two does.
    """
    over = int(np.where(from_draft, draft, own).sum()) - most
    if over <= 0:
        return
    longer = draw.permutation(np.flatnonzero(from_draft & (draft > own)))
    gained = np.cumsum(draft[longer] - own[longer])
    from_draft[longer[: int(np.searchsorted(gained, over)) + 1]] = False


def corrupt(target: Ragged, config: RollIn, vocabulary: int, draw: np.random.Generator) -> Ragged:
    """The target with tokens replaced by random ones, repeated from the left, or swapped with it (DAE)."""
    flat = target.flat.copy()
    inner = target.inner
    kind = draw.random(len(flat))
    third = config.noise / 3
    replaced = inner & (kind < third)
    flat[replaced] = draw.integers(5, vocabulary, int(replaced.sum()))
    left_inner = np.concatenate([[False], inner[:-1]])
    repeated = np.flatnonzero(inner & left_inner & (kind >= third) & (kind < 2 * third))
    flat[repeated] = target.flat[repeated - 1]
    swapped = np.flatnonzero(inner & left_inner & (kind >= 2 * third) & (kind < 3 * third))
    swapped = swapped[np.diff(swapped, prepend=-2) > 1]
    flat[swapped], flat[swapped - 1] = flat[swapped - 1], flat[swapped]
    return Ragged(flat, target.lengths)
