"""Greedy decisions at their edges."""

import torch

from levt.edits.state import State
from levt.refine.decide import decide_drop


def test_the_probability_of_keeping_what_is_locked_is_never_zero() -> None:
    state = State.of([[5, 6]], locked=[[True, False]])
    logits = torch.tensor([[[0.0, 0.0], [0.0, 300.0], [300.0, 0.0], [0.0, 0.0]]])
    drop, log_probability = decide_drop(logits, state, torch.zeros(1))
    assert not drop.any()
    assert log_probability[0, 1] == -300
    assert log_probability[0, 2] == 0
