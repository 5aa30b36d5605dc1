"""Words that somebody asked for in a gap: so many, of the words allowed, no two alike side by side, and they stay."""

from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from mock_policy import VOCABULARY, Hostile, Rows, Scripted

from levt.errors import InputError
from levt.refine.guidance import Guidance
from levt.refine.loop import Outcome, refine
from levt.refine.options import Options
from levt.refine.phases import Policy
from levt.refine.request import Request

WORDS = (8, 9, 10, 11)
rows = st.fixed_dictionaries(
    {
        "draft": st.lists(st.integers(5, VOCABULARY - 1), max_size=5).map(tuple),
        "at": st.integers(0, 5),
        "count": st.integers(1, 3),
        "crossed": st.integers(-1, 4),
    }
)


def run(policy: Policy, batch: list[Request]) -> list[Outcome]:
    memory = Rows(torch.arange(len(batch)))
    return refine(policy, memory, batch, Guidance.of(batch, positions=64, vocabulary=VOCABULARY))


def request(row: dict[str, Any]) -> Request:
    n = len(row["draft"])
    gap = min(row["at"], n)
    return Request(
        source=(5, 6, 7, 8),
        draft=row["draft"],
        drop=tuple(i == row["crossed"] for i in range(n)),
        open={gap: row["count"]},
        only={gap: WORDS},
        options=Options(min_room=40),
    )


@settings(max_examples=100)
@given(st.lists(rows, min_size=1, max_size=4), st.integers(0, 10**6))
def test_they_are_there_at_the_end(made: list[dict[str, Any]], seed: int) -> None:
    batch = [request(row) for row in made]
    for one, outcome in zip(batch, run(Hostile(seed, broken=False), batch), strict=True):
        [(gap, count)] = one.open.items()
        first = outcome.rounds[0].script
        behind = gap - sum(first.drop[:gap])
        filled = sum(first.counts[:behind])
        words = first.fill[filled : filled + count]
        assert len(words) == count
        assert set(words) <= set(WORDS)
        state, start = first.apply(one.draft), behind + filled
        assert state[start : start + count] == words
        beside = state[max(start - 1, 0) : start + count + 1]
        assert all(a != b for a, b in pairwise(beside))
        assert not set(words) & {*state[max(start - 1, 0) : start], *state[start + count :][:1]}
        # Each of them is followed through all later iterations, and none goes.
        own = [False] * len(one.draft)
        marks = first.splice(own, [filled <= i < filled + count for i in range(len(first.fill))])
        for round_ in outcome.rounds[1:]:
            marks = round_.script.splice(marks, [False] * len(round_.script.fill))
        kept = [token for token, mine in zip(outcome.tokens, marks, strict=True) if mine]
        assert tuple(kept) == words
        # They are not the person's own: whoever goes on from here may change them.
        assert not any(outcome.locks())


def test_what_is_left_to_the_model_may_be_anything() -> None:
    greedy = Scripted(
        lambda r: [t in (8, 9) for t in r], lambda r: [0] * (len(r) - 1), lambda r: [8] * len(r)
    )
    free = Request(source=(5,), draft=(5, 6), open={1: 2})
    held = Request(source=(5,), draft=(5, 6), open={1: 2}, only={1: WORDS})
    outcomes = run(greedy, [free, held])
    assert [outcome.rounds[0].script.fill for outcome in outcomes] == [(8, 8), (8, 9)]
    # And it may be taken back, which a word may not.
    assert [outcome.tokens for outcome in outcomes] == [(5, 6), (5, 8, 9, 6)]


def test_where_two_gaps_become_one_each_has_its_own() -> None:
    sevens = Scripted(lambda r: [t == 7 for t in r], lambda r: [0] * (len(r) - 1), lambda r: [7] * len(r))
    behind, before = (
        Request(source=(5,), draft=(5, 6, 5), drop=(False, True, False), open={1: 2, 2: 1}, only={gap: WORDS})
        for gap in (2, 1)
    )
    outcomes = run(sevens, [behind, before])
    one, other = (outcome.rounds[0].script.fill for outcome in outcomes)
    assert one[:2] == (7, 7)
    assert one[2] in WORDS
    assert other[2] == 7
    assert set(other[:2]) <= set(WORDS)
    # What was left to the model it takes back, words it may not.
    assert [outcome.tokens for outcome in outcomes] == [(5, one[2], 5), (5, *other[:2], 5)]


def test_what_cannot_be() -> None:
    with pytest.raises(InputError, match="nothing is opened in gap 1"):
        Request(source=(5,), draft=(5, 6), only={1: WORDS})
    with pytest.raises(InputError, match="gap 1 must have a choice"):
        Request(source=(5,), draft=(5, 6), open={1: 1}, only={1: ()})
