"""Keystrokes: the cheapest edits against brute force, and what help can and cannot do."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from levt.errors import ConfigError, InputError
from levt.evaluation.effort import Costs, asking, by_hand, simulate

texts = st.lists(st.sampled_from(["a", "bb", "cccc"]), max_size=6).map(" ".join)


def brute_force(text: str, reference: str, costs: Costs) -> float:
    """The cheapest of all ways, one word at a time."""
    x, y = text.split(), reference.split()

    @cache
    def cheapest(i: int, j: int, at_place: bool) -> float:
        if i == len(x) and j == len(y):
            return 0.0
        ways = []
        go = 0.0 if at_place else costs.go
        if i < len(x) and j < len(y) and x[i] == y[j]:
            ways.append(cheapest(i + 1, j + 1, False))
        if i < len(x):
            ways.append(go + costs.delete + cheapest(i + 1, j, True))
        if j < len(y):
            ways.append(go + costs.type * (len(y[j]) + 1) + cheapest(i, j + 1, True))
        return min(ways)

    return cheapest(0, 0, False)


numbers = st.sampled_from([0.0, 0.5, 1.0, 3.0])


@given(texts, texts, numbers, numbers, numbers)
def test_by_hand_is_the_cheapest_way(
    text: str, reference: str, go: float, delete: float, type_: float
) -> None:
    costs = Costs(go=go, delete=delete, type=type_)
    edits = by_hand(text, reference, costs)
    assert edits.cost == pytest.approx(brute_force(text, reference, costs))
    # The words that stay are a way of that price.
    x, y = text.split(), reference.split()
    assert all(x[i] == y[j] for i, j in edits.kept)
    price, left, before = 0.0, -1, -1
    for right, after in (*edits.kept, (len(x), len(y))):
        typed = sum(len(word) + 1 for word in y[before + 1 : after])
        price += delete * (right - left - 1) + type_ * typed
        price += go * (right - left > 1 or after - before > 1)
        left, before = right, after
    assert price == pytest.approx(edits.cost)


@given(texts, texts, texts)
def test_a_good_judge_loses_one_keystroke_at_most(draft: str, proposal: str, reference: str) -> None:
    found = simulate([draft], [proposal], [reference])
    assert found.helped <= found.alone + 1
    assert (found.saved > 0) == (found.alone > found.helped)
    for help in ("delete", "ask"):
        assert simulate([draft], [proposal], [reference], help=help).helped <= found.alone


@given(texts, texts)
def test_extremes(draft: str, reference: str) -> None:
    perfect = simulate([draft], [reference], [reference])
    assert perfect.helped == min(perfect.alone + 1, 1.0 if draft != reference else 0.0)
    useless = simulate([draft], [draft], [reference])
    assert (useless.saved, useless.used) == (0.0, 0.0)
    assert by_hand(reference, reference).cost == 0
    # To say how many words are missing is dearer than to say nothing, and cheaper than to type them.
    less, more = (asking(draft, reference, numbers=numbers) for numbers in (False, True))
    assert less <= more <= by_hand(draft, reference).cost


def test_a_corpus_is_a_mean() -> None:
    found = simulate(["a dog walk", "a cat"], ["a dog walks", "a cat"], ["a dog walks", "a cat"])
    assert (found.alone, found.helped, found.used) == (4.0, 0.5, 0.5)
    assert [score.name for score in found.scores()] == ["keystrokes", "saved %", "used %"]
    nothing_to_do = simulate(["a"], ["a"], ["a"])
    assert nothing_to_do.saved == 0.0


def test_help_is_not_asked_for_where_it_costs_more() -> None:
    # One short word to type: to ask for it costs as much as to type it, and the model writes the wrong one.
    found = simulate(["x z"], ["x wrong z"], ["x y z"], help="ask")
    assert found.helped == found.alone
    assert found.used == 0.0


def test_bad_input() -> None:
    with pytest.raises(InputError, match="as many proposals"):
        simulate(["a"], [], ["a"])
    with pytest.raises(ConfigError, match="go must be"):
        Costs(go=-1.0)
