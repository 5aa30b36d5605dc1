"""What else could stand in a place of a state: placeholders there, and the token policy asked. Knows no text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch

from levt.edits.state import State
from levt.errors import ConfigError
from levt.refine.phases import Memory, Policy
from levt.refine.request import Tokens
from levt.text.specials import PLH, SPECIALS


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where to look."""

    source: Tokens
    """x."""
    before: Tokens = ()
    """The tokens to the left of the place."""
    after: Tokens = ()
    """The tokens to its right."""
    placeholders: int = 1
    """How many tokens to write."""
    count: int = 8
    """How many alternatives to give."""
    current: int | None = None
    """A token whose probability is asked for too."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """The alternatives of a place, most probable first, as tokens and log-probability."""

    alternatives: tuple[tuple[Tokens, float], ...]
    current: float | None = None
    """Log-probability of the token that was asked for."""


@runtime_checkable
class Suggests(Protocol):
    """An engine that can say what else could stand somewhere."""

    def alternatives(self, places: Sequence[Place]) -> list[Found]:
        """The alternatives of each place."""
        ...


def alternatives(engine: Any, places: Sequence[Place]) -> list[Found]:
    """The alternatives of each place, if the engine can give them."""
    if not isinstance(engine, Suggests):
        raise ConfigError(
            "this engine cannot give alternatives", hint="the engine torch can: `levt serve --engine torch`"
        )
    return engine.alternatives(places)


@torch.inference_mode()
def ask(policy: Policy, memory: Memory, places: Sequence[Place], device: torch.device | str) -> list[Found]:
    """The best tokens for the first placeholder of each place, then, for each, the best for those behind it.

    Row i of ``memory`` is the source of place i. A special symbol is never given.
    """
    rows = [(*place.before, *[PLH] * place.placeholders, *place.after) for place in places]
    state = State.of(rows, device=device)
    first = state.placeholders & state.placeholders.cumsum(1).eq(1)
    logp = policy.token(memory, state.y, first).float()
    most = min(max(place.count for place in places), logp.shape[1] - len(SPECIALS))
    best, at = logp[:, len(SPECIALS) :].topk(most)
    starts: list[list[tuple[Tokens, float]]] = []
    for place, tokens, values in zip(places, (at + len(SPECIALS)).tolist(), best.tolist(), strict=True):
        pairs = list(zip(tokens, values, strict=True))[: place.count]
        starts.append([((token,), value) for token, value in pairs])
    current = [None if p.current is None else float(logp[i, p.current]) for i, p in enumerate(places)]
    finished = _rest(policy, memory, places, starts, device)
    return [
        Found(alternatives=tuple(sorted(found, key=lambda pair: -pair[1])), current=now)
        for found, now in zip(finished, current, strict=True)
    ]


def _rest(
    policy: Policy,
    memory: Memory,
    places: Sequence[Place],
    starts: list[list[tuple[Tokens, float]]],
    device: torch.device | str,
) -> list[list[tuple[Tokens, float]]]:
    """Fill the placeholders behind the first one."""
    which = [i for i, place in enumerate(places) if place.placeholders > 1 for _ in starts[i]]
    if not which:
        return starts
    rows = [
        (*place.before, *start, *[PLH] * (place.placeholders - 1), *place.after)
        for place, found in zip(places, starts, strict=True)
        if place.placeholders > 1
        for start, _ in found
    ]
    state = State.of(rows, device=device)
    holes = state.placeholders
    scores = policy.token(memory.select(torch.tensor(which, device=device)), state.y, holes).float()
    best, at = scores[:, len(SPECIALS) :].max(-1)
    chosen = iter(zip((at + len(SPECIALS)).tolist(), best.tolist(), strict=True))
    filled = []
    for place, found in zip(places, starts, strict=True):
        whole = []
        for start, value in found:
            more = [next(chosen) for _ in range(place.placeholders - 1)]
            whole.append(((*start, *(token for token, _ in more)), value + sum(v for _, v in more)))
        filled.append(whole)
    return filled
