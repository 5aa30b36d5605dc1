"""Search over counts compares like with like; noise is there as long as it is wanted."""

import math

import pytest
import torch

from levt.edits.script import EditScript
from levt.policy.layout import Padded
from levt.policy.levt import LevT
from levt.recipes.reproduce.parts.searching import best, disturbed, sureness
from levt.refine.loop import Outcome
from levt.refine.phases import Round
from levt.refine.record import Rounds
from levt.refine.request import Request
from tiny_models import network


def outcome(fill: tuple[float, ...], count: float | None = None) -> Outcome:
    """Written from nothing with these log-probabilities; without one of its own, the count was given."""
    script = EditScript(drop=(), counts=(len(fill),), fill=(7,) * len(fill))
    round_ = Round(
        script,
        counts_logp=(0.0 if count is None else count,),
        fill_logp=fill,
        decided=sum(fill) + (count or 0.0),
        decisions=len(fill) + (count is not None),
    )
    request = Request(source=(5, 6), open={0: len(fill)} if count is None else {})
    return Outcome(request=request, rounds=Rounds([round_]), tokens=script.fill, passes=3)


def test_the_plain_output_is_not_less_sure_for_having_chosen_its_length() -> None:
    plain, other = outcome((-0.2, -0.2), count=-2.0), outcome((-0.2, -0.2, -0.5))
    assert plain.score < other.score
    assert (sureness(plain), sureness(other)) == (pytest.approx(-0.2), pytest.approx(-0.3))
    assert best([plain, other], sureness) is plain
    assert plain.passes == 6


def test_nothing_is_never_the_best_of_some() -> None:
    plain, empty = outcome((-3.0, -4.0), count=-1.0), outcome(())
    assert empty.score == 0 > plain.score
    assert best([plain, empty], sureness) is plain
    # Where the model itself wrote nothing, any text is better, and without one it stays so.
    alone = outcome((), count=-0.1)
    assert sureness(alone) == -math.inf
    assert best([alone, empty], sureness) is alone


def test_noise_is_in_every_decoder_and_gone_afterwards() -> None:
    model = network("levt", sharing="none")
    assert isinstance(model, LevT)
    x, y = torch.tensor([[1, 300, 301, 2]]), torch.tensor([[1, 302, 303, 304, 2]])
    layout = Padded.of(y)

    @torch.no_grad()
    def states() -> torch.Tensor:
        memory = model.encode(x)
        return torch.stack([model.hidden(memory, y, layout, policy) for policy in model.towers])

    plain = states()
    with disturbed(model, 0.1):
        off = states() - plain
        assert all(0.05 < one.std() < 0.2 for one in off)
        assert not torch.equal(states() - plain, off)
    assert torch.equal(states(), plain)
    with disturbed(model, 0.0):
        assert torch.equal(states(), plain)
