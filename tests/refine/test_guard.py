"""The last look at a result: what is put right, in an order in which nothing is left wrong."""

from levt.refine.guard import guard
from levt.refine.loop import Outcome
from levt.refine.request import Request
from levt.refine.steering import Plan
from levt.text.tokenizer import Tokenizer

TOKENIZER = Tokenizer.train(["a dog runs 0123456789"] * 9, 300)
BROKEN = 5 + 0xC3
"""A byte that makes up no character alone."""


def guarded(*tokens: int, numbers: tuple[str, ...] = (), lead: str | None = None) -> str:
    request = Request(source=())
    outcome = Outcome(request)
    outcome.become(tokens)
    guard(outcome, Plan(request=request, numbers=numbers, lead=lead), TOKENIZER)
    return TOKENIZER.decode(outcome.tokens)


def test_a_number_that_a_broken_byte_parts_is_put_right() -> None:
    *first, last = TOKENIZER.encode("a 6449")
    assert guarded(*first, last, numbers=("64549",)) == "a 64549"
    assert guarded(*first[:-1], BROKEN, first[-1], last, numbers=("64549",)) == "a 64549"


def test_a_broken_byte_at_the_beginning_leaves_no_space_too_many() -> None:
    dog = TOKENIZER.encode("dog")
    assert guarded(*dog, lead=" ") == guarded(BROKEN, *dog, lead=" ") == "dog"
