"""Traces: exact replay, tokens that keep their identity, and a strict JSON form."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from traces import Plain, built, piece, plain_traces

from levt.edits.follow import Mark
from levt.edits.iteration import Iteration
from levt.edits.script import EditScript, between
from levt.edits.trace import Trace
from levt.edits.words import join
from levt.errors import InputError
from levt.text.specials import PLH


@given(plain_traces())
def test_replay_is_exact(plain: Plain) -> None:
    trace = built(plain)
    states = trace.replay()
    assert states[0] == trace.draft
    assert len(states) == len(trace.iterations) + 1
    for before, after, iteration in zip(states, states[1:], trace.iterations, strict=False):
        assert iteration.script.apply(before) == after
    assert trace.result == states[-1]
    assert trace.text == join([piece(token) for token in trace.result])


@given(plain_traces())
def test_identities_are_stable_and_never_used_twice(plain: Plain) -> None:
    trace = built(plain)
    states = trace.states()
    assert [tuple(t.token for t in state) for state in states] == trace.replay()
    known: dict[int, Any] = {}
    gone: set[int] = set()
    for number, state in enumerate(states):
        identities = [t.identity for t in state]
        assert len(set(identities)) == len(identities)
        assert not gone & set(identities), "a deleted token came back"
        for t in state:
            assert known.setdefault(t.identity, t) == t
            assert t.born <= number
        gone |= known.keys() - set(identities)
    assert sorted(known) == list(range(len(known)))
    for number, (before, after, iteration) in enumerate(
        zip(states, states[1:], trace.iterations, strict=False), 1
    ):
        kept = [t for t, drop in zip(before, iteration.script.drop, strict=True) if not drop]
        assert [t for t in after if t.born < number] == kept


@given(plain_traces())
def test_changes_hold_both_states(plain: Plain) -> None:
    trace = built(plain)
    states = trace.states()
    assert len(trace.changes()) == len(trace.iterations)
    for before, after, line, iteration in zip(
        states, states[1:], trace.changes(), trace.iterations, strict=False
    ):
        assert [c.token for c in line if c.mark is not Mark.INSERT] == list(before)
        assert [c.token for c in line if c.mark is not Mark.DELETE] == list(after)
        assert [c.before for c in line if c.before is not None] == list(range(len(before)))
        assert [c.after for c in line if c.after is not None] == list(range(len(after)))
        marks = [c.mark for c in line]
        assert (Mark.INSERT, Mark.DELETE) not in list(pairwise(marks))
        decided = [c.probability for c in line if c.mark is not Mark.INSERT]
        assert decided == list(iteration.drop_probs or [None] * len(before))


@given(plain_traces())
def test_applying_the_ops_one_by_one_gives_the_states(plain: Plain) -> None:
    trace = built(plain)
    ops = list(trace.ops())
    state = list(trace.draft)
    for number, (expected, iteration) in enumerate(zip(trace.replay()[1:], trace.iterations, strict=True), 1):
        mine = [op for op in ops if op.iteration == number]
        deletions = [op for op in mine if op.op == "delete"]
        placeholders = [op for op in mine if op.op == "insert"]
        fills = [op for op in mine if op.op == "fill"]
        assert mine == deletions + placeholders + fills
        for op in reversed(deletions):
            assert state.pop(op.position) == op.token
        for op in placeholders:
            state.insert(op.position, op.token)
        for op in fills:
            assert state[op.position] == PLH
            state[op.position] = op.token
            assert op.piece == piece(op.token)
        assert tuple(state) == expected
        assert [op.identity for op in placeholders] == [op.identity for op in fills]
        assert [op.probability for op in fills] == list(
            iteration.fill_probs or [None] * len(iteration.script.fill)
        )
        if iteration.counts_probs is not None:
            by_gap = [
                p
                for p, n in zip(iteration.counts_probs, iteration.script.counts, strict=True)
                for _ in range(n)
            ]
            assert [op.probability for op in placeholders] == by_gap
        if iteration.drop_probs is not None:
            of_drops = [p for p, d in zip(iteration.drop_probs, iteration.script.drop, strict=True) if d]
            assert [op.probability for op in deletions] == of_drops


@given(plain_traces())
def test_json_round_trip(plain: Plain) -> None:
    trace = built(plain)
    written = json.loads(json.dumps(trace.to_json(), allow_nan=False))
    assert Trace.from_json(written) == trace
    assert written["result"]["text"] == trace.text


def small() -> Trace:
    iteration = Iteration(
        script=between([5, 6], [6, 7]),
        pieces=("c",),
        drop_probs=(0.5, 1.0),
        counts_probs=(1.0, 0.25),
        fill_probs=(0.75,),
    )
    return Trace(draft=(5, 6), draft_pieces=("▁a", "▁be"), iterations=(iteration,), stopped="limit")


def test_a_small_trace_reads_as_expected() -> None:
    trace = small()
    assert trace.result == (6, 7)
    assert trace.result_pieces == ("▁be", "c")
    assert trace.text == "bec"
    assert [tuple(op) for op in trace.ops()] == [
        (1, "delete", 0, 5, "▁a", 0.5, 0),
        (1, "insert", 1, PLH, "<plh>", 0.25, 2),
        (1, "fill", 1, 7, "c", 0.75, 2),
    ]


def test_numbers_as_javascript_writes_them() -> None:
    value = small().to_json()
    value["iterations"][0]["drop_probs"] = [0.5, 1]
    assert Trace.from_json(value) == small()


def at(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(value: Any) -> None:
        for key in path[:-1]:
            value = value[key]
        value[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (at("version", to=2), "trace.version must be 1, got 2"),
        (at("version", to=True), "trace.version must be 1, got True"),
        (at("extra", to=0), "unknown key 'extra'"),
        (lambda v: v.pop("stopped"), "missing key 'stopped'"),
        (at("stopped", to="tired"), "trace: trace: stopped must be one of unchanged, .*, got 'tired'"),
        (at("stopped", to=3), "trace.stopped must be a string or null, got 3"),
        (at("iterations", to={}), "trace.iterations must be a list"),
        (at("draft", "tokens", to=[5]), "draft_pieces must have one text per token, 1 here, got 2"),
        (at("draft", "tokens", 0, to=PLH), "draft must not hold <plh>"),
        (at("draft", "pieces", 0, to=None), r"trace.draft.pieces\[0\] must be a string, got None"),
        (at("draft", "pieces", 1, to="▁it"), "trace.result is not what the edits give"),
        (
            at("draft", to={"tokens": [5], "pieces": ["▁a"]}),
            "iteration 1 must edit 1 tokens, its script has 2",
        ),
        (
            at("iterations", 0, "pieces", to=[]),
            r"trace.iterations\[0\]: iteration: pieces must have one text",
        ),
        (at("iterations", 0, "fill_probs", to=[1.5]), "fill_probs must lie between 0 and 1, got 1.5"),
        (at("iterations", 0, "fill_probs", to=[float("nan")]), "must be a finite number, got nan"),
        (at("iterations", 0, "fill_probs", to=[10**400]), "must be a finite number, got 1000"),
        (at("iterations", 0, "drop_probs", to=[1.0]), "drop_probs must have 2 numbers, like drop, got 1"),
        (
            at("iterations", 0, "drop_probs", to=None),
            r"trace.iterations\[0\].drop_probs must be a list, got None",
        ),
        (
            at("iterations", 0, "script", "drop", to=[1, 0]),
            r"trace.iterations\[0\].script.drop\[0\] must be true",
        ),
        (at("result", "text", to="other"), "trace.result is not what the edits give"),
        (at("result", to=None), "trace.result is not what the edits give"),
    ],
)
def test_json_is_read_strictly(change: Callable[[dict[str, Any]], None], message: str) -> None:
    value = copy.deepcopy(small().to_json())
    change(value)
    with pytest.raises(InputError, match=message):
        Trace.from_json(value)


def test_a_trace_without_iterations_is_its_draft() -> None:
    trace = Trace.of([], [], piece)
    assert trace.replay() == [()]
    assert (trace.text, list(trace.ops()), trace.changes()) == ("", [], [])
    assert replace(trace, draft=(5,), draft_pieces=("▁a",)).text == "a"


def test_of_asks_for_the_text_of_every_token() -> None:
    trace = Trace.of([5], [EditScript(drop=(True,), counts=(2,), fill=(6, 7))], piece, stopped="cycle")
    assert trace.iterations[0].pieces == ("▁be", "c")
    assert trace.text == "bec"
