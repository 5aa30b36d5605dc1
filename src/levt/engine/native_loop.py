"""Algorithm 2 for requests that nobody steers, in plain Python around few calls of C. Knows no lock and no ban.

The courses and the stops are those of ``levt.refine.loop``; what differs is that rows are lists, nothing is padded,
and what the delete policy has seen of a state that it leaves alone, the placeholder policy does not look at again.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from levt.edits.script import EditScript
from levt.engine.native_library import Array
from levt.engine.native_network import Source
from levt.engine.native_policy import NativePolicy
from levt.refine.loop import Course, Outcome
from levt.refine.options import Options
from levt.refine.phases import Round
from levt.refine.request import Request, Tokens
from levt.text.specials import BOS, EOS, PLH


def plain(request: Request) -> bool:
    """Whether nobody steers a request."""
    return not (any(request.locked) or any(request.glued) or request.banned or request.steered)


@dataclass
class Iteration:
    """One iteration of one row, as a record of the loop."""

    drop: tuple[bool, ...] = ()
    odds: list[float] = field(default_factory=list)
    """Log-odds of deleting each token."""
    counts: list[int] = field(default_factory=list)
    counts_logp: list[float] = field(default_factory=list)
    fill: list[int] = field(default_factory=list)
    fill_logp: list[float] = field(default_factory=list)

    @property
    def drop_logp(self) -> list[float]:
        """The log-probability of what was decided about each token."""
        chosen = (odds if gone else -odds for odds, gone in zip(self.odds, self.drop, strict=True))
        return [min(x, 0.0) - math.log1p(math.exp(-abs(x))) for x in chosen]

    def sums(self, row: int) -> tuple[float, int]:
        """Sum and number of the decisions, all of which are the model's own."""
        parts = (self.drop_logp, self.counts_logp, self.fill_logp)
        return sum(map(sum, parts)), sum(map(len, parts))

    def round(self, row: int) -> Round:
        """As plain Python."""
        decided, decisions = self.sums(row)
        return Round(
            EditScript(drop=self.drop, counts=tuple(self.counts), fill=tuple(self.fill)),
            drop_logp=tuple(self.drop_logp),
            counts_logp=tuple(self.counts_logp),
            fill_logp=tuple(self.fill_logp),
            decided=decided,
            decisions=decisions,
        )


@dataclass
class Row:
    """A request on its way."""

    course: Course
    source: Source
    limit: int
    """Longest state, boundaries counted."""
    tokens: Tokens
    now: Iteration = field(default_factory=Iteration)
    seen: Array | None = None
    """The states of the tokens, where the delete policy has just looked at them."""

    @property
    def bounded(self) -> list[int]:
        """The tokens with their boundaries."""
        return [BOS, *self.tokens, EOS]

    @property
    def options(self) -> Options:
        """The settings of the request."""
        return self.course.outcome.request.options


def refine_plain(
    policy: NativePolicy, sources: Sequence[Source], requests: Sequence[Request]
) -> list[Outcome]:
    """Refine the draft of every request; source i is that of request i."""
    positions = policy.config.max_length
    rows = [
        Row(
            Course.of(request),
            source,
            request.options.limit(len(request.source) + 2, len(request.draft) + 2, positions),
            request.draft,
        )
        for request, source in zip(requests, sources, strict=True)
    ]
    outcomes = [row.course.outcome for row in rows]
    while rows:
        delete(policy, rows)
        rows = [row for row in rows if not row.course.outcome.stopped]
        insert(policy, rows)
        rows = [row for row in rows if not row.course.outcome.stopped]
    return outcomes


