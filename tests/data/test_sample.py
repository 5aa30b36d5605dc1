"""Samples are within bounds, uniform and repeatable."""

import numpy as np

from levt.data.sample import sample, spread


def test_bounds() -> None:
    stream = [("x" * (i % 9), "y") for i in range(500)]
    few = sample(stream, most=20, characters=10**6)
    assert len(few) == 20
    assert few == sample(iter(stream), most=20, characters=10**6)
    light = sample(stream, most=500, characters=100)
    assert 10 < sum(len(a) + len(b) for a, b in light) <= 100
    assert sample([("long",)], most=5, characters=1) == [("long",)]
    assert sample([], most=5, characters=1) == []


def test_what_leaves_is_what_grows_lighter() -> None:
    """Of examples of many lengths, whichever were drawn."""
    stream = [("x" * (1 + i * i % 37),) for i in range(300)]
    for seed in range(100):
        weight = sum(len(one) for (one,) in sample(stream, most=300, characters=200, seed=seed))
        assert 60 < weight <= 200


def test_spread_reaches_the_end() -> None:
    assert spread(11, 4) == [0, 2, 5, 8]
    assert spread(1000, 7)[-1] == 6 * 1000 // 7
    assert spread(3, 3) == [0, 1, 2]
    assert spread(0, 3) == []


def test_uniform() -> None:
    stream = [(chr(97 + i),) for i in range(10)]
    for bounds in ({"most": 3, "characters": 99}, {"most": 99, "characters": 3}):
        counts = np.zeros(10)
        for seed in range(3000):
            for (one,) in sample(stream, seed=seed, **bounds):
                counts[ord(one) - 97] += 1
        # 900 expected, standard deviation 25
        assert counts.min() > 775
        assert counts.max() < 1025
