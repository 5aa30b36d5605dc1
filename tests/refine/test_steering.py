"""Wishes in text under a policy that answers anything: what must stay stays, in the decoded text."""

from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import assume, given, settings
from mock_policy import Hostile, Rows, Scripted

from levt.errors import InputError
from levt.refine.guard import guard
from levt.refine.guidance import Guidance
from levt.refine.loop import Outcome, refine
from levt.refine.options import Options
from levt.refine.phases import Policy
from levt.refine.places import find, whole
from levt.refine.placing import Run, placing, settle, together
from levt.refine.request import Request
from levt.refine.steering import Plan, plan
from levt.refine.wish import Wish
from levt.text.normalise import Normalisation
from levt.text.tokenizer import Tokenizer

LINES = ["a dog runs over the snow", "the dogs (cold) are 10 cm high", "Hundehütte, naïve ▁ 犬が走る"] * 6
BPE = Tokenizer.train(LINES, 330)
FOLDED = Tokenizer.train(
    LINES, 330, normalisation=Normalisation(form="NFKC", lowercase=True, collapse_spaces=True)
)
PIECES = Tokenizer.from_pieces(["do@@", "gs", "a", "the", "run", "cat@@", "s", "."], continuation="@@")
texts = st.text(st.sampled_from("adogs runté犬1.(\u0301▁\ue000ß") | st.characters(codec="utf-8"), max_size=18)


def runner(policy: Policy, tokenizer: Tokenizer) -> Run:
    def run(rows: Any, requests: Any) -> list[Outcome]:
        guidance = Guidance.of(requests, positions=64, vocabulary=tokenizer.size)
        return refine(policy, Rows(torch.tensor(list(rows))), requests, guidance)

    return run


def answer(wishes: list[Wish], policy: Policy, tokenizer: Tokenizer = BPE) -> list[Outcome]:
    plans = [plan(wish, (5, 6, 7), tokenizer) for wish in wishes]
    outcomes = settle(plans, runner(policy, tokenizer))
    for made, outcome in zip(plans, outcomes, strict=True):
        guard(outcome, made, tokenizer)
    return outcomes


@st.composite
def kept(draw: st.DrawFn, tokenizer: Tokenizer) -> dict[str, Any]:
    draft = tokenizer.normalise(draw(texts))
    keep: list[Any] = []
    for _ in range(draw(st.integers(0, 2)) if draft.strip() else 0):
        start = draw(st.integers(0, len(draft) - 1))
        end = draw(st.integers(start + 1, len(draft)))
        if draft[start:end].strip():
            keep.append((start, end) if draw(st.booleans()) else draft[start:end])
    terms = [term for term in draw(st.lists(texts, max_size=3)) if tokenizer.normalise(term).strip()]
    return {
        "draft": draft,
        "keep": tuple(keep),
        "terms": tuple(terms),
        "ordered": draw(st.booleans()),
        "source": "x",
        "options": draw(st.integers(1, 5)),
    }


@pytest.mark.parametrize("tokenizer", [BPE, FOLDED], ids=["plain", "folded"])
@settings(max_examples=100)
@given(st.data(), st.integers(0, 10**6))
def test_what_must_stay_or_appear_is_in_the_text(
    tokenizer: Tokenizer, data: st.DataObject, seed: int
) -> None:
    made = data.draw(st.lists(kept(tokenizer), min_size=1, max_size=2))
    wishes = [Wish(**{**parts, "options": Options(max_iterations=parts["options"])}) for parts in made]
    outcomes = answer(wishes, Hostile(seed, vocabulary=tokenizer.size), tokenizer)
    for wish, outcome in zip(wishes, outcomes, strict=True):
        text = tokenizer.decode(outcome.tokens)
        parts = [item if isinstance(item, str) else wish.draft[item[0] : item[1]] for item in wish.keep]
        for part in parts:
            assert tokenizer.normalise(part).strip() in text
        for term in wish.terms:
            assert whole(text, tokenizer.normalise(term).strip())
        state = outcome.request.draft
        for round_ in outcome.rounds:
            state = round_.script.apply(state)
        assert state == outcome.tokens
        if wish.ordered:
            at = 0
            for term in wish.terms:
                # In this order there are whole words, too, not only parts of others.
                wanted = tokenizer.normalise(term).strip()
                at = min(start for start, _ in whole(text, wanted) if start >= at)


