"""Collaboration with an oracle: its decisions hold whatever the model thinks."""

import hypothesis.strategies as st
import torch
from hypothesis import given, settings
from mock_policy import VOCABULARY, Hostile, Rows

from levt.refine.guidance import Guidance
from levt.refine.loop import Outcome, refine
from levt.refine.options import Options
from levt.refine.oracle_policy import Help, OracleMemory, OraclePolicy
from levt.refine.request import Request, Tokens

tokens = st.lists(st.integers(5, VOCABULARY - 1), max_size=7).map(tuple)
pairs = st.lists(st.tuples(tokens, tokens), min_size=1, max_size=4)


def run(help_: Help, made: list[tuple[Tokens, Tokens]], seed: int, penalty: float = 0.0) -> list[Outcome]:
    options = Options(max_iterations=6, max_ratio=9.0, empty_gap_penalty=penalty, min_edit=0.9)
    batch = [Request(source=(5, 6, 7), draft=draft, options=options) for draft, _ in made]
    memory = OracleMemory.of(Rows(torch.arange(len(batch))), [reference for _, reference in made])
    guidance = Guidance.of(batch, positions=64, vocabulary=VOCABULARY)
    return refine(OraclePolicy(Hostile(seed), help_), memory, batch, guidance)


def is_subsequence(short: Tokens, long: Tokens) -> bool:
    rest = iter(long)
    return all(token in rest for token in short)


@settings(max_examples=60)
@given(pairs, st.integers(0, 10**6))
def test_oracle_deletion_leaves_only_what_belongs_there(made: list[tuple[Tokens, Tokens]], seed: int) -> None:
    for (draft, reference), outcome in zip(made, run("delete", made, seed), strict=True):
        state = draft
        for round_ in outcome.rounds:
            left = round_.script.deleted(state)
            assert is_subsequence(left, reference)
            # The fewest deletions: no token could have stayed as well.
            assert len(left) == longest_common(state, reference)
            state = round_.script.apply(state)


@settings(max_examples=60)
@given(pairs, st.integers(0, 10**6), st.sampled_from([-10.0, 0.0, 10.0]))
def test_oracle_counts_give_the_length_of_the_reference(
    made: list[tuple[Tokens, Tokens]], seed: int, penalty: float
) -> None:
    for (_, reference), outcome in zip(made, run("delete+placeholder", made, seed, penalty), strict=True):
        assert len(outcome.tokens) == len(reference)
        if outcome.stopped == "unchanged":
            assert outcome.tokens == reference


@settings(max_examples=40)
@given(pairs, st.integers(0, 10**6))
def test_batch_mates_change_nothing(made: list[tuple[Tokens, Tokens]], seed: int) -> None:
    together = run("delete+placeholder", made, seed)
    # Row 0 alone is row 0 of the batch to the policy.
    assert run("delete+placeholder", made[:1], seed)[0].tokens == together[0].tokens


def longest_common(a: Tokens, b: Tokens) -> int:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]
