"""Algorithm 2: delete, open placeholders, fill them, until nothing changes. Knows no text and no engine.

The plain loop, on any device: a batch of states that rows may join at any iteration and that finished rows leave.
Faster engines must give the same edits. Four stops, each row by itself:

    unchanged   nothing is deleted and nothing inserted
    repeated    the state after deletion is that of the iteration before, so insertion would repeat too
    cycle       a state seen earlier comes back; the best of the states that would repeat is returned
    limit       the iterations are used up
"""

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch

from levt.edits.script import EditScript, between
from levt.edits.state import State
from levt.refine.guidance import Guidance, occurrences
from levt.refine.phases import Memory, Policy, Round, delete_phase, insert_phase
from levt.refine.record import Arrays, Record, Rounds
from levt.refine.request import Request, Tokens


@dataclass
class Outcome:
    """How the refinement of one request went."""

    request: Request
    rounds: Rounds = field(default_factory=Rounds)
    """The iterations that lead from the draft to ``tokens``."""
    tokens: Tokens = ()
    """The result, without boundaries."""
    iterations: int = 0
    """Iterations begun, one that only confirms counted."""
    passes: int = 0
    """Passes through a decoder, one for each policy asked; two of them may be one look."""
    stopped: str = ""
    """Which of the four stops ended it."""

    @property
    def score(self) -> float:
        """Mean log-probability of the model's own decisions on the way to the result; 0 if there were none."""
        sums = [self.rounds.sums(i) for i in range(len(self.rounds))]
        decisions = sum(number for _, number in sums)
        return sum(decided for decided, _ in sums) / decisions if decisions else 0.0

    def cut(self, first: int) -> None:
        """End a cycle at the best of its states, the one that the model's decisions led to most confidently."""
        sums = [self.rounds.sums(i) for i in range(first, len(self.rounds))]
        means = [decided / max(decisions, 1) for decided, decisions in sums]
        # Not a number compares as worst, so that a broken policy still ends somewhere.
        best = max(range(len(means)), key=lambda i: means[i] if means[i] == means[i] else float("-inf"))
        self.rounds = self.rounds[: first + best + 1]
        self.tokens = self.request.draft
        for round_ in self.rounds:
            self.tokens = round_.script.apply(self.tokens)

    def locks(self) -> tuple[bool, ...]:
        """One per token of the result: True where it was locked in the draft."""
        return self._carried(self.request.locked)

    def glue(self) -> tuple[bool, ...]:
        """One per token of the result: True where it was glued to its left neighbour in the draft."""
        return self._carried(self.request.glued)

    def _carried(self, marks: tuple[bool, ...]) -> tuple[bool, ...]:
        for round_ in self.rounds:
            marks = round_.script.splice(marks, [False] * len(round_.script.fill))
        return marks

    def remove(self, at: Collection[int]) -> None:
        """Delete some tokens of the result after all, as one more iteration that nobody decided."""
        drop = tuple(i in at for i in range(len(self.tokens)))
        script = EditScript(drop=drop, counts=(0,) * (drop.count(False) + 1), fill=())
        self._also(script)

    def put(self, gap: int, token: int) -> None:
        """Insert a token into a gap of the result after all, as one more iteration that nobody decided."""
        counts = tuple(int(i == gap) for i in range(len(self.tokens) + 1))
        self._also(EditScript(drop=(False,) * len(self.tokens), counts=counts, fill=(token,)))

    def become(self, tokens: Tokens) -> None:
        """Put other tokens in the place of the result after all, as one more iteration that nobody decided."""
        if tokens != self.tokens:
            self._also(between(self.tokens, tokens))

    def _also(self, script: EditScript) -> None:
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


T = TypeVar("T")
Asking = Generator[list[Request], list[Outcome], T]
"""Yields requests and is sent their outcomes, until it returns what it was for."""


@dataclass
class Course:
    """A request on its way."""

    outcome: Outcome
    seen: dict[Tokens, int]
    """The states it has been in, and after how many rounds."""
    left: Tokens | None = None
    """The state after the deletion of the iteration before."""

    @classmethod
    def of(cls, request: Request) -> "Course":
        """The beginning."""
        # A steered first iteration is not what the model would do again.
        return cls(Outcome(request, tokens=request.draft), {} if request.steered else {request.draft: 0})

    def deleted(self, left: Tokens) -> None:
        """Note the state after deletion."""
        self.outcome.iterations += 1
        self.outcome.passes += bool(self.outcome.tokens)
        # Placeholders that somebody asked for at first are not what the model would open again.
        own = self.outcome.iterations > 2 or not any(self.outcome.request.open.values())
        if self.left == left and own:
            self.outcome.stopped = "repeated"
        self.left = left

    def edited(self, record: Record, row: int, tokens: Tokens) -> None:
        """Note the whole iteration, which is that of a row of a record, and the state that it led to."""
        outcome = self.outcome
        assert self.left is not None
        # Tokens are only inserted after deletion, so lengths tell whether any were.
        inserted = len(tokens) > len(self.left)
        changed = inserted or len(self.left) < len(outcome.tokens)
        outcome.passes += 1 + inserted
        outcome.rounds.note(record, row)
        outcome.tokens = tokens
        if not changed:
            outcome.stopped = "unchanged"
        elif tokens in self.seen:
            outcome.stopped = "cycle"
            outcome.cut(self.seen[tokens])
        elif outcome.iterations >= outcome.request.options.max_iterations:
            outcome.stopped = "limit"
        self.seen[tokens] = len(outcome.rounds)


