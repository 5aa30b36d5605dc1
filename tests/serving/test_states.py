"""States in tokens: what a person locks stays whole."""

from levt.refine.placing import allowed_gaps
from levt.refine.request import Request
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
