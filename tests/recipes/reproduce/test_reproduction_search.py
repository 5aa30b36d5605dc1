"""Search over counts compares like with like."""

import math

import pytest

from levt.edits.script import EditScript
from levt.recipes.reproduce.parts.searching import best, sureness
from levt.refine.loop import Outcome
from levt.refine.phases import Round
from levt.refine.record import Rounds
from levt.refine.request import Request


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
