"""A banned sequence is never completed, its tokens may stand elsewhere, and no more gives way than must."""

import hypothesis.strategies as st
import torch
from hypothesis import given, settings
from mock_policy import VOCABULARY, Rows, Scripted

from levt.refine.bans import fill_without
from levt.refine.guidance import Guidance, occurrences
from levt.refine.loop import refine
from levt.refine.request import Request
from levt.text.specials import BOS, EOS, PLH, SPECIALS

tokens = st.integers(len(SPECIALS), VOCABULARY - 1)
sequences = st.lists(st.lists(tokens, min_size=1, max_size=3).map(tuple), max_size=3)
rows = st.lists(st.one_of(tokens, st.just(PLH)), min_size=1, max_size=7)


def wide(made: list[list[int]]) -> torch.Tensor:
    longest = max(map(len, made))
    return torch.tensor([[BOS, *row, EOS, *[0] * (longest - len(row))] for row in made])


def fill(y: torch.Tensor, scores: torch.Tensor, must_not: list[list[tuple[int, ...]]]) -> list[list[int]]:
    """The rows, filled; tokens that are banned alone are in the mask, as in a loop."""
    banned = torch.zeros(scores.shape, dtype=torch.bool)
    for p, (i, _) in enumerate(y.eq(PLH).nonzero().tolist()):
        banned[p, [sequence[0] for sequence in must_not[i] if len(sequence) == 1]] = True
    chosen, logp = fill_without(scores, banned if banned.any() else None, y, must_not)
    assert torch.equal(logp, scores.gather(1, chosen.unsqueeze(1)).squeeze(1))
    return [[t for t in row if t >= len(SPECIALS)] for row in y.masked_scatter(y.eq(PLH), chosen).tolist()]


@settings(max_examples=200)
@given(st.lists(st.tuples(rows, sequences), min_size=1, max_size=4), st.integers(0, 10**6))
def test_nothing_is_completed_and_mates_change_nothing(
    made: list[tuple[list[int], list[tuple[int, ...]]]], seed: int
) -> None:
    y, must_not = wide([row for row, _ in made]), [banned for _, banned in made]
    scores = torch.randn(int(y.eq(PLH).sum()), VOCABULARY, generator=torch.Generator().manual_seed(seed))
    scores = scores.log_softmax(-1)
    filled, end = fill(y, scores, must_not), 0
    for (row, banned), found in zip(made, filled, strict=True):
        holes = {i for i, token in enumerate(row) if token == PLH}
        begin, end = end, end + len(holes)
        assert fill(wide([row]), scores[begin:end], [banned]) == [found]
        for sequence in banned:
            for i in range(len(row) - len(sequence) + 1):
                span = set(range(i, i + len(sequence)))
                stands = tuple(found[i : i + len(sequence)]) == sequence
                assert not (stands and span & holes), "completed by a placeholder"
        # As probable as without bans where nothing would be completed.
        free = fill(wide([row]), scores[begin:end], [[]])[0]
        if not any(set(occurrences(free, [sequence])) & holes for sequence in banned):
            assert found == free


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.lists(tokens, min_size=2, max_size=2).map(tuple))
def test_one_place_gives_way(seed: int, sequence: tuple[int, ...]) -> None:
    """Of a sequence that the model wants in all placeholders only the last is another, and the best other."""
    scores = torch.randn(2, VOCABULARY, generator=torch.Generator().manual_seed(seed)).log_softmax(-1)
    for p, token in enumerate(sequence):
        scores[p, token] = 1.0
    [[one, other]] = fill(wide([[PLH, PLH]]), scores, [[sequence]])
    ways = [token for token in range(len(SPECIALS), VOCABULARY) if token != sequence[1]]
    assert (one, other) == (sequence[0], max(ways, key=lambda token: float(scores[1, token])))


def test_where_nothing_else_can_be_written_it_stays() -> None:
    """The loop takes it out in the end."""
    y, scores = wide([[PLH, PLH]]), torch.zeros(2, VOCABULARY)
    banned = torch.ones(2, VOCABULARY, dtype=torch.bool)
    banned[0, 6] = banned[1, 7] = False
    assert fill_without(scores, banned, y, [[(6, 7)]])[0].tolist() == [6, 7]
    banned[0, 8] = False
    assert fill_without(scores, banned, y, [[(6, 7)]])[0].tolist() == [8, 7]


def test_tokens_of_a_dropped_sequence_stand_elsewhere() -> None:
    """The rarest of them was not written anywhere."""
    wanted = (9, 6, 10, 6, 9, 10)

    policy = Scripted(
        drop=lambda row: [False] * len(row),
        counts=lambda row: [len(wanted)] if len(row) == 2 else [0] * (len(row) - 1),
        fill=lambda row: [BOS, *wanted, EOS],
    )
    for sequence, at in (((6, 10), {2}), ((9, 10), {5}), ((6, 9, 10), {5})):
        request = Request(source=(5,), banned=(sequence,))
        [found] = refine(
            policy, Rows(torch.tensor([0])), [request], Guidance.of([request], positions=64, vocabulary=VOCABULARY)
        )  # fmt: skip
        assert len(found.tokens) == len(wanted)
        assert {i for i, (a, b) in enumerate(zip(found.tokens, wanted, strict=True)) if a != b} == at
