"""Which words of a draft are wrong, and where some are missing: OK/BAD tags and how well they are predicted.

Gold tags come from a draft and its post-edit. Kept are the words of a longest common subsequence; in a stretch
between two kept words with d words deleted and i inserted, every deleted word is BAD, min(d, i) of them count
as replaced, and where i > d words are missing as well: then the last gap of the stretch is BAD. (TER would
also move phrases; here a moved phrase is deleted and inserted.) A text of n words has n tags of words and
n + 1 of gaps. True means BAD. Knows no model.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from levt.edits.oracle_reference import align_reference
from levt.edits.trace import Trace
from levt.edits.words import words_of
from levt.errors import InputError
from levt.evaluation.score import Score
from levt.evaluation.surface import SIGNATURE, same_length

STEPS = 50
"""Into how many parts thresholds divide the probabilities."""
DEFAULT = 0.5
"""The threshold that nobody has chosen."""


@dataclass(frozen=True, kw_only=True)
class Tags:
    """What is BAD in one draft."""

    words: tuple[bool, ...]
    """One per word: True where it does not stay."""
    gaps: tuple[bool, ...]
    """One before each word and one at the end: True where words are missing."""


@dataclass(frozen=True, kw_only=True)
class Risks:
    """How probable it is that each word, and each gap, is BAD."""

    words: tuple[float, ...]
    gaps: tuple[float, ...]

    def tags(self, threshold: float = DEFAULT) -> Tags:
        """BAD is what is more probable than the threshold."""
        return Tags(
            words=tuple(risk > threshold for risk in self.words),
            gaps=tuple(risk > threshold for risk in self.gaps),
        )


def gold_tags(draft: str, post_edit: str) -> Tags:
    """The tags of a draft; words are what stands between spaces.

    >>> gold_tags("a dog walk snow", "a dog walks in the snow")
    Tags(words=(False, False, True, False), gaps=(False, False, False, True, False))
    """
    words, wanted = draft.split(), post_edit.split()
    numbers = {word: i for i, word in enumerate(dict.fromkeys(words + wanted))}
    match = align_reference([numbers[w] for w in words], [numbers[w] for w in wanted])
    gaps = [False] * (len(words) + 1)
    # A stretch lies between two kept words, each with its place in the draft and in the post-edit.
    kept = [(i, j) for i, j in enumerate(match) if j >= 0]
    for (left, before), (right, after) in pairwise([(-1, -1), *kept, (len(words), len(wanted))]):
        gaps[right] = after - before > right - left
    return Tags(words=tuple(j < 0 for j in match), gaps=tuple(gaps))


def trace_risks(trace: Trace) -> Risks:
    """What the first iteration of a refinement thought of the draft: delete and gap probabilities, by word.

    A word is at risk by its pieces and by what might come between them. A gap is known only where it stood open
    after the deletions; where words went, it is the last gap of their stretch, as in the gold tags.
    """
    if not trace.iterations:
        raise InputError("the trace has no iteration to take probabilities from")
    first = trace.iterations[0]
    if (trace.draft and first.drop_probs is None) or first.counts_probs is None:
        raise InputError("the trace has no probabilities", hint="ask for them when refining")
    script = first.script
    # A probability is that of the decision: turned round where that was to leave alone.
    dropped = zip(script.drop, first.drop_probs or (), strict=True)
    piece_risks = [p if drop else 1 - p for drop, p in dropped]
    opened = iter(p if count else 1 - p for count, p in zip(script.counts, first.counts_probs, strict=True))
    gap_risks = [0.0] * (len(script.drop) + 1)
    for i, drop in enumerate((*script.drop, False)):
        if not drop:
            gap_risks[i] = next(opened)
    parts = words_of(trace.draft_pieces)
    count = parts[-1].stop if parts else 0
    words, gaps = [0.0] * count, [0.0] * count + [gap_risks[-1]]
    left = 0
    for part, risk, gap_risk in zip(parts, piece_risks, gap_risks, strict=False):
        for word in part:
            words[word] = max(words[word], risk)
        # The gap on the left of the piece is inside a word, or between two.
        places = words if part.start < left else gaps
        places[part.start] = max(places[part.start], gap_risk)
        left = part.stop
    return Risks(words=tuple(words), gaps=tuple(gaps))


def mcc(predicted: Sequence[bool], gold: Sequence[bool]) -> float:
    """Matthews' correlation of two lists of tags, from -1 to 1; 0 where one of them is all of one kind.

    >>> mcc([True, False, True, False], [True, False, True, False])
    1.0
    >>> mcc([True, True, True, True], [True, False, True, False])
    0.0
    """
    if len(predicted) != len(gold):
        raise InputError(
            f"there must be as many predicted tags as gold ones, got {len(predicted)} and {len(gold)}"
        )
    both = sum(p and g for p, g in zip(predicted, gold, strict=True))
    p, g, n = sum(predicted), sum(gold), len(gold)
    variance = p * (n - p) * g * (n - g)
    return (both * n - p * g) / math.sqrt(variance) if variance else 0.0


def tag_scores(predicted: Sequence[Tags], gold: Sequence[Tags]) -> tuple[Score, Score]:
    """MCC of the words and of the gaps of a corpus, in percent."""
    same_length([""] * len(predicted), gold=gold)
    for row, (p, g) in enumerate(zip(predicted, gold, strict=True), 1):
        if len(p.words) != len(g.words):
            raise InputError(f"draft {row} has {len(g.words)} words, tags were predicted for {len(p.words)}")
    words = mcc([t for p in predicted for t in p.words], [t for g in gold for t in g.words])
    gaps = mcc([t for p in predicted for t in p.gaps], [t for g in gold for t in g.gaps])
    return (
        Score(name="MCC words", value=100 * words, signature=SIGNATURE),
        Score(name="MCC gaps", value=100 * gaps, signature=SIGNATURE),
    )


def best_threshold(risks: Sequence[Risks], gold: Sequence[Tags]) -> float:
    """The threshold, of evenly spaced ones, whose tags of words have the highest MCC: to be chosen on a dev set.

    Of several it is the one nearest to the default: so that too where there is nothing to choose by.
    """
    same_length([""] * len(risks), gold=gold)
    flat = [risk for row in risks for risk in row.words]
    true = [tag for row in gold for tag in row.words]
    tried = [step / STEPS for step in range(1, STEPS)]

    def worth(threshold: float) -> tuple[float, float]:
        return mcc([risk > threshold for risk in flat], true), -abs(threshold - DEFAULT)

    return max(tried, key=worth)
