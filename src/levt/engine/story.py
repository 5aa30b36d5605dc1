"""How a result came about, kept as it comes from the loop; a trace is made of it only when somebody looks.

Texts that were refined in parts have one story: the parts' stories side by side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite

from levt.edits.iteration import Iteration
from levt.edits.script import EditScript
from levt.edits.trace import STOPS, Trace
from levt.refine.phases import Round
from levt.refine.request import Tokens
from levt.text.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class Story:
    """A draft and the rounds that changed it."""

    draft: Tokens
    rounds: Sequence[Round]
    stopped: str | None
    tokenizer: Tokenizer

    @property
    def tokens(self) -> Tokens:
        """Where it ends."""
        tokens = self.draft
        for round_ in self.rounds:
            tokens = round_.script.apply(tokens)
        return tokens

    def trace(self) -> Trace:
        """The trace; its pieces show where words begin, as those of a vocabulary of whole words do not."""
        trace = Trace(
            draft=self.draft,
            draft_pieces=tuple(self.tokenizer.pieces(self.draft)),
            iterations=tuple(self._iteration(round_) for round_ in self.rounds),
            stopped=self.stopped if self.stopped in STOPS else None,
        )
        return trace.apart() if self.tokenizer.by_pieces else trace

    def _iteration(self, round_: Round) -> Iteration:
        script = round_.script
        return Iteration(
            script=script,
            pieces=tuple(self.tokenizer.pieces(script.fill)),
            drop_probs=_probabilities(round_.drop_logp, len(script.drop)),
            counts_probs=_probabilities(round_.counts_logp, len(script.counts)),
            fill_probs=_probabilities(round_.fill_logp, len(script.fill)),
        )

    @classmethod
    def side_by_side(cls, stories: Sequence["Story"], stopped: str | None) -> "Story":
        """One story of a text whose parts have these; iteration i is all their iterations i."""
        rounds = []
        states = [story.draft for story in stories]
        for i in range(max(len(story.rounds) for story in stories)):
            now = [
                story.rounds[i] if i < len(story.rounds) else Round(_nothing(len(state)))
                for story, state in zip(stories, states, strict=True)
            ]
            states = [round_.script.apply(state) for round_, state in zip(now, states, strict=True)]
            rounds.append(_joined(now))
        return cls(
            draft=tuple(token for story in stories for token in story.draft),
            rounds=tuple(rounds),
            stopped=stopped,
            tokenizer=stories[0].tokenizer,
        )


def _nothing(tokens: int) -> EditScript:
    return EditScript(drop=(False,) * tokens, counts=(0,) * (tokens + 1), fill=())


def _joined(rounds: Sequence[Round]) -> Round:
    """The rounds of neighbouring parts as one: the last gap of a part is the first of the next."""
    drop: list[bool] = []
    counts, counts_logp = [0], [0.0]
    fill: list[int] = []
    drop_logp: list[float] = []
    fill_logp: list[float] = []
    for round_ in rounds:
        script = round_.script
        drop += script.drop
        drop_logp += round_.drop_logp or (0.0,) * len(script.drop)
        logp = round_.counts_logp or (0.0,) * len(script.counts)
        counts[-1] += script.counts[0]
        counts_logp[-1] += logp[0]
        counts += script.counts[1:]
        counts_logp += logp[1:]
        fill += script.fill
        fill_logp += round_.fill_logp or (0.0,) * len(script.fill)
    script = EditScript(drop=tuple(drop), counts=tuple(counts), fill=tuple(fill))
    if not any(round_.counts_logp for round_ in rounds):
        # What nobody decided in any part is no iteration of the whole.
        return Round(script)
    return Round(
        script,
        drop_logp=tuple(drop_logp),
        counts_logp=tuple(counts_logp),
        fill_logp=tuple(fill_logp),
        decided=sum(round_.decided for round_ in rounds),
        decisions=sum(round_.decisions for round_ in rounds),
    )


def _probabilities(logp: Sequence[float], decisions: int) -> tuple[float, ...] | None:
    """Probabilities, if somebody computed them and they are numbers."""
    if len(logp) != decisions or not all(isfinite(value) or value == float("-inf") for value in logp):
        return None
    return tuple(round(exp(min(value, 0.0)), 6) for value in logp)
