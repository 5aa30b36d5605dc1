"""Requests through an engine as they come: each shares its passes with whatever else is on its way.

Knows no text and no queue. An engine that can do more than refine a batch from beginning to end has a method
``continuous``; every other one answers what has gathered since the last step at once.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol, runtime_checkable

import torch

from levt.engine.engine import Engine
from levt.policy.config import ModelConfig
from levt.refine.guidance import Guidance
from levt.refine.loop import Outcome, Refinement
from levt.refine.phases import Joinable, Policy
from levt.refine.request import Request, Tokens


@runtime_checkable
class Continuous(Protocol):
    """A batch that requests may join and leave at any iteration."""

    @property
    def alive(self) -> list[Outcome]:
        """The outcomes still being worked on."""
        ...

    def add(self, requests: Sequence[Request]) -> list[Outcome]:
        """Take in requests; gives their outcomes to be."""
        ...

    def step(self) -> list[Outcome]:
        """One iteration of all; those that are finished by it leave and are given back."""
        ...

    def leave(self, outcomes: Collection[Outcome]) -> None:
        """Give up on some, at once."""
        ...


@runtime_checkable
class Steppable(Protocol):
    """An engine that refines continuously."""

    def continuous(self, threads: int = 1) -> Continuous:
        """A batch with nothing in it; on a CPU its rows may be shared out among threads."""
        ...


def continuous(engine: Engine, threads: int = 1) -> Continuous:
    """A batch with nothing in it, as good as the engine can do it."""
    return engine.continuous(threads) if isinstance(engine, Steppable) else AtOnce(engine)


class Rolling:
    """The loop of ``levt.refine``, fed by an engine that encodes."""

    def __init__(
        self,
        encode: Callable[[Sequence[Tokens]], Joinable],
        config: ModelConfig,
        policy: Policy,
        device: torch.device | str = "cpu",
    ) -> None:
        """For an engine's way to read sources, whose memories can be joined, and the policy that uses them."""
        self.encode, self.config, self.device = encode, config, device
        self._refinement = Refinement(policy)

    @property
    def alive(self) -> list[Outcome]:
        """The outcomes still being worked on."""
        return self._refinement.alive

    def add(self, requests: Sequence[Request]) -> list[Outcome]:
        """Encode the sources, each once, and join."""
        if not requests:
            return []
        guidance = Guidance.of(
            requests,
            positions=self.config.max_length,
            vocabulary=self.config.target_vocabulary,
            device=self.device,
        )
        sources, rows = distinct([request.source for request in requests])
        memory = self.encode(sources)
        if rows != list(range(len(sources))):
            memory = memory.select(torch.tensor(rows, device=self.device))
        return self._refinement.add(memory, requests, guidance)

    def step(self) -> list[Outcome]:
        """One iteration of all."""
        return self._refinement.step() if self._refinement.alive else []

    def leave(self, outcomes: Collection[Outcome]) -> None:
        """Give up on some."""
        self._refinement.leave(outcomes)


class AtOnce:
    """Whole refinements of whatever has gathered, for an engine that can do no less."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.alive: list[Outcome] = []

    def add(self, requests: Sequence[Request]) -> list[Outcome]:
        """Let them wait for the next step."""
        new = [Outcome(request, tokens=request.draft) for request in requests]
        self.alive += new
        return new

    def step(self) -> list[Outcome]:
        """All iterations of all."""
        finished, self.alive = self.alive, []
        if finished:
            sources, rows = distinct([outcome.request.source for outcome in finished])
            memory: Any = self.engine.encode(sources)
            found = self.engine.refine(memory, [outcome.request for outcome in finished], rows)
            for outcome, done in zip(finished, found, strict=True):
                vars(outcome).update(vars(done))
        return finished

    def leave(self, outcomes: Collection[Outcome]) -> None:
        """Give up on some."""
        gone = {id(outcome) for outcome in outcomes}
        self.alive = [outcome for outcome in self.alive if id(outcome) not in gone]


def distinct(sources: Sequence[Tokens]) -> tuple[list[Tokens], list[int]]:
    """The different sources, and for each of all which of them it is.

    >>> distinct([(5,), (6,), (5,)])
    ([(5,), (6,)], [0, 1, 0])
    """
    numbers: dict[Tokens, int] = {}
    rows = [numbers.setdefault(source, len(numbers)) for source in sources]
    return list(numbers), rows
