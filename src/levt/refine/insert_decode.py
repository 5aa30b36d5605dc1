"""Parallel insertion: how the Insertion Transformer writes (Stern et al. 2019). Knows no text.

From the empty state on, every gap at once takes its most probable token, or none; a row ends when all gaps
take none. Taught with the balanced loss, n tokens need about log₂ n iterations, and one that confirms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from levt.edits.script import EditScript
from levt.edits.state import State, fill, fit, insert
from levt.refine.canvas import ParallelOptions
from levt.refine.loop import Outcome
from levt.refine.phases import Round
from levt.refine.ranges import GAMMA, Range
from levt.refine.request import Request
from levt.text.specials import EOS, SPECIALS


@runtime_checkable
class InsertionPolicy(Protocol):
    """A model that chooses a token, or ``</s>`` for none, in every gap."""

    def gap(self, memory: Any, y: Int[Tensor, "b n"]) -> Float[Tensor, "b g v"]:
        """The log π of every token in every gap."""
        ...


@dataclass(frozen=True, kw_only=True)
class InsertOptions(ParallelOptions):
    """Settings of one request to the Insertion Transformer."""

    empty_gap_penalty: float = 0.0
    """Subtracted from the log-probability that nothing is missing in a gap; larger is longer."""

    RANGES: ClassVar[dict[str, Range]] = {**ParallelOptions.RANGES, "empty_gap_penalty": GAMMA}


def decide_gaps(
    logp: Float[Tensor, "b g v"], penalty: float
) -> tuple[Int[Tensor, "b g"], Float[Tensor, "b g"]]:
    """The choice of every gap, ``</s>`` or a token that is no special symbol, and its log-probability."""
    none = logp[..., EOS : EOS + 1] - penalty
    at = torch.cat([none, logp[..., len(SPECIALS) :]], -1).argmax(-1)
    tokens = torch.where(at.eq(0), EOS, at + len(SPECIALS) - 1)
    return tokens, logp.gather(-1, tokens.unsqueeze(-1)).squeeze(-1).float()


@torch.inference_mode()
def insert_decode(
    model: InsertionPolicy, memory: Any, limits: Sequence[int], options: InsertOptions
) -> list[Outcome]:
    """Write the target of every source of a memory; ``limits`` says how long each may be, boundaries counted."""
    outcomes = [Outcome(Request(source=())) for _ in limits]
    alive = list(outcomes)
    device = memory.states.device
    state, limit = State.of([()] * len(limits), device=device), torch.tensor(limits, device=device)
    while alive:
        tokens, logp = decide_gaps(model.gap(memory, state.y), options.empty_gap_penalty)
        wanted = tokens.ne(EOS) & state.gaps
        counts = fit(state, wanted.long(), limit)
        wide = insert(state, counts, int((state.lengths + counts.sum(1)).max()))
        # Row by row and from left to right, placeholders and the gaps that opened them have one order.
        y = wide.y.masked_scatter(wide.placeholders, tokens[counts > 0])
        decided = (logp * state.gaps).sum(1).tolist()
        columns = zip(state.lengths.tolist(), counts.tolist(), tokens.tolist(), logp.tolist(), strict=True)
        asked = wanted.any(1).tolist()
        for i, (outcome, (size, count, token, scores)) in enumerate(zip(alive, columns, strict=True)):
            opened = [g for g, c in enumerate(count) if c]
            script = EditScript(
                drop=(False,) * (size - 2),
                counts=tuple(count[: size - 1]),
                fill=tuple(token[g] for g in opened),
            )
            outcome.rounds.append(
                Round(
                    script,
                    fill_logp=tuple(scores[g] for g in opened),
                    decided=decided[i],
                    decisions=size - 1,
                )
            )
            outcome.tokens = script.apply(outcome.tokens)
            outcome.iterations += 1
            outcome.passes += 1
            if script.is_identity:
                # Tokens for which there is no room are no confirmation.
                outcome.stopped = "limit" if asked[i] else "unchanged"
            elif outcome.iterations >= options.max_iterations:
                outcome.stopped = "limit"
        state = fill(wide, y)
        stay = [i for i, outcome in enumerate(alive) if not outcome.stopped]
        if stay and len(stay) < len(alive):
            rows = torch.tensor(stay, device=device)
            state, memory, limit = state.select(rows), memory.select(rows), limit[rows]
            state = state.narrow(int(state.lengths.max()))
        alive = [alive[i] for i in stay]
    return outcomes
