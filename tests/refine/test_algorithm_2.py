"""The loop against Algorithm 2 of the paper, written down line by line, on policies that answer anything."""

from dataclasses import dataclass

import hypothesis.strategies as st
import torch
from hypothesis import given, settings
from mock_policy import VOCABULARY, Hostile, Rows

from levt.edits.state import State
from levt.refine.decide import decide_counts
from levt.refine.guidance import Guidance
from levt.refine.loop import refine
from levt.refine.options import Options
from levt.refine.request import Request
from levt.text.specials import BOS, EOS, PLH, SPECIALS

EMPTY = [BOS, EOS]
tokens = st.lists(st.integers(5, VOCABULARY - 1), max_size=5).map(tuple)


@dataclass
class Printed:
    """How Algorithm 2 ended."""

    y: list[int]
    begun: int
    ended_by: str
    after: list[list[int]]
    """y after every iteration."""


def algorithm_2(policy: Hostile, draft: tuple[int, ...], t_max: int, gamma: float) -> Printed:
    """As it is printed; a policy's answer to one row, γ subtracted from the logit of 0."""
    memory = Rows(torch.tensor([0]))

    def deletions(y: list[int]) -> list[bool]:
        logits = policy.delete(memory, torch.tensor([y]))[0]
        inner = [bool(keep < drop) for keep, drop in logits.tolist()[1:-1]]
        return [False, *inner, False]  # the boundaries are always kept

    def placeholders(y: list[int]) -> list[int]:
        logits = policy.placeholder(memory, torch.tensor([y]))[0]
        logits[:, 0] -= gamma
        counts: list[int] = logits.argmax(-1).tolist()
        return counts

    def replacements(y: list[int]) -> list[int]:
        logits = policy.token(memory, torch.tensor([y]), torch.tensor([[one == PLH for one in y]]))
        chosen = iter((logits[:, len(SPECIALS) :].argmax(-1) + len(SPECIALS)).tolist())
        return [next(chosen) if one == PLH else one for one in y]

    # Initialize: input y = y⁰, step t = 0
    y, t, backup = [BOS, *draft, EOS], 0, None
    after: list[list[int]] = []
    while True:
        deleted = y if y == EMPTY else [one for one, gone in zip(y, deletions(y), strict=True) if not gone]
        if t > 0 and deleted == backup:
            return Printed(y, t + 1, "repeated", after)
        backup = deleted
        opened = [deleted[0]]
        for count, one in zip(placeholders(deleted), deleted[1:], strict=True):
            opened += [PLH] * count + [one]
        if opened == deleted == y:
            return Printed(y, t + 1, "unchanged", after)
        y = opened if opened == deleted else replacements(opened)
        t += 1
        after.append(y)
        if t == t_max:
            return Printed(y, t, "limit", after)


@settings(max_examples=300)
@given(tokens, st.integers(0, 10**6), st.integers(1, 4), st.floats(0, 3))
def test_the_loop_is_algorithm_2(draft: tuple[int, ...], seed: int, limit: int, gamma: float) -> None:
    """Save where a state comes back: there the paper goes on in a circle, and we take a state of the circle."""
    policy = Hostile(seed, max_count=2, broken=False)
    options = Options(max_iterations=limit, empty_gap_penalty=gamma, max_ratio=100.0, min_room=5_000)
    request = Request(source=(5,), draft=draft, options=options)
    guidance = Guidance.of([request], positions=5_000, vocabulary=VOCABULARY)
    [outcome] = refine(policy, Rows(torch.tensor([0])), [request], guidance)
    printed = algorithm_2(policy, draft, limit, gamma)
    if outcome.stopped == "cycle":
        assert [BOS, *outcome.tokens, EOS] in [[BOS, *draft, EOS], *printed.after]
        assert outcome.iterations <= printed.begun
        return
    assert [BOS, *outcome.tokens, EOS] == printed.y
    assert (outcome.iterations, outcome.stopped) == (printed.begun, printed.ended_by)


def test_gamma_is_subtracted_from_the_logit_of_no_placeholder() -> None:
    logits, state = torch.tensor([[[2.0, 1.0, 0.5]]]), State.of([[]])
    for gamma, count in ((0.0, 0), (0.99, 0), (1.01, 1), (3.0, 1)):
        counts, logp = decide_counts(
            logits, state, torch.tensor([gamma]), torch.zeros(1), torch.full((1,), 255)
        )
        assert counts.tolist() == [[count]]
        torch.testing.assert_close(logp[0, 0], logits[0, 0].log_softmax(-1)[count])
