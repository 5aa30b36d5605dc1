"""What is left of a run, also where there is nothing to divide by, or nothing left."""

from levt.training.pace import Pace


def test_before_the_first_step_a_step_takes_as_long_as_was_waited() -> None:
    assert Pace(900, 5.0).left(900, 910, 7.0) == 20.0


def test_a_run_beyond_its_steps_has_nothing_left() -> None:
    assert Pace(0, 0.0).left(12, 10, 60.0) == 0.0
    assert Pace(0, 0.0).left(12, 10, 60.0, at_most=30.0) == 0.0


def test_minutes_are_a_limit_and_no_wish() -> None:
    pace = Pace(0, 0.0)
    assert pace.left(10, 20, 10.0, at_most=99.0) == 10.0
    assert pace.left(10, 20, 10.0, at_most=4.0) == 4.0
    assert pace.left(10, 20, 10.0, at_most=-3.0) == 0.0, "the last step went over them"
