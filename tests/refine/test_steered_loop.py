"""What a person has decided, in the loop: it is done, it is nobody's decision, and it holds at the very end."""

import pickle

import pytest
from mock_policy import VOCABULARY, Scripted
from test_loop import keep_all, open_none, run

from levt.refine.guidance import Guidance
from levt.refine.options import Options
from levt.refine.request import Request

ONCE = Options(max_iterations=1)


@pytest.mark.parametrize(("locked", "result"), [((False, False), ()), ((True, False), (5,))])
def test_what_comes_together_in_the_last_iteration_is_struck(
    locked: tuple[bool, bool], result: tuple[int, ...]
) -> None:
    """5 6 must not stand there; it does once 9 has gone, and no iteration is left to see it."""
    closes = Scripted(lambda r: [t == 9 for t in r], open_none, lambda r: [7] * len(r))
    request = Request(
        source=(5,),
        draft=(5, 9, 6),
        locked=(locked[0], False, locked[1]),
        banned=((5, 6),),
        options=ONCE,
    )
    outcome = run(closes, [request])[0]
    assert (outcome.tokens, outcome.stopped) == (result, "limit")


def test_where_nobody_wants_placeholders_none_are_opened() -> None:
    grows = Scripted(keep_all, lambda r: [2] * (len(r) - 1), lambda r: [7] * len(r))
    first = run(grows, [Request(source=(5,) * 9, draft=(8, 9), open={1: 0})])[0].rounds[0]
    assert first.script.counts == (2, 0, 2)
    # Two tokens, two gaps and four fillings are the model's own.
    assert first.decisions == 2 + 2 + 4


def test_what_must_go_is_nobody_s_decision() -> None:
    quiet = Scripted(keep_all, open_none, lambda r: [7] * len(r))
    crossed = Request(source=(5,), draft=(8, 9), drop=(True, False), options=ONCE)
    banned = Request(source=(5,), draft=(8, 9), banned=((8,),), options=ONCE)
    for request in (crossed, banned):
        first = run(quiet, [request])[0].rounds[0]
        assert first.script.drop == (True, False)
        assert first.decisions == 1 + 2


def test_a_cycle_that_is_entered_late_is_cut_inside_it() -> None:
    """(9 9) → (5 8) → (8 6) → (5 8): the way into the cycle is as sure as the way round it, and is not part of it."""
    drops = {(9, 9): [True, True], (5, 8): [True, False], (8, 6): [True, True]}
    counts = {(8,): [0, 1], (): [2]}
    fills = {1: [8, 6], 2: [5, 8]}
    policy = Scripted(
        lambda r: [False, *drops[tuple(r[1:-1])], False],
        lambda r: counts[tuple(r[1:-1])],
        lambda r: [0, *fills[r.count(4)], 0],
        sure_of=5,
    )
    outcome = run(policy, [Request(source=(5,), draft=(9, 9))])[0]
    assert (outcome.stopped, outcome.iterations) == ("cycle", 3)
    assert (outcome.tokens, len(outcome.rounds)) == ((5, 8), 3)


def test_a_crossed_out_token_may_be_written_again() -> None:
    """The first iteration was not the model's own, so to be where it began is no cycle."""
    again = Scripted(
        keep_all,
        lambda r: [1, 0] if len(r) == 3 else [0] * (len(r) - 1),
        lambda r: [8] * len(r),
    )
    outcome = run(again, [Request(source=(5,), draft=(8, 9), drop=(True, False))])[0]
    assert (outcome.tokens, outcome.stopped, outcome.iterations) == ((8, 9), "unchanged", 2)


def test_what_must_go_now_leaves_what_was_crossed_out_as_it_was() -> None:
    requests = [Request(source=(5,), draft=(8, 9), drop=(True, False), banned=((9,),))]
    guidance = Guidance.of(requests, positions=64, vocabulary=VOCABULARY)
    assert guidance.forced_drop(guidance.state).tolist() == [[False, True, True, False]]
    assert guidance.drop is not None
    assert guidance.drop.tolist() == [[False, True, False, False]]


def test_no_state_is_longer_than_allowed_but_for_the_draft() -> None:
    assert Options(max_ratio=2.0, min_room=10).limit(8, 3, 64) == 16
    assert Options(max_ratio=2.0, min_room=10).limit(4, 3, 64) == 10
    assert Options(max_ratio=2.0, min_room=10).limit(40, 3, 64) == 64
    assert Options(max_ratio=2.0, min_room=10).limit(4, 70, 64) == 70


def test_a_row_goes_to_another_process_without_its_batch() -> None:
    quiet = Scripted(keep_all, open_none, lambda r: [7] * len(r))
    request = Request(source=(5,), draft=(8, 9))
    many, alone = run(quiet, [request] * 200)[0].rounds, run(quiet, [request])[0].rounds
    assert pickle.dumps(many) == pickle.dumps(alone)
    assert list(pickle.loads(pickle.dumps(many))) == list(alone)
