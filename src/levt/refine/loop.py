"""Algorithm 2: delete, open placeholders, fill them, until nothing changes. Knows no text and no engine.

The plain loop, on any device: a batch of states of which finished rows leave. Faster engines must give the
same edits. Four stops, each row by itself:

    unchanged   nothing is deleted and nothing inserted
    repeated    the state after deletion is that of the iteration before, so insertion would repeat too
    cycle       a state seen earlier comes back; the best of the states that would repeat is returned
    limit       the iterations are used up
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import torch

from levt.edits.script import EditScript
from levt.refine.guidance import Guidance, occurrences
from levt.refine.phases import Memory, Policy, Round, delete_phase, insert_phase, rounds
from levt.refine.request import Request, Tokens


@dataclass
class Outcome:
    """How the refinement of one request went."""

    request: Request
    rounds: list[Round] = field(default_factory=list)
    """The iterations that lead from the draft to ``tokens``."""
    tokens: Tokens = ()
    """The result, without boundaries."""
    iterations: int = 0
    """Iterations begun, one that only confirms counted."""
    passes: int = 0
    """Passes through a decoder."""
    stopped: str = ""
    """Which of the four stops ended it."""

    @property
    def score(self) -> float:
        """Mean log-probability of the model's own decisions on the way to the result; 0 if there were none."""
        decisions = sum(r.decisions for r in self.rounds)
        return sum(r.decided for r in self.rounds) / decisions if decisions else 0.0

    def cut(self, first: int) -> None:
        """End a cycle at the best of its states, the one that the model's decisions led to most confidently."""
        means = [r.decided / max(r.decisions, 1) for r in self.rounds[first:]]
        # Not a number compares as worst, so that a broken policy still ends somewhere.
        best = max(range(len(means)), key=lambda i: means[i] if means[i] == means[i] else float("-inf"))
        self.rounds = self.rounds[: first + best + 1]
        self.tokens = self.request.draft
        for round_ in self.rounds:
            self.tokens = round_.script.apply(self.tokens)

    def locks(self) -> tuple[bool, ...]:
        """One per token of the result: True where it was locked in the draft."""
        locked: tuple[bool, ...] = self.request.locked
        for round_ in self.rounds:
            locked = round_.script.splice(locked, [False] * len(round_.script.fill))
        return locked

    def remove(self, at: Collection[int]) -> None:
        """Delete some tokens of the result after all, as one more iteration that nobody decided."""
        drop = tuple(i in at for i in range(len(self.tokens)))
        script = EditScript(drop=drop, counts=(0,) * (drop.count(False) + 1), fill=())
        self.rounds.append(Round(script))
        self.tokens = script.apply(self.tokens)

    def strike(self) -> None:
        """Take out banned sequences that only came together at the very end; locked tokens stay."""
        while self.request.banned:
            locked = self.locks()
            at = [i for i in occurrences(self.tokens, self.request.banned) if not locked[i]]
            if not at:
                return
            self.remove(at)


@torch.inference_mode()
def refine(policy: Policy, memory: Memory, requests: Sequence[Request], guidance: Guidance) -> list[Outcome]:
    """Refine the draft of every request; row i of ``memory`` is the source of request i."""
    outcomes = [Outcome(request, tokens=request.draft) for request in requests]
    alive, state = list(outcomes), guidance.state
    # The states each row has been in; a steered first iteration is not what the model would do again.
    seen: dict[int, dict[Tokens, int]] = {id(o): {} if o.request.steered else {o.tokens: 0} for o in alive}
    remains: dict[int, Tokens] = {}
    while alive:
        # Delete tokens: y' = 𝓔(y, d̂). Rows left with ỹ, as in the iteration before, are done.
        deletion = delete_phase(policy, memory, state, guidance)
        for outcome, left in zip(alive, map(tuple, deletion.after.rows()), strict=True):
            outcome.iterations += 1
            outcome.passes += bool(outcome.tokens)
            if remains.get(id(outcome)) == left:
                outcome.stopped = "repeated"
            remains[id(outcome)] = left
        stay = [i for i, outcome in enumerate(alive) if not outcome.stopped]
        if not stay:
            break
        if len(stay) < len(alive):
            rows = torch.tensor(stay, device=state.y.device)
            deletion, memory, guidance = deletion.select(rows), memory.select(rows), guidance.select(rows)
            alive = [alive[i] for i in stay]

        # Insert placeholders: y'' = 𝓔(y', p̂); replace them: y = 𝓔(y'', t̂).
        insertion = insert_phase(policy, memory, deletion, guidance)
        state, guidance = insertion.state, guidance.after_first()
        for outcome, round_ in zip(alive, rounds(deletion, insertion), strict=True):
            outcome.passes += 1 + bool(round_.script.fill)
            outcome.rounds.append(round_)
            outcome.tokens = round_.script.apply(outcome.tokens)
            earlier = seen[id(outcome)]
            if round_.script.is_identity:
                outcome.stopped = "unchanged"
            elif outcome.tokens in earlier:
                outcome.stopped = "cycle"
                outcome.cut(earlier[outcome.tokens])
            elif outcome.iterations >= outcome.request.options.max_iterations:
                outcome.stopped = "limit"
            earlier[outcome.tokens] = len(outcome.rounds)
        stay = [i for i, outcome in enumerate(alive) if not outcome.stopped]
        if not stay:
            break
        if len(stay) < len(alive):
            rows = torch.tensor(stay, device=state.y.device)
            state, memory, guidance = state.select(rows), memory.select(rows), guidance.select(rows)
            alive = [alive[i] for i in stay]
        state = state.narrow(int(state.lengths.max()))
    for outcome in outcomes:
        outcome.strike()
    return outcomes
