"""Iterative refinement against the obvious loop over one sentence."""

import pytest
from rival_policies import Mock, best_token, sources

from levt.refine.denoise import DenoiseOptions, denoise


class Settling(Mock):
    """Its second decoder changes at most the first token it does not like, so that it comes to rest."""

    def token_of(self, name: int, row: tuple[int, ...], stage: str = "") -> list[list[float]]:
        if stage == "draft":
            return super().token_of(name, row, stage)
        found = [[float("-inf")] * 5 + [-3.0] * 6 for _ in row]
        wrong = [i for i in range(1, len(row) - 1) if row[i] not in (5, 6, 7)][:1]
        for i, token in enumerate(row):
            found[i][max(5, 5 if i in wrong else token)] = -0.2
        return found


def obvious(
    mock: Mock, name: int, source: list[int], limit: int, total: int
) -> tuple[list[tuple[int, ...]], list[float], str]:
    of_lengths, x = mock.length_of(name), source[1:-1]
    size = max(range(1, min(limit - 2, mock.longest) + 1), key=lambda i: of_lengths[i])
    row = (1, *(x[t * len(x) // size] for t in range(size)), 2)
    states: list[tuple[int, ...]] = []
    for iteration in range(total):
        best = [
            best_token(values)
            for values in mock.token_of(name, row, "refine" if iteration else "draft")[1:-1]
        ]
        states.append(tuple(token for token, _ in best))
        logp = [value for _, value in best]
        if iteration and states[-1] == states[-2]:
            return states, logp, "unchanged"
        row = (1, *states[-1], 2)
    return states, logp, "limit"


@pytest.mark.parametrize("mock", [Mock(), Settling()], ids=["restless", "settling"])
@pytest.mark.parametrize("total", [1, 2, 3, 10])
def test_equals_the_obvious(mock: Mock, total: int) -> None:
    memory, limits = sources(8, seed=total), [3, 9, 14, 20, 7, 5, 4, 12]
    outcomes = denoise(mock, memory, limits, DenoiseOptions(max_iterations=total, remove_repeats=False))
    for i, outcome in enumerate(outcomes):
        states, logp, stopped = obvious(mock, memory.names[i], memory.tokens[i], limits[i], total)
        assert outcome.tokens == states[-1]
        assert outcome.score == pytest.approx(sum(logp) / len(logp), abs=1e-5)
        assert (outcome.iterations, outcome.passes, outcome.stopped) == (len(states), len(states), stopped)
        now: tuple[int, ...] = ()
        for round_, state in zip(outcome.rounds, states, strict=True):
            now = round_.script.apply(now)
            assert now == state


def test_rows_end_by_themselves() -> None:
    memory, limits = sources(8, seed=5), [14] * 8
    outcomes = denoise(Settling(), memory, limits, DenoiseOptions(max_iterations=12))
    assert {o.stopped for o in outcomes} == {"unchanged"}
    assert len({o.iterations for o in outcomes}) > 1
    for i, outcome in enumerate(outcomes):
        [alone] = denoise(Settling(), memory.alone(i), [14], DenoiseOptions(max_iterations=12))
        assert (alone.tokens, alone.iterations) == (outcome.tokens, outcome.iterations)


def test_repeats_are_removed_in_the_end() -> None:
    class Stutter(Mock):
        def length_of(self, name: int) -> list[float]:
            return [-9.0] * 6 + [-0.1] + [-9.0] * 6

        def token_of(self, name: int, row: tuple[int, ...], stage: str = "") -> list[list[float]]:
            wanted = (0, 7, 7, 8, 7, 7, 7, 0)
            return [[-0.5 if t == wanted[i] else -4.0 for t in range(11)] for i in range(len(row))]

    memory = sources(2)
    clean = denoise(Stutter(), memory, [12, 12], DenoiseOptions())
    plain = denoise(Stutter(), memory, [12, 12], DenoiseOptions(remove_repeats=False))
    assert [o.tokens for o in plain] == [(7, 7, 8, 7, 7, 7)] * 2
    assert [o.tokens for o in clean] == [(7, 8, 7)] * 2
    assert [(o.iterations, o.passes, o.score) for o in clean] == [
        (o.iterations, o.passes, o.score) for o in plain
    ]
    now: tuple[int, ...] = ()
    for round_ in clean[0].rounds:
        now = round_.script.apply(now)
    assert now == (7, 8, 7)
