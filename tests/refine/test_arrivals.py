"""Requests that come and go at any iteration: each has the outcome that it would have had alone."""

from typing import Any

import hypothesis.strategies as st
import torch
from hypothesis import given, settings
from mock_policy import VOCABULARY, Hostile, Rows
from test_loop import requests, run

from levt.refine.guidance import Guidance
from levt.refine.loop import Outcome, Refinement
from levt.refine.options import Options
from levt.refine.request import Request


class Joined(Rows):
    """Rows that others may join."""

    def select(self, rows: torch.Tensor) -> "Joined":
        return Joined(self.rows[rows])

    def join(self, other: "Joined", width: int) -> "Joined":
        return Joined(torch.cat([self.rows, other.rows]))


def same(one: Outcome, other: Outcome) -> bool:
    """Equal in every decision; log-probabilities up to the last bit, in which the width of a batch may differ."""
    logp = [
        torch.tensor([v for r in outcome.rounds for v in (*r.drop_logp, *r.counts_logp, *r.fill_logp)])
        for outcome in (one, other)
    ]
    plain = [
        (o.tokens, o.iterations, o.passes, o.stopped, [(r.script, r.decisions) for r in o.rounds])
        for o in (one, other)
    ]
    return plain[0] == plain[1] and torch.allclose(*logp, rtol=1e-5, atol=1e-6, equal_nan=True)


def add(work: Refinement, batch: list[Request], which: list[int]) -> list[Outcome]:
    chosen = [batch[i] for i in which]
    guidance = Guidance.of(chosen, positions=64, vocabulary=VOCABULARY)
    return work.add(Joined(torch.tensor(which, dtype=torch.long)), chosen, guidance)


@settings(max_examples=80)
@given(st.lists(st.tuples(requests(), st.integers(0, 8)), min_size=1, max_size=6), st.integers(0, 10**6))
def test_any_arrival_gives_the_same_outcomes(made: list[tuple[dict[str, Any], int]], seed: int) -> None:
    batch = [Request(**{**parts, "options": Options(**parts["options"])}) for parts, _ in made]
    arrival = [when for _, when in made]
    policy = Hostile(seed)
    work = Refinement(policy)
    found: dict[int, Outcome] = {}
    given_back: list[Outcome] = []
    for now in range(100):
        coming = [i for i, when in enumerate(arrival) if when == now]
        if coming:
            found |= zip(coming, add(work, batch, coming), strict=True)
        if work.alive:
            given_back += work.step()
        if now > 8 and not work.alive:
            break
    assert {id(outcome) for outcome in given_back} == {id(outcome) for outcome in found.values()}
    for i, alone in enumerate(run(policy, batch)):
        assert same(found[i], alone)


@settings(max_examples=60)
@given(st.lists(requests(), min_size=2, max_size=5), st.integers(0, 3), st.integers(0, 10**6))
def test_who_leaves_disturbs_nobody(made: list[dict[str, Any]], after: int, seed: int) -> None:
    batch = [Request(**{**parts, "options": Options(**parts["options"])}) for parts in made]
    work = Refinement(Hostile(seed))
    outcomes = add(work, batch, list(range(len(batch))))
    for _ in range(after):
        if work.alive:
            work.step()
    work.leave([outcomes[0]])
    assert all(outcome is not outcomes[0] for outcome in work.alive)
    while work.alive:
        work.step()
    for outcome, alone in list(zip(outcomes, run(Hostile(seed), batch), strict=True))[1:]:
        assert same(outcome, alone)
