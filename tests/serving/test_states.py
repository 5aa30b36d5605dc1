"""States in tokens: what a person locks stays whole."""

from levt.refine.guard import guard
from levt.refine.loop import Outcome
from levt.refine.placing import allowed_gaps, put
from levt.refine.request import Request, Tokens
from levt.serving.states import characters_together, with_terms
from tiny_models import TOKENIZERS

TOKENIZER = TOKENIZERS.target


def test_nothing_comes_between_the_bytes_of_a_locked_character() -> None:
    one, two = (TOKENIZER.id_of(f"<0x{byte:02X}>") for byte in "Ź".encode())
    assert one is not None
    assert two is not None
    draft = (one, two, one, two, one, two)
    request = Request(source=(5,), draft=draft, locked=(True, True, False, True, True, False))
    assert characters_together(request, TOKENIZER) == [False, True, False, False, False, False]
    plan = with_terms(request, ["ああ"], TOKENIZER, ordered=False)
    assert allowed_gaps(plan, 0) == [0, 2, 3, 4, 5, 6]


def ids(*pieces: str) -> Tokens:
    found = tuple(TOKENIZER.id_of(piece) for piece in pieces)
    assert None not in found
    return found  # type: ignore[return-value]


def test_a_term_is_not_the_beginning_of_another_word() -> None:
    """As in a draft of text: a model that goes on behind the term does not make it another word."""
    plan = with_terms(Request(source=(5,), draft=ids("▁warm")), ["warm"], TOKENIZER, ordered=False)
    outcome = Outcome(plan.request, tokens=plan.request.draft)
    outcome.put(1, *ids("er"))
    assert TOKENIZER.decode(outcome.tokens) == "warmer"
    guard(outcome, plan, TOKENIZER)
    assert TOKENIZER.decode(outcome.tokens) == "warm"


def test_a_locked_word_is_not_torn_for_a_term_that_it_holds() -> None:
    request = Request(source=(5,), draft=ids("▁warm", "er"), locked=(True, True))
    plan = with_terms(request, ["warm"], TOKENIZER, ordered=False)
    [(number, tokens)] = plan.missing
    placed = put(plan, number, tokens, 2)
    outcome = Outcome(placed.request, tokens=placed.request.draft)
    guard(outcome, plan, TOKENIZER)
    assert TOKENIZER.decode(outcome.tokens) == "warmer warm"
