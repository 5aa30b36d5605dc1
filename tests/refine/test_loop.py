"""Algorithm 2 under policies that answer anything, and under ones whose every stop is known."""

import math
from random import Random
from typing import Any

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from mock_policy import VOCABULARY, Hostile, Rows, Scripted

from levt.edits.script import EditScript
from levt.refine.guidance import Guidance, occurrences
from levt.refine.loop import Outcome, refine
from levt.refine.options import Options
from levt.refine.phases import Policy, Round
from levt.refine.record import Rounds
from levt.refine.request import Request
from levt.text.specials import PLH

tokens = st.lists(st.integers(5, VOCABULARY - 1), max_size=6).map(tuple)


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """The parts of a request; put together in the test: the type checks of its construction draw random numbers."""
    draft = draw(tokens)
    marks = st.lists(st.booleans(), min_size=len(draft), max_size=len(draft)).map(tuple)
    locked, glued = draw(marks), draw(marks)
    drop = tuple(d and not lock for d, lock in zip(draw(marks), locked, strict=True))
    gaps = draw(st.dictionaries(st.integers(0, len(draft)), st.integers(0, 4), max_size=2))
    return {
        "source": draw(tokens),
        "draft": draft,
        "locked": locked,
        "glued": glued,
        "drop": drop,
        "open": {g: n for g, n in gaps.items() if g == len(draft) or not glued[g]},
        "banned": tuple(b for b in draw(st.lists(tokens, max_size=2)) if b),
        "options": {
            "max_iterations": draw(st.integers(1, 12)),
            "empty_gap_penalty": draw(st.floats(0, 3)),
            "min_edit": draw(st.sampled_from([0.0, 0.3, 1.0])),
            "max_ratio": draw(st.floats(0.5, 4)),
            "max_count": draw(st.integers(1, 300)),
        },
    }


def run(policy: Policy, batch: list[Request], sources: list[int] | None = None) -> list[Outcome]:
    memory = Rows(torch.tensor(list(range(len(batch))) if sources is None else sources))
    return refine(policy, memory, batch, Guidance.of(batch, positions=64, vocabulary=VOCABULARY))


@settings(max_examples=150)
@given(st.lists(requests(), min_size=1, max_size=5), st.integers(0, 10**6))
def test_whatever_the_policy_answers(made: list[dict[str, Any]], seed: int) -> None:
    batch = [Request(**{**parts, "options": Options(**parts["options"])}) for parts in made]
    for request, outcome in zip(batch, run(Hostile(seed), batch), strict=True):
        options = request.options
        assert outcome.stopped in ("unchanged", "repeated", "cycle", "limit")
        assert 1 <= outcome.iterations <= options.max_iterations
        assert outcome.iterations <= outcome.passes <= 3 * outcome.iterations
        # No special symbol, and never longer than allowed.
        assert all(5 <= t < VOCABULARY for t in outcome.tokens)
        assert len(outcome.tokens) + 2 <= options.limit(len(request.source) + 2, len(request.draft) + 2, 64)
        # The trace replays from the draft to the result; locked tokens survive, glued ones stay together.
        state, locked, glued = request.draft, request.locked, request.glued
        kept = [t for t, lock in zip(request.draft, request.locked, strict=True) if lock]
        for number, round_ in enumerate(outcome.rounds):
            script = round_.script
            assert max(script.counts) <= max(
                options.max_count, *[*request.open.values(), 0], sum(request.open.values())
            )
            if number == 0:
                assert all(d for d, must in zip(script.drop, request.drop, strict=True) if must)
            old_glue = glued
            kept_glue = [g for g, gone in zip(old_glue, script.drop, strict=True) if not gone]
            assert not any(count for count, g in zip(script.counts, kept_glue, strict=False) if g)
            fresh = [False] * len(script.fill)
            state, locked, glued = (
                script.apply(state),
                script.splice(locked, fresh),
                script.splice(glued, fresh),
            )
        assert state == outcome.tokens
        assert [t for t, lock in zip(state, locked, strict=True) if lock] == kept
        assert all(locked[i] for i in occurrences(state, request.banned))


