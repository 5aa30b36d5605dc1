"""Parallel insertion against the obvious loop over one sentence; balanced trees; limits."""

import math
from itertools import pairwise

import pytest
from rival_policies import VOCABULARY, Mock, Sources, sources

from levt.refine.insert_decode import InsertOptions, insert_decode


def obvious(
    mock: Mock, name: int, limit: int, options: InsertOptions
) -> tuple[tuple[int, ...], int, str, list[float]]:
    tokens: tuple[int, ...] = ()
    decided = []
    for iteration in range(1, options.max_iterations + 1):
        grown: list[int] = []
        room, refused = limit - 2 - len(tokens), False
        for i, row in enumerate(mock.gap_of(name, (1, *tokens, 2))):
            values = {2: row[2] - options.empty_gap_penalty} | {t: row[t] for t in range(5, VOCABULARY)}
            choice = max(values, key=lambda t: values[t])
            decided.append(row[choice])
            if choice != 2 and room > 0:
                grown.append(choice)
                room -= 1
            elif choice != 2:
                refused = True
            grown += tokens[i : i + 1]
        if tuple(grown) == tokens:
            return tokens, iteration, "limit" if refused else "unchanged", decided
        tokens = tuple(grown)
    return tokens, options.max_iterations, "limit", decided


@pytest.mark.parametrize("total", [1, 3, 10])
@pytest.mark.parametrize("penalty", [-1.0, 0.0, 1.0])
def test_equals_the_obvious(total: int, penalty: float) -> None:
    mock, memory, limits = Mock(), sources(8, seed=total), [3, 9, 14, 40, 7, 5, 4, 12]
    options = InsertOptions(max_iterations=total, empty_gap_penalty=penalty)
    for name, limit, outcome in zip(
        memory.names, limits, insert_decode(mock, memory, limits, options), strict=True
    ):
        tokens, iterations, stopped, decided = obvious(mock, name, limit, options)
        assert outcome.tokens == tokens
        assert len(tokens) <= limit - 2
        assert (outcome.iterations, outcome.passes, outcome.stopped) == (iterations, iterations, stopped)
        assert outcome.score == pytest.approx(sum(decided) / len(decided), abs=1e-5)
        now: tuple[int, ...] = ()
        for round_ in outcome.rounds:
            now = round_.script.apply(now)
        assert now == tokens


def test_batch_mates_change_nothing() -> None:
    mock, memory, limits = Mock(), sources(9, seed=2), [30, 4, 9, 14, 7, 11, 3, 20, 20]
    together = insert_decode(mock, memory, limits, InsertOptions())
    assert len({o.iterations for o in together}) > 1
    for i, outcome in enumerate(together):
        [alone] = insert_decode(mock, memory.alone(i), limits[i : i + 1], InsertOptions())
        assert (alone.tokens, alone.iterations) == (outcome.tokens, outcome.iterations)


class Tree(Mock):
    """Knows the target 5 6 7 …, and writes the middle of what a gap lacks."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def gap_of(self, name: int, row: tuple[int, ...]) -> list[list[float]]:
        places = [-1, *(t - 5 for t in row[1:-1]), self.size]
        found = []
        for left, right in pairwise(places):
            choice = 2 if right == left + 1 else 5 + (left + right) // 2
            found.append([0.0 if t == choice else -9.0 for t in range(VOCABULARY)])
        return found


@pytest.mark.parametrize("size", range(7))
def test_a_balanced_tree_takes_log_iterations(size: int) -> None:
    [outcome] = insert_decode(Tree(size), Sources([0], [[1, 5, 2]]), [40], InsertOptions())
    assert outcome.tokens == tuple(range(5, 5 + size))
    assert outcome.stopped == "unchanged"
    assert outcome.iterations == math.ceil(math.log2(size + 1)) + 1


def test_no_room_is_no_confirmation() -> None:
    [outcome] = insert_decode(Tree(6), Sources([0], [[1, 5, 2]]), [5], InsertOptions())
    assert (len(outcome.tokens), outcome.stopped) == (3, "limit")