class Refinement:
    """Requests that are refined together, whenever they came: ``add`` some, ``step`` all, as long as there are any.

    No request sees another: each gets the outcome that it would get alone.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._rows: list[Course] = []
        self._memory: Any = None
        self._state: State
        self._guidance: Guidance

    @property
    def alive(self) -> list[Outcome]:
        """The outcomes still being worked on."""
        return [row.outcome for row in self._rows]

    @torch.inference_mode()
    def add(self, memory: Memory, requests: Sequence[Request], guidance: Guidance) -> list[Outcome]:
        """Take in requests, row i of ``memory`` being the source of request i; gives their outcomes to be."""
        new = [Course.of(request) for request in requests]
        if not self._rows:
            self._memory, self._state, self._guidance = memory, guidance.state, guidance
        elif new:
            sources = [row.outcome.request.source for row in self._rows + new]
            width = max(self._state.y.shape[1], guidance.state.y.shape[1])
            self._memory = self._memory.join(memory, 2 + max(map(len, sources)))
            self._guidance = self._guidance.join(guidance, len(self._rows), len(new), width)
            self._state = self._state.join(guidance.state, width)
        self._rows += new
        return [row.outcome for row in new]

    def leave(self, outcomes: Collection[Outcome]) -> None:
        """Give up on some, at once."""
        gone = {id(outcome) for outcome in outcomes}
        self._keep([i for i, row in enumerate(self._rows) if id(row.outcome) not in gone])

    @torch.inference_mode()
    def step(self) -> list[Outcome]:
        """One iteration of every row; those that are finished by it leave and are given back."""
        began = self._rows
        # Delete tokens: y' = 𝓔(y, d̂). Rows left with ỹ, as in the iteration before, are done.
        deletion = delete_phase(self.policy, self._memory, self._state, self._guidance)
        for row, left in zip(self._rows, _tokens(deletion.after), strict=True):
            row.deleted(left)
        stay = self._unfinished()
        if len(stay) < len(self._rows):
            deletion = deletion.select(torch.tensor(stay, device=deletion.drop.device, dtype=torch.long))
            self._keep(stay)
        if self._rows:
            # Insert placeholders: y'' = 𝓔(y', p̂); replace them: y = 𝓔(y'', t̂).
            insertion = insert_phase(self.policy, self._memory, deletion, self._guidance)
            self._state, self._guidance = insertion.state, self._guidance.after_first()
            record = Arrays.of(deletion, insertion)
            for i, (row, tokens) in enumerate(zip(self._rows, _tokens(self._state), strict=True)):
                row.edited(record, i, tokens)
            self._keep(self._unfinished())
        if self._rows:
            self._state = self._state.narrow(int(self._state.lengths.max()))
        finished = [row.outcome for row in began if row.outcome.stopped]
        for outcome in finished:
            outcome.strike()
        return finished

    def _unfinished(self) -> list[int]:
        return [i for i, row in enumerate(self._rows) if not row.outcome.stopped]

    def _keep(self, stay: list[int]) -> None:
        if len(stay) == len(self._rows):
            return
        self._rows = [self._rows[i] for i in stay]
        if not stay:
            self._memory = None
            return
        rows = torch.tensor(stay, device=self._state.y.device)
        self._state, self._memory = self._state.select(rows), self._memory.select(rows)
        self._guidance = self._guidance.select(rows)


def refine(policy: Policy, memory: Memory, requests: Sequence[Request], guidance: Guidance) -> list[Outcome]:
    """Refine the draft of every request; row i of ``memory`` is the source of request i."""
    refinement = Refinement(policy)
    outcomes = refinement.add(memory, requests, guidance)
    while refinement.alive:
        refinement.step()
    return outcomes


def _tokens(state: State) -> list[Tokens]:
    """The tokens of each row, without boundaries (waits for the device)."""
    lengths = state.lengths.tolist()
    return [tuple(row[1 : n - 1]) for row, n in zip(state.y.tolist(), lengths, strict=True)]
