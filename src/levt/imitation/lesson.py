"""A lesson: everything one step of dual-policy learning needs, as arrays of fixed shape. On the host, numpy only.

All lengths are decided here, before the step, so nothing in it waits for the device, and one shape serves
every batch, so the step is compiled and captured once.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int32
from numpy.typing import NDArray

from levt.imitation.ragged import Ragged, interleave
from levt.imitation.roll_in import (
    RollIn,
    corrupt,
    draft_deletion,
    hold_rows,
    hold_to,
    random_deletion,
)
from levt.text.specials import PAD, PLH

Arrays = dict[str, Int32[np.ndarray, "_"]]


@dataclass(frozen=True, kw_only=True)
class LessonShape:
    """Sizes of the arrays of a lesson; tokens count their boundaries."""

    rows: int
    """Examples."""
    source: int
    """Source tokens."""
    target: int
    """Target tokens."""
    kept: int
    """Tokens of all insertion states y_ins."""
    holes: int
    """Placeholders of all states y_ins′."""
    delete: int
    """Tokens of all deletion states y_del; one more than they need, as a place for what is padding."""
    longest: int
    """Longest row of any kind."""
    joint: bool
    """Whether y_ins and y_ins′ go through the decoder together (they do where their policies share a tower)."""

    @classmethod
    def of(
        cls,
        *,
        rows: int,
        source: int,
        target: int,
        draft: int,
        longest: int,
        roll_in: RollIn,
        joint: bool,
        repaired: float = 0.0,
    ) -> "LessonShape":
        """The sizes for batches of those budgets: what the roll-in leaves on average, and some room.

        ``repaired`` is the share of examples whose states are always those of their drafts.
        """
        share, inner = roll_in.share_deleted(), target - 2 * rows
        # Three standard deviations of a batch: what does not fit is changed, and that should be rare.
        slack = max(0.03, 3 * roll_in.spread_deleted() / math.sqrt(rows))
        made = roll_in.drafts.made
        if draft and not made:  # the oracle decides what is kept of a draft: anything may happen
            low = high = 1.0
        else:
            # Of a made-up draft about half is kept; some room for more or less, and what does not fit is changed.
            drafts = made + (1 - made) * min(draft / target, 1.0)
            slack += (repaired + (1 - repaired) * roll_in.beta * drafts) * 0.1
            low, high = 1 - share + slack, share + slack
        return cls(
            rows=rows,
            source=source,
            target=target,
            kept=_up(int(min(low, 1.0) * max(inner, 0)) + 2 * rows),
            holes=_up(int(min(high, 1.0) * target)),
            delete=_up(max(int(1.03 * target) if made else target, draft) + 1),
            longest=longest,
            joint=joint,
        )


def _up(size: int) -> int:
    """The next multiple of 64."""
    return -(-size // 64) * 64


def make_lesson(
    source: Ragged,
    target: Ragged,
    draft: Ragged | None,
    *,
    roll_in: RollIn,
    shape: LessonShape,
    vocabulary: int,
    draw: np.random.Generator,
    repaired: Bool[np.ndarray, "b"] | None = None,
) -> Arrays:
    """Roll in from rows with boundaries: the states, the expert's counts and tokens, and where they stand.

    The states of ``repaired`` rows are always those of their drafts (α = β = 1).
    """
    b = len(target.lengths)
    # Learning to insert: which target tokens stay (Eq. 7).
    kept = random_deletion(target, roll_in, draw)
    has_draft = np.zeros(b, bool) if draft is None else draft.lengths > 2
    u, v = draw.random(b), draw.random(b)
    if repaired is not None:
        u[repaired] = v[repaired] = -1.0
    if draft is not None:
        draft_deletion(target, draft, np.flatnonzero(has_draft & (u < roll_in.beta)), kept)
    hold_to(kept, target.inner, len(target.flat) - shape.kept, shape.holes, draw)
    y_ins = target.keep(kept)
    holes = Ragged(np.where(kept, target.flat, PLH), target.lengths)

    # p*: how many target tokens are missing between two that stay.
    position = np.flatnonzero(kept)
    same_row = y_ins.row[1:] == y_ins.row[:-1]
    gaps = np.flatnonzero(same_row)
    counts = (np.diff(position) - 1)[same_row]
    where_holes = np.flatnonzero(~kept)

    lesson: Arrays = {
        "source": fixed(source.flat, shape.source, PAD),
        "source_lengths": fixed(source.lengths, shape.rows, 0),
        "target": fixed(target.flat, shape.target, PAD),
        "target_lengths": fixed(target.lengths, shape.rows, 0),
    }
    if shape.joint:
        both, of_ins, of_holes = interleave(y_ins, holes)
        lesson["insert"] = fixed(both.flat, shape.kept + shape.target, PAD)
        lesson["insert_lengths"] = fixed(both.lengths, 2 * shape.rows, 0)
        gap_at, hole_at = of_ins[gaps], of_holes[where_holes]
    else:
        lesson["kept"] = fixed(y_ins.flat, shape.kept, PAD)
        lesson["holes"] = fixed(holes.flat, shape.target, PAD)
        lesson["kept_lengths"] = fixed(y_ins.lengths, shape.rows, 0)
        gap_at, hole_at = gaps, where_holes
    lesson |= {
        "gap_at": fixed(gap_at, shape.kept, 0),
        "gap_counts": fixed(counts, shape.kept, -1),
        "hole_at": fixed(hole_at, shape.holes, 0),
        "hole_tokens": fixed(target.flat[where_holes], shape.holes, -1),
    }

    # Learning to delete: the draft, or y_ins′ as the model will fill it (Eq. 6).
    own = holes if roll_in.deletion == "model" else corrupt(target, roll_in, vocabulary, draw)
    from_draft = has_draft & (v < roll_in.alpha)
    if draft is not None:
        hold_rows(from_draft, own.lengths, draft.lengths, shape.delete - 1, draw)
    y_del = own if draft is None else own.rows_or(draft, from_draft)
    fill_to = np.flatnonzero(y_del.flat == PLH)
    fill_from = np.flatnonzero(~from_draft[holes.row[where_holes]])
    if roll_in.deletion == "noise":
        fill_to = fill_from = np.empty(0, np.int64)
    return lesson | {
        "delete": fixed(y_del.flat, shape.delete, PAD),
        "delete_lengths": fixed(y_del.lengths, shape.rows, 0),
        # What is padding here writes into the last, unused place.
        "fill_to": fixed(fill_to, shape.holes, shape.delete - 1),
        "fill_from": fixed(fill_from, shape.holes, 0),
    }


def decisions(lesson: Arrays) -> Int32[np.ndarray, "3"]:
    """How many decisions the three policies learn from: deletions, counts, tokens."""
    return np.array(
        [
            int(lesson["delete_lengths"].sum()) - 2 * int(np.count_nonzero(lesson["delete_lengths"])),
            int(np.count_nonzero(lesson["gap_counts"] >= 0)),
            int(np.count_nonzero(lesson["hole_tokens"] >= 0)),
        ],
        np.int32,
    )


def fixed(values: NDArray[np.int64], size: int, filler: int) -> NDArray[np.int32]:
    """The values in an array of ``size``, the rest ``filler``."""
    assert len(values) <= size, f"{len(values)} values do not fit into {size}"
    out = np.full(size, filler, np.int32)
    out[: len(values)] = values
    return out