def delete(policy: NativePolicy, rows: Sequence[Row]) -> None:
    """Delete tokens; nothing is asked about empty states."""
    asked = [row for row in rows if row.tokens]
    for row in rows:
        row.now, row.seen = Iteration(), None
    if asked:
        h = policy.states([row.source for row in asked], [row.bounded for row in asked], "delete")
        scores = policy.packed.delete_scores(h)
        odds, begin = (scores[:, 1] - scores[:, 0]).tolist(), 0
        reused = policy.alike
        for row in asked:
            end = begin + len(row.tokens) + 2
            needed = threshold(row.options.min_edit)
            row.now.odds = odds[begin + 1 : end - 1]
            row.now.drop = tuple([one > needed for one in row.now.odds])
            if True in row.now.drop:
                row.tokens = tuple(t for t, gone in zip(row.tokens, row.now.drop, strict=True) if not gone)
            elif reused:
                row.seen = h[begin:end]
            begin = end
    for row in rows:
        row.course.deleted(row.tokens)


def insert(policy: NativePolicy, rows: Sequence[Row]) -> None:
    """Open placeholders and fill them; rows without any skip the token policy."""
    if not rows:
        return
    new = [row for row in rows if row.seen is None]
    if new:
        h, begin = policy.states([row.source for row in new], [row.bounded for row in new], "placeholder"), 0
        for row in new:
            end = begin + len(row.tokens) + 2
            row.seen, begin = h[begin:end], end
    parts = [row.seen for row in rows if row.seen is not None]
    scores, best, logp = policy.packed.count_scores(parts[0] if len(parts) == 1 else np.concatenate(parts))
    begin, wide, holes = 0, list[list[int]](), list[list[int]]()
    for row in rows:
        end = begin + len(row.tokens) + 1
        counts, logps = decide(scores[begin:end], best[begin:end], logp[begin:end], row.options)
        begin = end + 1
        row.now.counts, row.now.counts_logp = counts, logps
        if not any(counts):
            wide.append([])
            holes.append([])
            continue
        room, state, here = max(row.limit - len(row.tokens) - 2, 0), [BOS], list[int]()
        for i, count in enumerate(counts):
            count = min(count, room)
            room -= count
            counts[i] = count
            here += range(len(state), len(state) + count)
            state += [PLH] * count
            state.append(row.tokens[i] if i < len(row.tokens) else EOS)
        wide.append(state)
        holes.append(here)
    _fill(policy, rows, wide, holes)
    for row in rows:
        row.course.edited(row.now, 0, row.tokens)


def _fill(policy: NativePolicy, rows: Sequence[Row], wide: list[list[int]], holes: list[list[int]]) -> None:
    asked = [i for i, here in enumerate(holes) if here]
    if not asked:
        return
    h = policy.states([rows[i].source for i in asked], [wide[i] for i in asked], "token")
    places, begin = list[int](), 0
    for i in asked:
        places += [begin + at for at in holes[i]]
        begin += len(wide[i])
    tokens, logps = policy.packed.best_tokens(h[places])
    begin = 0
    for i in asked:
        row, end = rows[i], begin + len(holes[i])
        row.now.fill, row.now.fill_logp = tokens[begin:end], logps[begin:end]
        for at, token in zip(holes[i], row.now.fill, strict=True):
            wide[i][at] = token
        row.tokens, begin = tuple(wide[i][1:-1]), end


def decide(scores: Array, best: Array, logp: Array, options: Options) -> tuple[list[int], list[float]]:
    """The count of each gap and its log π: the best as it is, or with γ, min_edit and max_count."""
    if options.empty_gap_penalty or options.min_edit:
        penalised = scores.copy()
        penalised[:, 0] -= options.empty_gap_penalty
        best = penalised.argmax(1)
        if options.min_edit:
            # log Σ over the counts above 0, less that of 0.
            odds = np.logaddexp.reduce(penalised[:, 1:], 1) - penalised[:, 0]
            best = np.where(odds > threshold(options.min_edit), best, 0)
    elif options.max_count + 1 >= scores.shape[1]:
        return best.tolist(), logp.tolist()
    best = np.minimum(best, options.max_count)
    return best.tolist(), scores[np.arange(len(best)), best].tolist()


def threshold(min_edit: float) -> float:
    """Log-odds of the probability an edit must exceed: 0 for min_edit 0, ∞ for 1."""
    if min_edit == 0:
        return 0.0
    return math.inf if min_edit == 1 else math.log1p(min_edit) - math.log1p(-min_edit)
