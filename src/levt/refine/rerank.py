"""Choosing among several refinements by an autoregressive teacher. Knows no text.

The log-probability of LevT is no good measure of its outputs (the paper says so and suggests a teacher). The
candidates differ in γ and in the counts of the gaps that the model was least sure of; from nothing, the one
gap is the length. The teacher scores them all in one pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from levt.edits.state import State
from levt.errors import ConfigError, raise_all
from levt.policy.scores import log_softmax_tokens
from levt.refine.loop import Outcome
from levt.refine.ranges import GAMMA, MANY, Range, check_numbers
from levt.refine.request import Request, Tokens
from levt.text.specials import PAD


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Which candidates are tried beside the plain refinement."""

    penalties: tuple[float, ...] = (0.5, 1.0, 2.0)
    """Added to γ, one candidate each."""
    gaps: int = 2
    """Of how many gaps the count is varied, the least certain first."""
    around: int = 2
    """By how much it is varied, up and down."""

    def __post_init__(self) -> None:
        check_numbers("candidates", self, {"gaps": Range(0, MANY), "around": Range(0, MANY)})
        problems = [GAMMA.problem(penalty, whole=False) for penalty in self.penalties]
        wrong = [f"a penalty {problem}" for problem in problems if problem]
        raise_all(ConfigError, "candidates", wrong, hint=f"a penalty is added to γ; {GAMMA.note}")


@runtime_checkable
class Teacher(Protocol):
    """A model that writes from left to right and scores all places at once."""

    def logits(self, memory: Any, y: Int[Tensor, "b n"]) -> Float[Tensor, "b n v"]:
        """Scores of the next token after each place."""


def variants(outcome: Outcome, candidates: Candidates) -> list[Request]:
    """Other requests for the same text: γ varied, and the counts of the least certain gaps."""
    request = outcome.request
    found = []
    for penalty in candidates.penalties:
        gamma = float(min(max(request.options.empty_gap_penalty + penalty, GAMMA.low), GAMMA.high))
        found.append(replace(request, options=replace(request.options, empty_gap_penalty=gamma)))
    first = outcome.rounds[0]
    behind = [0] + [i + 1 for i, gone in enumerate(first.script.drop) if not gone]
    closed = {i for i, glued in enumerate(request.glued) if glued}
    unsure = sorted(
        (logp, gap, count)
        for gap, count, logp in zip(behind, first.script.counts, first.counts_logp, strict=True)
        if gap not in closed and gap not in request.open and logp == logp
    )
    for _, gap, count in unsure[: candidates.gaps]:
        for change in range(1, candidates.around + 1):
            found += [
                replace(request, open={**request.open, gap: other})
                for other in (count + change, count - change)
                if other >= 0
            ]
    return found


@torch.inference_mode()
def teacher_scores(teacher: Teacher, memory: Any, targets: Sequence[Tokens]) -> list[float]:
    """The log P(y | x) / n of each target, n with ``</s>`` counted; row i of the memory is its source."""
    y = State.of(targets, device=memory.states.device).y
    logp = log_softmax_tokens(teacher.logits(memory, y[:, :-1]))
    following = y[:, 1:]
    each = logp.gather(2, following.unsqueeze(2)).squeeze(2).masked_fill(following.eq(PAD), 0.0)
    lengths = following.ne(PAD).sum(1)
    return [float(s) for s in each.sum(1) / lengths]