@pytest.mark.parametrize("tokenizer", [BPE, FOLDED], ids=["plain", "folded"])
@settings(max_examples=60)
@given(texts, st.lists(texts, min_size=1, max_size=2), st.integers(0, 10**6))
def test_what_must_go_is_not_in_the_text(
    tokenizer: Tokenizer, draft: str, drop: list[str], seed: int
) -> None:
    drop = [text for text in drop if tokenizer.normalise(text).strip()]
    assume(drop)
    wish = Wish(source="x", draft=draft, drop=tuple(drop), options=Options(max_iterations=3))
    [outcome] = answer([wish], Hostile(seed, vocabulary=tokenizer.size), tokenizer)
    for text in drop:
        assert not whole(tokenizer.decode(outcome.tokens), tokenizer.normalise(text).strip())


def test_a_byte_beside_a_character_in_bytes_cannot_break_it() -> None:
    """The model wants to write the byte <0xFF> into every gap, and the term is spelt in bytes."""
    byte = BPE.id_of("<0xFF>")
    assert byte is not None

    class Breaker(Scripted):
        def token(self, memory: Rows, y: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.one_hot(torch.full((int(where.sum()),), byte), BPE.size) * 9.0

    policy = Breaker(lambda r: [False] * len(r), lambda r: [1] * (len(r) - 1), lambda r: [])
    [outcome] = answer([Wish(source="x", terms=("é犭",), options=Options(max_iterations=2))], policy)
    assert "é犭" in BPE.decode(outcome.tokens)


def gluing(piece: str, *, sides: str) -> Policy:
    """A model that writes one piece before or behind every locked token, and deletes all that it may."""
    token = BPE.id_of(piece)
    assert token is not None

    class Gluing(Scripted):
        def token(self, memory: Rows, y: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.one_hot(torch.full((int(where.sum()),), token), BPE.size) * 9.0

    def counts(row: list[int]) -> list[int]:
        last = len(row) - 2
        return [int(i == last if sides == "behind" else i == 0) for i in range(len(row) - 1)]

    return Gluing(lambda r: [t > 4 for t in r], counts, lambda r: [])


def test_a_term_is_not_the_beginning_or_the_end_of_another_word() -> None:
    """The wart that was: the term "Kessel" and a model that wrote an "f" behind it gave "Kesself"."""
    wish = Wish(source="x", terms=("dog",), options=Options(max_iterations=1))
    [outcome] = answer([wish], gluing("s", sides="behind"))
    assert BPE.decode(outcome.tokens) == "dog"
    # In a draft a term need not begin with a space: the bracket may go, and a letter come instead.
    wish = Wish(source="x", draft="(dog)", terms=("dog",), options=Options(max_iterations=1))
    [outcome] = answer([wish], gluing("a", sides="before"))
    assert BPE.decode(outcome.tokens) == "dog"


def test_terms_that_would_run_together_are_parted() -> None:
    """In "dogs" only the s is kept, and the model deletes the rest: the term before it stays a word."""
    wish = Wish(source="x", draft="dogs", keep=((3, 4),), terms=("snow",), options=Options(max_iterations=1))
    made = plan(wish, (5,), BPE)
    policy = Scripted(lambda r: [t > 4 for t in r], lambda r: [0] * (len(r) - 1), lambda r: [])
    [placed] = together([placing(made)], runner(policy, BPE))
    assert BPE.decode(placed.request.draft) in ("snow dogs", "dog snows", "dogs snow")
    [outcome] = answer([wish], policy)
    assert whole(BPE.decode(outcome.tokens), "snow")


@pytest.mark.parametrize(
    ("tokenizer", "drop", "spelt"),
    [(BPE, "café", "cafe\u0301"), (FOLDED, "a dog", "a  DOG"), (FOLDED, "fit", "\ufb01t")],
    ids=["accent", "capitals", "ligature"],
)
def test_what_must_go_does_not_come_back_in_another_form(tokenizer: Tokenizer, drop: str, spelt: str) -> None:
    """The model spells it in bytes, between two words that may stay."""
    tokens = [5 + byte for byte in f" so {spelt} so".encode()]

    class Spelling(Scripted):
        def token(self, memory: Rows, y: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.one_hot(torch.tensor(tokens), tokenizer.size) * 9.0

    policy = Spelling(lambda r: [False] * len(r), lambda r: [len(tokens)], lambda r: [], max_count=20)
    wish = Wish(source="x", drop=(drop,), options=Options(max_iterations=1, min_room=30))
    [outcome] = answer([wish], policy, tokenizer)
    assert tokenizer.decode(outcome.tokens).split() == ["so", "so"]


def test_scripts_without_spaces_have_no_word_borders() -> None:
    wish = Wish(source="x", draft="犬が走る", terms=("走",), options=Options(max_iterations=1, min_edit=1.0))
    [outcome] = answer([wish], Hostile(0, vocabulary=BPE.size, broken=False))
    assert BPE.decode(outcome.tokens) == "犬が走る"


def test_only_the_kept_part_is_locked_even_inside_a_word() -> None:
    made = plan(Wish(source="x", draft="the dogs run", keep=("dog",)), (5,), BPE)
    pieces = BPE.pieces(made.request.draft)
    locked = "".join(p for p, lock in zip(pieces, made.request.locked, strict=True) if lock)
    assert locked == "▁dog"
    assert BPE.decode(made.request.draft) == "the dogs run"


def test_a_whole_word_is_kept_rather_than_a_part() -> None:
    assert find("dogs dog", "dog") == [(5, 8), (0, 3)]
    made = plan(Wish(source="x", draft="dogs dog", keep=("dog",)), (5,), BPE)
    assert made.request.locked[-1]
    assert not made.request.locked[0]
    both = plan(Wish(source="x", draft="dog dog", keep=("dog", "dog")), (5,), BPE)
    assert all(both.request.locked)
    second = plan(Wish(source="x", draft="dog dog", keep=((3, 7),)), (5,), BPE)
    assert second.request.locked == (False,) * (len(second.request.draft) // 2) + (True,) * (
        len(second.request.draft) // 2
    )


def test_a_span_is_the_word_that_it_marks_also_where_white_space_collapses() -> None:
    for draft, start, word in (("a  a", 3, 1), (" a   a a", 5, 1), ("a\t a  a", 6, 2), ("  a  a", 1, 0)):
        made = plan(Wish(source="x", draft=draft, keep=((start, draft.index("a", start) + 1),)), (5,), FOLDED)
        assert [i for i, lock in enumerate(made.request.locked) if lock] == [word]
        made = plan(Wish(source="x", draft=draft, drop=((start, draft.index("a", start) + 1),)), (5,), FOLDED)
        assert [i for i, gone in enumerate(made.request.drop) if gone] == [word]


def test_crossing_out_one_of_two_equal_words_does_not_ban_it() -> None:
    one = plan(Wish(source="x", draft="a dog a cat", drop=((0, 1),)), (5,), BPE)
    assert sum(one.request.drop) == 1
    assert one.request.banned == one.forbidden == ()
    every = plan(Wish(source="x", draft="a dog a cat", drop=("a",)), (5,), BPE)
    assert sum(every.request.drop) == 2
    assert every.forbidden == ("a",)
    never = plan(Wish(source="x", drop=("dog",)), (5,), BPE)
    assert never.request.banned == (tuple(BPE.encode("dog")),)


def test_placeholders_open_at_a_place_of_the_text() -> None:
    made = plan(Wish(source="x", draft="a dog runs", insert_at={2: 3, 10: 1}), (5,), BPE)
    before = len(BPE.encode("a"))
    assert made.request.open == {before: 3, len(made.request.draft): 1}
    # Before a space and behind it is one gap.
    both = plan(Wish(source="x", draft="a dog runs", insert_at={1: 1, 2: 3}), (5,), BPE)
    assert both.request.open == {before: 4}
    pieces = plan(Wish(source="x", draft="the run", insert_at={3: 1, 4: 1}), (5,), PIECES)
    assert pieces.request.open == {1: 2}
    assert plan(Wish(source="x", draft="a", insert_at={0: 0}), (5,), BPE).request.open == {0: 0}


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"draft": "a dog", "keep": ("cat",)}, "keep: the draft does not hold 'cat'"),
        ({"draft": "a dog", "keep": ("dog",), "drop": ("dog",)}, "'dog' must stay or appear, but 'dog' must go"),
        ({"terms": ("a dog",), "drop": ("dog",)}, "'a dog' must stay or appear, but 'dog' must go"),
        ({"draft": "a dog", "keep": ("a dog",), "drop": ((2, 4),)}, "'do' is crossed out, but overlaps 'a dog'"),
        ({"draft": "a dog", "keep": ("a dog",), "insert_at": {2: 1}}, "'a dog' must stay whole, got a place inside it"),
        ({"terms": (" ",)}, "terms: a text must not be blank"),
        ({"insert_at": {3: 1}}, "insert_at: the draft has 0 characters, got the place 3"),
    ],
)  # fmt: skip
def test_wishes_that_cannot_be(wish: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        plan(Wish(source="x", **wish), (5,), BPE)


def test_given_pieces() -> None:
    made = plan(Wish(source="x", draft="a do@@ gs run", keep=("do@@ gs",), terms=("cat@@ s",)), (5,), PIECES)
    assert made.request.locked == (False, True, True, False)
    assert made.request.glued == (False, False, True, False)
    assert (made.required, made.words) == (("dogs",), ("cats",))
    for seed in range(5):
        wish = Wish(source="x", draft="a do@@ gs run", keep=("do@@ gs",), terms=("cat@@ s",), drop=("a",))
        [outcome] = answer([wish], Hostile(seed, vocabulary=PIECES.size), PIECES)
        text = PIECES.decode(outcome.tokens)
        assert "dogs" in text
        assert "cats" in text
        assert "a" not in text.split()
    with pytest.raises(InputError, match="cannot be written with this model's vocabulary"):
        plan(Wish(source="x", terms=("dogs",)), (5,), PIECES)
    # A piece of the draft that the vocabulary lacks is seen to go.
    assert plan(Wish(source="x", draft="a zebra"), (5,), PIECES).request.drop == (False, True)


def test_a_piece_that_is_shown_as_nothing_takes_nothing_along() -> None:
    tokenizer = Tokenizer.from_pieces(["do@@", "gs", "@@"], continuation="@@")
    policy = Scripted(lambda r: [False] * len(r), lambda r: [0] * (len(r) - 1), lambda r: [])
    [outcome] = answer([Wish(source="x", draft="do@@ gs", drop=("@@",))], policy, tokenizer)
    assert tokenizer.decode(outcome.tokens) == "dogs"
    wish = Wish(source="x", draft="do@@ gs @@", drop=("@@",), keep=("gs",))
    [outcome] = answer([wish], policy, tokenizer)
    assert tokenizer.decode(outcome.tokens) == "dogs"


def test_a_missing_term_goes_where_the_model_wants_to_insert() -> None:
    dog = BPE.encode("dog")[0]

    def counts(row: list[int]) -> list[int]:
        return [int(right == dog) for right in row[1:]]

    policy = Scripted(lambda r: [False] * len(r), counts, lambda r: [])
    policy.token = lambda memory, y, where: torch.zeros(int(where.sum()), BPE.size)  # type: ignore[method-assign]
    made = plan(Wish(source="x", draft="a dog runs", terms=("snow",)), (5,), BPE)
    [placed] = together([placing(made)], runner(policy, BPE))
    assert BPE.decode(placed.request.draft) == "a snow dog runs"
    # Where nothing is to come, no term comes either, unless it has no other place.
    for asked, expected in (({0: 0, 1: 0}, "a dog snow"), ({0: 0, 1: 0, 5: 0}, "a snow dog")):
        made = plan(Wish(source="x", draft="a dog", terms=("snow",), insert_at=asked), (5,), BPE)
        [placed] = together([placing(made)], runner(policy, BPE))
        assert BPE.decode(placed.request.draft) == expected
    ordered = plan(Wish(source="x", draft="a dog runs", terms=("runs", "snow"), ordered=True), (5,), BPE)
    [placed] = together([placing(ordered)], runner(policy, BPE))
    assert BPE.decode(placed.request.draft) == "a dog runs snow"


def test_a_term_in_the_draft_is_locked_there() -> None:
    made = plan(Wish(source="x", draft="the dogs and a dog", terms=("dog",)), (5,), BPE)
    assert made.missing == ()
    assert (
        BPE.decode(t for t, lock in zip(made.request.draft, made.request.locked, strict=True) if lock)
        == "dog"
    )
    assert BPE.decode(made.request.draft[: made.request.locked.index(True)]) == "the dogs and a"


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_the_favourite_order_of_terms_is_found(count: int) -> None:
    """A model that is surer the fewer terms stand out of order: it likes descending ids."""
    terms = [(20 + i,) for i in range(count)]

    class Descending(Scripted):
        def placeholder(self, memory: Rows, y: torch.Tensor) -> torch.Tensor:
            sure = [sum(a > b for a, b in pairwise(r) if b >= 20) for r in y.tolist()]
            logits = torch.zeros(*y[:, 1:].shape, 3)
            logits[..., 0] = torch.tensor(sure).view(-1, 1).float()
            return logits

    policy = Descending(lambda r: [False] * len(r), lambda r: [], lambda r: [])
    free = Plan(request=Request(source=(5,)), missing=tuple(enumerate(terms)))
    given = Plan(request=Request(source=(5,)), missing=tuple(enumerate(terms)), ordered=True)
    run = runner(policy, BPE)
    assert [o.tokens for o in settle([free, given], run)] == [
        tuple(sorted((t for (t,) in terms), reverse=True)),
        tuple(t for (t,) in terms),
    ]


def test_an_escape_is_not_cut_in_two() -> None:
    """The draft spells U+E000 in two pieces; a term behind it must not take the second along."""
    made = plan(Wish(source="x", draft="\ue000r", terms=("r",)), (5,), BPE)
    locked = [t for t, lock in zip(made.request.draft, made.request.locked, strict=True) if lock]
    assert BPE.decode(locked) == "r"
