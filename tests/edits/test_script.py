"""Edit scripts against their definitions, against brute force, and against the batched edits."""

import json
from itertools import combinations, product
from typing import Any

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given

from levt.edits.oracle import oracle
from levt.edits.script import EditScript, between
from levt.edits.state import State, delete, fill, insert
from levt.errors import InputError
from levt.text.specials import PLH

tokens = st.lists(st.integers(5, 8), max_size=9)


Plain = tuple[list[int], list[bool], list[int], list[int]]


@st.composite
def edited(draw: st.DrawFn) -> Plain:
    """A state and the parts of a script for it; no object of levt, whose checks draw random numbers."""
    state = draw(tokens)
    drop = draw(st.lists(st.booleans(), min_size=len(state), max_size=len(state)))
    gaps = drop.count(False) + 1
    counts = draw(st.lists(st.integers(0, 2), min_size=gaps, max_size=gaps))
    filled = draw(st.lists(st.integers(5, 8), min_size=sum(counts), max_size=sum(counts)))
    return state, drop, counts, filled


def built(plain: Plain) -> tuple[list[int], EditScript]:
    state, drop, counts, filled = plain
    return state, EditScript(drop=tuple(drop), counts=tuple(counts), fill=tuple(filled))


@given(edited())
def test_the_states_in_between_are_as_defined(plain: Plain) -> None:
    state, script = built(plain)
    kept = [t for t, drop in zip(state, script.drop, strict=True) if not drop]
    assert list(script.deleted(state)) == kept
    opened = script.inserted(state)
    assert [t for t in opened if t != PLH] == kept
    # The counts can be read off again: runs of placeholders between the kept tokens.
    runs, length = [], 0
    for token in (*opened, None):
        if token == PLH:
            length += 1
        else:
            runs.append(length)
            length = 0
    assert tuple(runs) == script.counts
    result = script.apply(state)
    assert len(result) == len(opened)
    assert tuple(after for after, before in zip(result, opened, strict=True) if before == PLH) == script.fill
    assert all(a == b for a, b in zip(result, opened, strict=True) if b != PLH)
    assert script.is_identity == (not any(script.drop) and not any(script.counts))
    if script.is_identity:
        assert list(result) == state


@given(st.lists(edited(), min_size=1, max_size=4))
def test_batched_edits_agree(plains: list[Plain]) -> None:
    pairs = [built(plain) for plain in plains]
    width = 3 * 10 + 4
    before = State.of([state for state, _ in pairs], width=width)
    drop = torch.zeros(len(pairs), width, dtype=torch.bool)
    counts = torch.zeros(len(pairs), width - 1, dtype=torch.long)
    for i, (_, script) in enumerate(pairs):
        drop[i, 1 : len(script.drop) + 1] = torch.tensor(script.drop, dtype=torch.bool)
        counts[i, : len(script.counts)] = torch.tensor(script.counts)
    shorter = delete(before, drop)
    assert shorter.rows() == [list(script.deleted(state)) for state, script in pairs]
    longer = insert(shorter, counts, width)
    assert longer.rows() == [list(script.inserted(state)) for state, script in pairs]
    flat = torch.tensor([t for _, script in pairs for t in script.fill], dtype=torch.long)
    new = torch.zeros_like(longer.y).masked_scatter(longer.placeholders, flat)
    assert fill(longer, new).rows() == [list(script.apply(state)) for state, script in pairs]


@given(tokens, tokens)
def test_between_reaches_the_target(state: list[int], target: list[int]) -> None:
    for tie in ("leftmost", "rightmost"):
        assert list(between(state, target, tie).apply(state)) == target
    assert between(state, state).is_identity


def test_no_shorter_script_exists_and_ties_keep_the_leftmost() -> None:
    short = [s for n in range(5) for s in product((5, 6), repeat=n)]
    for state, target in product(short, short):
        script = between(state, target)
        common = max(
            size
            for size in range(len(state) + 1)
            for kept in combinations(state, size)
            if kept in set(combinations(target, size))
        )
        assert script.drop.count(False) == common
        assert len(script.fill) == len(target) - common
    assert between([5, 5, 5], [5]).drop == (False, True, True)
    assert between([5], [5, 5, 5]).counts == (0, 2)
    assert between([5], [5, 5, 5], "rightmost").counts == (2, 0)


@given(tokens, tokens)
def test_between_is_the_oracle(state: list[int], target: list[int]) -> None:
    edits = oracle(State.of([state]).y, State.of([target]).y)
    script = between(state, target)
    assert edits.drop[0, 1 : len(state) + 1].tolist() == list(script.drop)
    assert edits.counts[0, : len(script.counts)].tolist() == list(script.counts)


@given(edited(), tokens)
def test_splice_moves_other_things_alike(plain: Plain, other: list[int]) -> None:
    state, script = built(plain)
    names = {token: f"<{token}>" for token in range(5, 9)}
    spliced = script.splice([names[t] for t in state], [names[t] for t in script.fill])
    assert spliced == tuple(names[t] for t in script.apply(state))
    if len(other) != len(state):
        with pytest.raises(InputError, match=f"is for {len(state)} tokens, got {len(other)}"):
            script.splice(other, script.fill)
    with pytest.raises(InputError, match="placeholders"):
        script.splice(state, [*script.fill, 5])


@pytest.mark.parametrize(
    ("drop", "counts", "fill", "message"),
    [
        ((False,), (0,), (), "one number per gap after deletion, 2 here, got 1"),
        ((True,), (0, 0), (), "one number per gap after deletion, 1 here, got 2"),
        ((), (-1,), (), "at least 0, got -1 in gap 0"),
        ((), (2,), (5,), "one token per placeholder, 2 here, got 1"),
        ((), (1,), (-5,), "at least 0, got -5 at position 0"),
        ((), (1,), (PLH,), "must not hold <plh>"),
        ((), (1,), (0,), "must not hold <pad>"),
    ],
)
def test_what_is_wrong_is_said(
    drop: tuple[bool, ...], counts: tuple[int, ...], fill: tuple[int, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        EditScript(drop=drop, counts=counts, fill=fill)


def test_states_that_do_not_fit_are_refused() -> None:
    script = EditScript(drop=(False,), counts=(0, 0), fill=())
    for edit in (script.apply, script.deleted, script.inserted):
        with pytest.raises(InputError, match="for 1 tokens, got 2"):
            edit([5, 6])
        with pytest.raises(InputError, match="must not hold <plh>"):
            edit([PLH])


@given(edited())
def test_json_round_trip(plain: Plain) -> None:
    script = built(plain)[1]
    assert EditScript.from_json(json.loads(json.dumps(script.to_json()))) == script


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "must be an object"),
        ({"drop": [], "counts": [0]}, "missing key 'fill'"),
        ({"drop": [], "counts": [0], "fill": [], "note": 1}, "unknown key 'note'"),
        ({"drop": [0], "counts": [0, 0], "fill": []}, r"script.drop\[0\] must be true or false, got 0"),
        ({"drop": [], "counts": [True], "fill": [5]}, r"script.counts\[0\] must be an integer, got True"),
        ({"drop": [], "counts": [1.0], "fill": [5]}, r"script.counts\[0\] must be an integer, got 1.0"),
        ({"drop": [], "counts": "0", "fill": []}, "script.counts must be a list"),
        ({"drop": [], "counts": [1], "fill": []}, "script: edit script: fill must have"),
    ],
)
def test_json_is_read_strictly(value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        EditScript.from_json(value)
