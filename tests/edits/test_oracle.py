"""The oracle against brute force, and every fast version against the obvious one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations, product
from random import Random

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from device_waits import no_waiting
from levt.edits import oracle_triton
from levt.edits.oracle import Edits, align, oracle
from levt.edits.oracle_bits import align_bits
from levt.edits.oracle_reference import align_reference
from levt.edits.oracle_torch import align_torch
from levt.edits.state import State, delete, fill, insert

Align = Callable[[Tensor, Tensor], Tensor]


def triton_on_cuda(y: Tensor, target: Tensor) -> Tensor:
    from levt.edits.oracle_triton import align_triton

    return align_triton(y.cuda(), target.cuda()).cpu()


def torch_on_cuda(y: Tensor, target: Tensor) -> Tensor:
    return align_torch(y.cuda(), target.cuda()).cpu()


BACK_ENDS = [
    align_bits,
    align_torch,
    pytest.param(triton_on_cuda, marks=pytest.mark.gpu),
    pytest.param(torch_on_cuda, marks=pytest.mark.gpu),
]

all_short = [list(s) for n in range(5) for s in product((5, 6, 7), repeat=n)]
sequences = st.lists(st.integers(5, 12), max_size=200)


def follow(y: Tensor, edits: Edits) -> State:
    none = torch.zeros_like(y, dtype=torch.bool)
    state = delete(State(y, none, none), edits.drop)
    width = max(state.y.shape[1], edits.fill.shape[1])
    return fill(
        insert(state, edits.counts, width),
        torch.nn.functional.pad(edits.fill, (0, width - edits.fill.shape[1])),
    )


def every_pair() -> tuple[list[list[int]], list[list[int]]]:
    pairs = list(product(all_short, all_short))
    return [a for a, _ in pairs], [b for _, b in pairs]


def brute_force_distance(a: list[int], b: list[int]) -> int:
    """Fewest insertions and deletions, by trying every subset of tokens to keep."""

    def is_subsequence(kept: tuple[int, ...]) -> bool:
        rest = iter(b)
        return all(token in rest for token in kept)

    for size in range(len(a), -1, -1):
        if any(is_subsequence(kept) for kept in combinations(a, size)):
            return len(a) + len(b) - 2 * size
    raise AssertionError


@pytest.mark.parametrize("tie", ["leftmost", "rightmost"])
def test_every_short_pair_is_reached_by_the_fewest_edits(tie: str) -> None:
    states, targets = every_pair()
    y, target = State.of(states).y, State.of(targets).y
    edits = oracle(y, target, tie)
    assert follow(y, edits).rows() == targets
    cost = (edits.drop.sum(1) + edits.counts.sum(1)).tolist()
    assert cost == [brute_force_distance(a, b) for a, b in zip(states, targets, strict=True)]


@pytest.mark.parametrize("how", BACK_ENDS)
def test_back_ends_agree_with_the_reference_on_every_short_pair(how: Align) -> None:
    states, targets = every_pair()
    y, target = State.of(states).y, State.of(targets).y
    expected = torch.full_like(y, -1)
    for i, (a, b) in enumerate(zip(states, targets, strict=True)):
        expected[i, : len(a) + 2] = torch.tensor(align_reference([1, *a, 2], [1, *b, 2]))
    assert torch.equal(how(y, target), expected)


@pytest.mark.parametrize("how", BACK_ENDS)
@settings(max_examples=25)
@given(pairs=st.lists(st.tuples(sequences, sequences), min_size=1, max_size=4))
def test_back_ends_agree_with_the_reference_on_long_pairs(
    how: Align, pairs: list[tuple[list[int], list[int]]]
) -> None:
    y, target = State.of([a for a, _ in pairs]).y, State.of([b for _, b in pairs]).y
    for (a, b), row in zip(pairs, how(y, target).tolist(), strict=True):
        expected = align_reference([1, *a, 2], [1, *b, 2])
        assert row == expected + [-1] * (len(row) - len(expected))


@pytest.mark.parametrize("how", BACK_ENDS)
@pytest.mark.parametrize("length", [61, 62, 63, 64, 125, 126, 127, 128, 200])
def test_back_ends_agree_at_the_edges_of_machine_words(how: Align, length: int) -> None:
    draw = torch.Generator().manual_seed(length)
    target = torch.randint(5, 40, (6, length), generator=draw)
    y = torch.where(torch.rand(6, length, generator=draw) < 0.3, 5, target).roll(1, 1)
    y[0], target[0] = 5, 5
    expected = [align_reference(a, b) for a, b in zip(y.tolist(), target.tolist(), strict=True)]
    assert how(y, target).tolist() == expected


@pytest.mark.parametrize("how", BACK_ENDS)
@settings(max_examples=25)
@given(places=st.sets(st.integers(0, 255), min_size=2, max_size=9), random=st.randoms(use_true_random=False))
def test_back_ends_agree_where_whole_machine_words_have_nothing_in_common(
    how: Align, places: set[int], random: Random
) -> None:
    target = [5] * 256
    shared = {place: 6 + i for i, place in enumerate(sorted(places))}
    for place, token in shared.items():
        target[place] = token
    state = list(shared.values())
    random.shuffle(state)
    assert how(torch.tensor([state]), torch.tensor([target])).tolist() == [align_reference(state, target)]


@pytest.mark.parametrize("how", [align_bits, align_torch])
@pytest.mark.parametrize(("b", "n", "t"), [(0, 3, 4), (2, 0, 4), (2, 3, 0)])
def test_where_there_is_nothing_nothing_is_kept(how: Align, b: int, n: int, t: int) -> None:
    y, target = torch.full((b, n), 5), torch.full((b, t), 5)
    assert torch.equal(how(y, target), torch.full((b, n), -1))


@settings(max_examples=50)
@given(sequences, sequences)
def test_following_the_oracle_reaches_the_target(a: list[int], b: list[int]) -> None:
    y, target = State.of([a]).y, State.of([b]).y
    for tie in ("leftmost", "rightmost"):
        assert follow(y, oracle(y, target, tie)).rows() == [b]


@settings(max_examples=50)
@given(sequences, sequences)
def test_rightmost_is_the_mirror_image(a: list[int], b: list[int]) -> None:
    match = align(State.of([a]).y, State.of([b]).y, "rightmost")[0].tolist()
    assert match == align_reference([1, *a, 2], [1, *b, 2], "rightmost")


@settings(max_examples=30)
@given(st.lists(sequences, min_size=1, max_size=4))
def test_the_target_needs_no_edit(rows: list[list[int]]) -> None:
    y = State.of(rows).y
    edits = oracle(y, y)
    assert not edits.drop.any()
    assert not edits.counts.any()


def test_batch_mates_and_padding_change_nothing() -> None:
    rows = [[5, 6, 7, 5], [], [6] * 30, [7, 5]]
    targets = [[6, 5], [7, 7, 7], [6] * 29 + [5], [5] * 80]
    together = align(State.of(rows, width=50).y, State.of(targets, width=90).y)
    for i, (row, target) in enumerate(zip(rows, targets, strict=True)):
        alone = align(State.of([row]).y, State.of([target]).y)[0]
        assert together[i, : len(row) + 2].tolist() == alone.tolist()


@pytest.mark.gpu
@pytest.mark.parametrize("tie", ["leftmost", "rightmost"])
def test_the_whole_oracle_is_the_same_on_every_device(tie: str) -> None:
    states, targets = every_pair()
    draw = torch.Generator().manual_seed(0)
    states += [torch.randint(5, 30, (150,), generator=draw).tolist() for _ in range(50)]
    targets += [torch.randint(5, 30, (170,), generator=draw).tolist() for _ in range(50)]
    y, target = State.of(states).y, State.of(targets).y
    here, there = oracle(y, target, tie), oracle(y.cuda(), target.cuda(), tie)
    assert torch.equal(here.drop, there.drop.cpu())
    assert torch.equal(here.counts, there.counts.cpu())


@pytest.mark.gpu
def test_the_oracle_does_not_wait_for_the_device() -> None:
    y, target = State.of([[5, 6]], device="cuda").y, State.of([[6, 7]], device="cuda").y
    oracle(y, target)
    with no_waiting():
        edits = oracle(y, target)
    assert edits.drop.tolist() == [[False, True, False, False]]


def test_the_kernel_runs_where_the_states_are(monkeypatch: pytest.MonkeyPatch) -> None:
    now, seen = list[Tensor](), list[Tensor]()

    @contextmanager
    def device_of(tensor: Tensor) -> Iterator[None]:
        now.append(tensor)
        yield
        now.pop()

    monkeypatch.setattr(torch.cuda, "device_of", device_of)
    monkeypatch.setattr(oracle_triton, "_launch", lambda *_, **__: seen.extend(now))
    y = State.of([[7, 8]]).y
    oracle_triton.edits_triton(y, y)
    assert len(seen) == 1
    assert seen[0] is y
    assert not now