@settings(max_examples=60)
@given(st.lists(requests(), min_size=2, max_size=6), st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_batch_mates_and_order_change_nothing(made: list[dict[str, Any]], seed: int, random: Random) -> None:
    batch = [Request(**{**parts, "options": Options(**parts["options"])}) for parts in made]
    policy = Hostile(seed)
    together = run(policy, batch)
    order = list(range(len(batch)))
    random.shuffle(order)
    shuffled = run(policy, [batch[i] for i in order], order)
    for i, one in enumerate(batch):
        alone = run(policy, [one], [i])[0]
        for other in (together[i], shuffled[order.index(i)]):
            assert (other.tokens, other.iterations, other.passes, other.stopped) == (
                alone.tokens, alone.iterations, alone.passes, alone.stopped,
            )  # fmt: skip


@settings(max_examples=100)
@given(st.lists(tokens, min_size=1, max_size=4), st.integers(0, 10**6))
def test_a_converged_result_is_a_fixed_point(drafts: list[tuple[int, ...]], seed: int) -> None:
    policy = Hostile(seed, broken=False)
    source = (5, 6, 7, 8)
    first = run(policy, [Request(source=source, draft=d) for d in drafts])
    for i, outcome in enumerate(first):
        if outcome.stopped in ("unchanged", "repeated"):
            again = run(policy, [Request(source=source, draft=outcome.tokens)], [i])[0]
            assert again.tokens == outcome.tokens


def keep_all(row: list[int]) -> list[bool]:
    return [False] * len(row)


def open_none(row: list[int]) -> list[int]:
    return [0] * (len(row) - 1)


def test_unchanged() -> None:
    write = Scripted(
        keep_all, lambda r: [2 if len(r) == 2 else 0] + [0] * (len(r) - 2), lambda r: [7] * len(r)
    )
    empty, same = run(write, [Request(source=(5,)), Request(source=(5,), draft=(9,))])
    assert (empty.tokens, empty.stopped, empty.iterations, empty.passes) == ((7, 7), "unchanged", 2, 4)
    assert (same.tokens, same.stopped, same.iterations, same.passes) == ((9,), "unchanged", 1, 2)


def test_repeated() -> None:
    """Insertion writes 7 where deletion has just removed it: the deleted state repeats."""
    loop = Scripted(lambda r: [t == 7 for t in r], lambda r: [1] + [0] * (len(r) - 2), lambda r: [7] * len(r))
    outcome = run(loop, [Request(source=(5,), draft=(8,))])[0]
    assert (outcome.tokens, outcome.stopped) == ((7, 8), "repeated")
    assert (outcome.iterations, outcome.passes) == (2, 2 + 1 + 1)


def test_asked_placeholders_are_no_repetition() -> None:
    """What was opened because somebody asked, the model would not open again: it may take back what it wrote."""
    quiet = Scripted(lambda r: [t == 7 for t in r], open_none, lambda r: [7] * len(r))
    outcome = run(quiet, [Request(source=(5,), draft=(8,), open={0: 1})])[0]
    assert [round_.script.fill for round_ in outcome.rounds] == [(7,), ()]
    assert (outcome.tokens, outcome.stopped, outcome.iterations) == ((8,), "repeated", 3)
    # From then on deletions that repeat end it as always.
    loop = Scripted(lambda r: [t == 7 for t in r], lambda r: [1] + [0] * (len(r) - 2), lambda r: [7] * len(r))
    outcome = run(loop, [Request(source=(5,), draft=(8,), open={0: 2})])[0]
    assert (outcome.tokens, outcome.stopped, outcome.iterations) == ((7, 8), "repeated", 3)


@settings(max_examples=100)
@given(st.lists(tokens, min_size=1, max_size=4), st.integers(0, 10**6), st.integers(1, 3))
def test_what_was_steered_ends_at_a_fixed_point_too(
    drafts: list[tuple[int, ...]], seed: int, asked: int
) -> None:
    policy = Hostile(seed, broken=False)
    source = (5, 6, 7, 8)
    for i, outcome in enumerate(
        run(policy, [Request(source=source, draft=d, open={0: asked}) for d in drafts])
    ):
        if outcome.stopped in ("unchanged", "repeated"):
            again = run(policy, [Request(source=source, draft=outcome.tokens)], [i])[0]
            assert again.tokens == outcome.tokens


def test_probabilities_are_those_of_what_was_done() -> None:
    """Forced or not: the policies keep everything and open nothing, each with the odds e⁵ : 1 (: 1 …)."""
    quiet = Scripted(keep_all, open_none, lambda r: [7] * len(r), max_count=2)
    request = Request(source=(5,) * 9, draft=(8, 9), drop=(True, False), open={1: 1, 2: 9})
    first = run(quiet, [request])[0].rounds[0]
    assert first.script.drop == (True, False)
    assert first.script.counts == (1, 9)
    e = math.exp(5)
    assert [math.exp(p) for p in first.drop_logp] == pytest.approx([1 / (e + 1), e / (e + 1)])
    # One more than the policy can open has no chance at all.
    assert [math.exp(p) for p in first.counts_logp] == pytest.approx([1 / (e + 2), 0.0])
    banned = run(quiet, [Request(source=(5,), draft=(8,), banned=((8,),))])[0].rounds[0]
    assert [math.exp(p) for p in banned.drop_logp] == pytest.approx([1 / (e + 1)])


def test_a_cycle_ends_at_the_state_that_was_reached_most_confidently() -> None:
    """(5 8) → (8 6) → (6 7) → (5 8): no two neighbours leave the same deleted state, so only history tells."""
    drops = {(5, 8): [True, False], (8, 6): [True, False], (6, 7): [True, True]}
    counts = {(8,): [0, 1], (6,): [0, 1], (): [2]}
    fills = {(8, PLH): [8, 6], (6, PLH): [6, 7], (PLH, PLH): [5, 8]}
    for favourite, result, kept in ((6, (8, 6), 1), (7, (6, 7), 2), (5, (5, 8), 3)):
        policy = Scripted(
            lambda r: [False, *drops[tuple(r[1:-1])], False],
            lambda r: counts[tuple(r[1:-1])],
            lambda r: [0, *fills[tuple(r[1:-1])], 0],
            sure_of=favourite,
        )
        outcome = run(policy, [Request(source=(5,), draft=(5, 8))])[0]
        assert (outcome.stopped, outcome.iterations) == ("cycle", 3)
        assert (outcome.tokens, len(outcome.rounds)) == (result, kept)


@pytest.mark.parametrize(
    ("first", "sums", "kept"),
    [
        (0, [(-1.0, 1), (-1.5, 3), (-1.2, 2)], 2),  # the mean counts, not the sum
        (1, [(-0.1, 1), (-1.2, 2), (-1.5, 3)], 3),  # what came before the cycle does not
        (0, [(math.nan, 2), (-9.0, 1), (math.nan, 1)], 2),
        (0, [(-1.0, 1), (0.0, 0), (-1.0, 1)], 2),
        (0, [(-2.0, 2), (-1.0, 1)], 1),
    ],
)
def test_a_cycle_is_cut_behind_its_best_mean(first: int, sums: list[tuple[float, int]], kept: int) -> None:
    scripts = [EditScript(drop=(False,) * n, counts=(0,) * n + (1,), fill=(6 + n,)) for n in range(len(sums))]
    rounds = [
        Round(script, decided=decided, decisions=decisions)
        for script, (decided, decisions) in zip(scripts, sums, strict=True)
    ]
    outcome = Outcome(Request(source=(5,)), Rounds(rounds))
    outcome.cut(first)
    assert len(outcome.rounds) == kept
    assert outcome.tokens == tuple(range(6, 6 + kept))


def test_limit() -> None:
    grow = Scripted(keep_all, lambda r: [1] + [0] * (len(r) - 2), lambda r: [7] * len(r))
    outcome = run(grow, [Request(source=(5,) * 30, options=Options(max_iterations=4))])[0]
    assert (outcome.tokens, outcome.stopped, outcome.iterations) == ((7,) * 4, "limit", 4)


def test_growth_ends_at_the_length_limit() -> None:
    grow = Scripted(keep_all, lambda r: [8] * (len(r) - 1), lambda r: [7] * len(r))
    outcome = run(grow, [Request(source=(5,) * 4, options=Options(max_ratio=3.0))])[0]
    assert len(outcome.tokens) + 2 == 18
    assert outcome.stopped == "unchanged"


def test_leave_alone_changes_nothing() -> None:
    rewrite = Scripted(lambda r: [True] * len(r), lambda r: [3] * (len(r) - 1), lambda r: [7] * len(r))
    outcome = run(rewrite, [Request(source=(5,), draft=(8, 9), options=Options(min_edit=1.0))])[0]
    assert (outcome.tokens, outcome.stopped) == ((8, 9), "unchanged")


def test_asked_placeholders_open_where_they_were_asked() -> None:
    quiet = Scripted(lambda r: [t == 6 for t in r], open_none, lambda r: [7] * len(r))
    request = Request(source=(5,), draft=(5, 6, 8), open={1: 2})
    assert run(quiet, [request])[0].tokens == (5, 7, 7, 8)
    # The left neighbour goes: the placeholders stand behind the last token kept before the gap.
    assert run(quiet, [Request(source=(5,), draft=(5, 6, 8), open={2: 1})])[0].tokens == (5, 7, 8)


def test_score_counts_what_the_model_decided_alone() -> None:
    quiet = Scripted(keep_all, open_none, lambda r: [7] * len(r))
    locked = Request(source=(5,), draft=(8,), locked=(True,), open={0: 1})
    free = Request(source=(5,), draft=(8,))
    rounds = [run(quiet, [r])[0].rounds[0] for r in (locked, free)]
    # Locked: one filled token and one gap left to the model. Free: one token and two gaps.
    assert [r.decisions for r in rounds] == [2, 3]
    assert all(r.decided < 0 for r in rounds)


@pytest.mark.parametrize("field", ["locked", "glued", "drop"])
def test_marks_must_fit_the_draft(field: str) -> None:
    from levt.errors import InputError

    with pytest.raises(InputError, match="one value per draft token"):
        Request(source=(5,), draft=(5, 6), **{field: (True,)})
