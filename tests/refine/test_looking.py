"""A policy that answers two questions at one look has the outcomes of one that is asked twice."""

from typing import Any

import hypothesis.strategies as st
import torch
from hypothesis import given, settings
from mock_policy import Hostile, Rows
from test_arrivals import add, same
from test_loop import requests, run
from torch import Tensor

from levt.refine.loop import Outcome, Refinement
from levt.refine.options import Options
from levt.refine.request import Request


class Alike(Hostile):
    """The same answers, and what was asked: rows with what they hold."""

    alike = True

    def __init__(self, seed: int, **settings: Any) -> None:
        super().__init__(seed, **settings)
        self.looked, self.asked = set[tuple[int, ...]](), set[tuple[int, ...]]()
        self.told: list[tuple[Tensor, Tensor]] = []
        """Every answer, and what it was when it was given."""

    def look(self, memory: Rows, y: Tensor) -> tuple[Tensor, Tensor]:
        self.looked = seen(memory, y)
        told = super().delete(memory, y), super().placeholder(memory, y)
        self.told += [(answer, answer.clone()) for answer in told]
        return told

    def delete(self, memory: Rows, y: Tensor) -> Tensor:
        raise AssertionError("one look tells it")

    def placeholder(self, memory: Rows, y: Tensor) -> Tensor:
        self.asked = seen(memory, y)
        assert not self.asked & self.looked
        assert int(y.ne(0).sum(1).max()) == y.shape[1]
        return super().placeholder(memory, y)


def seen(memory: Rows, y: Tensor) -> set[tuple[int, ...]]:
    """The rows of a batch, each with its source."""
    return {
        (source, *(t for t in row if t)) for source, row in zip(memory.rows.tolist(), y.tolist(), strict=True)
    }


def batch_of(made: list[dict[str, Any]]) -> list[Request]:
    return [Request(**{**parts, "options": Options(**parts["options"])}) for parts in made]


@settings(max_examples=150)
@given(st.lists(requests(), min_size=1, max_size=6), st.integers(0, 10**6))
def test_one_look_or_two(made: list[dict[str, Any]], seed: int) -> None:
    batch, policy = batch_of(made), Alike(seed)
    for one, other in zip(run(policy, batch), run(Hostile(seed), batch), strict=True):
        assert same(one, other)
    # A policy may keep its answers: nobody writes into them.
    assert all(torch.equal(now.nan_to_num(), then.nan_to_num()) for now, then in policy.told)


@settings(max_examples=60)
@given(st.lists(st.tuples(requests(), st.integers(0, 5)), min_size=2, max_size=6), st.integers(0, 10**6))
def test_rows_that_join_are_looked_at_with_the_others(
    made: list[tuple[dict[str, Any], int]], seed: int
) -> None:
    batch = batch_of([parts for parts, _ in made])
    work, found = Refinement(Alike(seed)), dict[int, Outcome]()
    for now in range(30):
        coming = [i for i, (_, when) in enumerate(made) if when == now]
        if coming:
            found |= zip(coming, add(work, batch, coming), strict=True)
        if work.alive:
            work.step()
    for i, alone in enumerate(run(Hostile(seed), batch)):
        assert same(found[i], alone)


def test_only_rows_that_lost_a_token_are_looked_at_again() -> None:
    again = saved = 0
    for seed in range(40):
        policy = Alike(seed, broken=False)
        batch = [Request(source=(5,), draft=(5, 6, 7, 8)[: 1 + i]) for i in range(4)]
        work = Refinement(policy)
        add(work, batch, [0, 1, 2, 3])
        while work.alive:
            policy.asked = set()
            before = {id(outcome): outcome.tokens for outcome in work.alive}
            alive = work.alive
            work.step()
            # Rows that stopped as repeated made no round, and those of a cycle lost some.
            rounds = [o.rounds[-1].script for o in alive if o.stopped not in ("repeated", "cycle")]
            if len(rounds) == len(alive) and any(before.values()):
                lost = sum(any(script.drop) for script in rounds)
                assert len(policy.asked) == lost
                again, saved = again + lost, saved + len(alive) - lost
    assert again > 20
    assert saved > 5
