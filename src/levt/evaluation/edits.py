"""What editing did: how long it took, and whether it made the draft better or worse. Knows no model."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from levt.errors import InputError
from levt.evaluation.score import Score
from levt.evaluation.scorers import scorer
from levt.evaluation.surface import SIGNATURE, same_length, share


@runtime_checkable
class Run(Protocol):
    """What is known of every refinement."""

    @property
    def iterations(self) -> int:
        """Iterations begun, one that only confirms counted."""

    @property
    def passes(self) -> int:
        """Passes through a decoder."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How long refinements took."""

    iterations: float
    """Mean number of iterations."""
    passes: float
    """Mean number of passes through a decoder."""
    ended: dict[int, float]
    """The share of sentences that ended at each number of iterations."""

    def scores(self) -> tuple[Score, ...]:
        """The means as columns of a table."""
        return (
            Score(name="iterations", value=self.iterations, signature=SIGNATURE),
            Score(name="passes", value=self.passes, signature=SIGNATURE),
        )


def effort(runs: Sequence[Run]) -> Effort:
    """How long these refinements took."""
    if not runs:
        raise InputError("there is nothing to count: no results")
    ended = Counter(run.iterations for run in runs)
    return Effort(
        iterations=sum(run.iterations for run in runs) / len(runs),
        passes=sum(run.passes for run in runs) / len(runs),
        ended={number: ended[number] / len(runs) for number in sorted(ended)},
    )


@dataclass(frozen=True, kw_only=True)
class Gain:
    """Shares of sentences by what became of their draft; what is left over changed and is as good as before."""

    unchanged: float
    """The draft as it was, but for spaces."""
    better: float
    """Fewer edits away from the reference (TER of the sentence)."""
    worse: float
    """More edits away from the reference."""

    def scores(self) -> tuple[Score, ...]:
        """The shares as columns of a table, in percent."""
        shares = {"unchanged %": self.unchanged, "better %": self.better, "worse %": self.worse}
        return tuple(Score(name=k, value=100 * v, signature=SIGNATURE) for k, v in shares.items())


def gain(
    hypotheses: Sequence[str],
    drafts: Sequence[str],
    references: Sequence[str],
    *,
    tokenize: str | None = None,
) -> Gain:
    """What became of the drafts."""
    same_length(hypotheses, drafts=drafts, references=references)
    ter = scorer("ter", tokenize)
    unchanged = better = worse = 0
    for hypothesis, draft, reference in zip(hypotheses, drafts, references, strict=True):
        if hypothesis.split() == draft.split():
            unchanged += 1
            continue
        after, before = (ter.sentence_score(text, [reference]).num_edits for text in (hypothesis, draft))
        better += after < before
        worse += after > before
    total = len(hypotheses)
    return Gain(unchanged=share(unchanged, total), better=share(better, total), worse=share(worse, total))
