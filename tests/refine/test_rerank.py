"""Candidates for re-ranking: they vary γ and the least certain gaps, and nothing else."""

import torch
from mock_policy import VOCABULARY, Hostile, Rows, Scripted

from levt.refine.guidance import Guidance
from levt.refine.loop import refine
from levt.refine.options import Options
from levt.refine.phases import Policy
from levt.refine.request import Request
from levt.refine.rerank import Candidates, variants


def outcome_of(policy: Policy, request: Request):  # type: ignore[no-untyped-def]
    guidance = Guidance.of([request], positions=64, vocabulary=VOCABULARY)
    return refine(policy, Rows(torch.tensor([0])), [request], guidance)[0]


def test_from_nothing_the_length_is_varied() -> None:
    def counts(row: list[int]) -> list[int]:
        return [3] if len(row) == 2 else [0] * (len(row) - 1)

    write = Scripted(lambda r: [False] * len(r), counts, lambda r: [7] * len(r))
    request = Request(source=(5, 6), options=Options(empty_gap_penalty=1.0))
    found = variants(outcome_of(write, request), Candidates(penalties=(0.5,), gaps=3, around=2))
    assert [r.options.empty_gap_penalty for r in found] == [1.5, 1.0, 1.0, 1.0, 1.0]
    far = variants(outcome_of(write, request), Candidates(penalties=(-10.0, 10.0), gaps=0))
    assert [r.options.empty_gap_penalty for r in far] == [-9.0, 10.0]
    low = Request(source=(5, 6), options=Options(empty_gap_penalty=-8.0))
    [far_below] = variants(outcome_of(write, low), Candidates(penalties=(-3.0,), gaps=0))
    assert far_below.options.empty_gap_penalty == -10.0
    assert [r.open for r in found] == [{}, {0: 4}, {0: 2}, {0: 5}, {0: 1}]
    assert [len(outcome_of(write, r).tokens) for r in found] == [3, 4, 2, 5, 1]


def test_candidates_keep_what_is_locked() -> None:
    for seed in range(20):
        request = Request(
            source=(5, 6), draft=(8, 9, 10), locked=(True, True, False), glued=(False, True, False), open={3: 1}
        )  # fmt: skip
        base = outcome_of(Hostile(seed, broken=seed % 2 == 0), request)
        found = variants(base, Candidates(penalties=(1.0,), gaps=4, around=1))
        assert found
        for other in found:
            assert other.locked == request.locked
            assert other.open[3] == 1
            assert 1 not in other.open
