"""Wishes whose parts touch each other, stand in some order, or are spelt as the draft spells them."""

import pytest
from test_steering import BPE

from levt.refine.steering import Plan, plan
from levt.refine.wish import Wish
from levt.text.parts import encode_inside


def planned(draft: str, **more: object) -> Plan:
    return plan(Wish(source="x", draft=draft, **more), (5, 6, 7), BPE)  # type: ignore[arg-type]


def shown(made: Plan, marks: tuple[bool, ...]) -> str:
    return BPE.decode([token for token, mark in zip(made.request.draft, marks, strict=True) if mark])


@pytest.mark.parametrize(
    ("draft", "terms", "missing"),
    [
        ("the dog and the cat", ("dog", "cat"), ()),
        ("the cat and the dog", ("dog", "cat"), (1,)),  # the second stands before the first
        ("犬が", ("犬", "が"), ()),  # it may begin where the first ends
        ("が犬が", ("犬", "が"), ()),
    ],
)
def test_terms_of_a_draft_count_in_the_order_given(
    draft: str, terms: tuple[str, ...], missing: tuple[int, ...]
) -> None:
    assert tuple(number for number, _ in planned(draft, terms=terms, ordered=True).missing) == missing
    assert planned(draft, terms=terms).missing == ()


def test_what_must_stay_and_what_must_go_may_touch() -> None:
    made = planned("a dog.", keep=("dog",), drop=((5, 6),))
    assert (shown(made, made.request.locked), shown(made, made.request.drop)) == ("dog", ".")
    made = planned("dogs", keep=((3, 4),), drop=((0, 3),))
    assert (shown(made, made.request.locked), shown(made, made.request.drop)) == ("s", "dog")


@pytest.mark.parametrize("at", [1, 2, 5])
def test_placeholders_may_open_at_both_ends_of_what_must_stay(at: int) -> None:
    made = planned("a dog", keep=("dog",), insert_at={at: 2})
    first = made.request.locked.index(True)
    assert made.request.open == {first if at < 5 else len(made.request.draft): 2}


def test_what_must_go_is_banned_as_it_would_be_written() -> None:
    """A word behind a space, one inside a text without spaces, and as the draft has it behind a bracket."""
    assert planned("", drop=("dog",)).request.banned == (tuple(BPE.encode("dog")),)
    assert planned("", drop=("犬",)).request.banned == (tuple(encode_inside(BPE, "犬")),)
    made = planned("(cold) dogs", drop=("cold",)).request
    crossed = tuple(token for token, gone in zip(made.draft, made.drop, strict=True) if gone)
    assert BPE.decode(crossed) == "cold"
    assert {crossed, tuple(BPE.encode("cold"))} == set(made.banned)
    assert len(made.banned) == 2
