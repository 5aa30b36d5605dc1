"""Measuring: turns, warm-up, percentiles; on a clock of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from levt.engine.model import Model
from levt.evaluation.latency import Latency, measure
from tiny_models import tiny


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.25
        return self.now


class Listening(Model):
    def __init__(self, name: str, heard: list[tuple[str, int]]) -> None:
        super().__init__(tiny().engine)
        engine = self.engine

        class Ear:
            config, tokenizers = engine.config, engine.tokenizers

            def encode(self, sources, drafts=None):  # type: ignore[no-untyped-def]
                heard.append((name, len(sources)))
                return engine.encode(sources, drafts)

            refine, search, score = engine.refine, engine.search, engine.score

        self.engine = Ear()  # type: ignore[assignment]


def test_all_take_turns_with_the_same_batches() -> None:
    heard: list[tuple[str, int]] = []
    models: dict[str, Model] = {name: Listening(name, heard) for name in ("one", "two")}
    found = measure(
        models, ["A dog.", "Two cats.", "Snow.", "One."], batch=3, seconds=1.0, least=2, clock=Clock()
    )
    assert heard == [("one", 3), ("two", 3)] * 4
    assert [(row.name, row.batch, row.first_ms, row.times_ms) for row in found] == [
        (name, 3, 250.0, (250.0,) * 3) for name in ("one", "two")
    ]
    assert found[0].per_second == pytest.approx(12)
    assert found[0].iterations >= 1


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=200), st.sampled_from([0.5, 0.95, 0.99, 1.0]))
def test_percentiles_are_nearest_ranks(times: list[float], share: float) -> None:
    row = Latency(name="", batch=1, first_ms=0.0, times_ms=tuple(times), iterations=1.0, load=0.0)
    value = row.percentile(share)
    within = sum(t <= value for t in times) / len(times)
    below = sum(t < value for t in times) / len(times)
    assert value in times
    assert within >= share - 1e-9
    assert below < share
