"""A result read again as text: refining it leaves it alone."""

from itertools import pairwise

import hypothesis.strategies as st
import torch
from hypothesis import given, settings
from mock_policy import Hostile, Rows, Scripted

from levt.edits.script import between
from levt.refine.guidance import Guidance
from levt.refine.loop import Outcome, refine
from levt.refine.mend import mend
from levt.refine.options import Options
from levt.refine.phases import Policy
from levt.refine.placing import Run, settle
from levt.refine.request import Request, Tokens
from levt.refine.reread import Reader
from levt.refine.steering import Plan
from levt.text.tokenizer import Tokenizer

TOKENIZER = Tokenizer.train(["a dog runs over the snow", "the dogs are high"] * 6, 300)
READER = Reader(TOKENIZER, 64)
PIECES = [TOKENIZER.id_of(piece) for piece in ("▁dog", "▁do", "g", "s", "▁", "<0xFF>", "▁the")]


def runner(policy: Policy) -> Run:
    def run(rows: object, requests: list[Request]) -> list[Outcome]:
        guidance = Guidance.of(requests, positions=64, vocabulary=TOKENIZER.size)
        return refine(policy, Rows(torch.zeros(len(requests), dtype=torch.long)), requests, guidance)

    return run  # type: ignore[return-value]


def answer(policy: Policy, draft: Tokens, options: Options) -> Outcome:
    made = Plan(request=Request(source=(5, 6), draft=draft, options=options), reread=options.reread)
    return settle([made], runner(policy), READER)[0]


def spelling(odd: Tokens) -> Policy:
    """A model that writes odd pieces, is content with them, and puts an s behind the usual ones."""
    dog, s = TOKENIZER.id_of("▁dog"), TOKENIZER.id_of("s")
    assert dog is not None
    assert s is not None

    def counts(row: list[int]) -> list[int]:
        return [len(odd)] if len(row) == 2 else [int(pair == (dog, 2)) for pair in pairwise(row)]

    class Spelling(Scripted):
        def token(self, memory: Rows, y: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
            wanted = torch.tensor([*odd] if int(where.sum()) > 1 else [s])
            return torch.nn.functional.one_hot(wanted, TOKENIZER.size) * 9.0

    return Spelling(lambda r: [False] * len(r), counts, lambda r: [])


def test_what_is_read_otherwise_goes_on_and_is_then_left_alone() -> None:
    do, g = TOKENIZER.id_of("▁do"), TOKENIZER.id_of("g")
    assert do is not None
    assert g is not None
    policy = spelling((do, g))
    plain = answer(policy, (), Options(reread=False))
    assert (TOKENIZER.decode(plain.tokens), plain.iterations, plain.stopped) == ("dog", 2, "unchanged")
    read = answer(policy, (), Options())
    assert TOKENIZER.decode(read.tokens) == "dogs"
    # Two from nothing; s and a look; a look at "dogs" in its usual pieces, which changes nothing.
    assert (read.iterations, read.stopped) == (5, "unchanged")
    assert [round_.script for round_ in read.rounds][2] == between((do, g), tuple(TOKENIZER.encode("dog")))
    again = answer(policy, tuple(TOKENIZER.encode("dogs")), Options())
    assert (TOKENIZER.decode(again.tokens), again.iterations) == ("dogs", 1)
    # Where the iterations are used up, the text stays as it is, and nobody says that it would.
    short = answer(policy, (), Options(max_iterations=2))
    assert (TOKENIZER.decode(short.tokens), short.iterations, short.stopped) == ("dog", 2, "limit")


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from(PIECES), max_size=6),
    st.sampled_from([0.9, 0.97, 0.99]),
    st.integers(1, 12),
    st.integers(0, 10**6),
)
def test_a_result_is_left_alone_or_its_texts_go_in_a_circle(
    draft: list[int], min_edit: float, iterations: int, seed: int
) -> None:
    policy = Hostile(seed, vocabulary=TOKENIZER.size, broken=False)
    options = Options(min_edit=min_edit, max_iterations=iterations)
    outcome = answer(policy, tuple(draft), options)
    state = tuple(draft)
    for round_ in outcome.rounds:
        state = round_.script.apply(state)
    assert state == outcome.tokens
    assert outcome.iterations <= iterations
    if outcome.stopped == "limit":
        return
    texts = [TOKENIZER.decode(outcome.tokens)]
    while texts[-1] not in texts[:-1] and len(texts) < 6:
        usual = tuple(TOKENIZER.encode(texts[-1]))
        if len(usual) + 2 > READER.positions:  # broken bytes became signs of three: nobody could give it back
            return
        [more] = runner(policy)([0], [Request(source=(5, 6), draft=usual, options=options)])
        mend(more, TOKENIZER)
        texts.append(TOKENIZER.decode(more.tokens))
    assert texts[-1] == texts[0], f"refining goes on: {texts}"


def test_a_number_put_right_may_make_a_text_longer_than_the_model_can_hold() -> None:
    """The long number has lost digits, and with them the text is too long to be read again."""
    written = TOKENIZER.encode("1" * 57)

    class Writing(Scripted):
        def token(self, memory: Rows, y: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.one_hot(torch.tensor(written), TOKENIZER.size) * 9.0

    def counts(row: list[int]) -> list[int]:
        assert len(row) <= READER.positions
        return [len(written)] if len(row) == 2 else [0] * (len(row) - 1)

    policy = Writing(lambda r: [False] * len(r), counts, lambda r: [], max_count=64)
    request = Request(source=(5,) * 62, options=Options())
    [outcome] = settle([Plan(request=request, reread=True, numbers=("1" * 66,))], runner(policy), READER)
    assert (TOKENIZER.decode(outcome.tokens), outcome.stopped) == ("1" * 66, "unchanged")


def test_what_was_mended_is_read_although_its_tokens_are_the_usual_ones() -> None:
    dog, lone = TOKENIZER.id_of("▁dog"), TOKENIZER.id_of("<0xFF>")
    assert dog is not None
    assert lone is not None
    # Content with a lone byte behind the word; without it the model puts an s there.
    found = answer(spelling((dog, lone)), (), Options())
    assert (TOKENIZER.decode(found.tokens), found.stopped) == ("dogs", "unchanged")
