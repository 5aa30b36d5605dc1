"""The learning rate: linear at first, then falling as asked."""

import math

import pytest
from small_runs import config

from levt.errors import ConfigError
from levt.training.schedule import learning_rate


def test_inverse_square_root_meets_the_paper_s() -> None:
    found = config(schedule="inverse-sqrt", learning_rate=5e-4, warmup=10_000)
    assert learning_rate(found, 1, 0.0) == pytest.approx(5e-8)
    assert learning_rate(found, 10_000, 0.0) == pytest.approx(5e-4)
    assert learning_rate(found, 40_000, 0.9) == pytest.approx(2.5e-4)
    rates = [learning_rate(found, step, 0.0) for step in range(1, 60_000, 500)]
    peak = rates.index(max(rates))
    assert rates[:peak] == sorted(rates[:peak])
    assert rates[peak:] == sorted(rates[peak:], reverse=True)


@pytest.mark.parametrize("schedule", ["cosine", "linear"])
def test_falls_to_nothing_with_progress(schedule: str) -> None:
    found = config(schedule=schedule, learning_rate=0.1, warmup=0)
    rates = [learning_rate(found, 7, progress / 20) for progress in range(21)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[10] == pytest.approx(0.05)
    assert rates[-1] == pytest.approx(0.0, abs=1e-12)
    assert rates == sorted(rates, reverse=True)
    assert learning_rate(found, 7, 1.7) == pytest.approx(0.0, abs=1e-12)
    if schedule == "cosine":
        assert rates[5] == pytest.approx(0.05 * (1 + math.cos(math.pi / 4)))


@pytest.mark.parametrize("schedule", ["inverse-sqrt", "cosine", "linear"])
def test_without_warmup_it_is_high_at_once(schedule: str) -> None:
    assert learning_rate(config(schedule=schedule, warmup=0, learning_rate=0.1), 1, 0.0) == pytest.approx(0.1)


@pytest.mark.parametrize("schedule", ["cosine", "linear"])
def test_warms_up_whatever_comes_then(schedule: str) -> None:
    found = config(schedule=schedule, warmup=4, learning_rate=0.1)
    rates = [learning_rate(found, step, 0.0) for step in (1, 2, 4, 5)]
    assert rates == pytest.approx([0.025, 0.05, 0.1, 0.1])
    assert learning_rate(found, 2, 0.5) == pytest.approx(0.025)
    assert learning_rate(found, 9, -0.3) == pytest.approx(0.1), "a clock that was put back"


def test_settings_name_all_their_problems() -> None:
    with pytest.raises(ConfigError, match="5 problems") as caught:
        config(tokens=3, accumulate=0, ema=1.0, learning_rate=2.0, max_minutes=0.0)
    assert "accumulate must be at least 1, got 0" in str(caught.value)
    assert "ema must be at least 0 and below 1, got 1.0" in str(caught.value)
    with pytest.raises(ConfigError, match="weight_decay must be finite, got inf"):
        config(weight_decay=math.inf)
    assert config(clip=math.inf).clip == math.inf, "as good as no limit"
