"""What editing did: whether it made the draft better or worse. Knows no model."""

from collections.abc import Sequence
from dataclasses import dataclass

from levt.evaluation.score import Score
from levt.evaluation.scorers import scorer
from levt.evaluation.surface import SIGNATURE, same_length, share


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
