"""The worker with a tiny network: same outcomes as one by one, places freed, failures contained."""

import logging
import threading
import time
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from levt.engine.alternatives import Place
from levt.engine.continuous import Rolling
from levt.engine.refining import Job, prepare
from levt.engine.torch_engine import TorchEngine
from levt.refine.loop import Outcome
from levt.refine.options import Options
from levt.refine.phases import Round
from levt.refine.wish import Wish
from levt.serving.problems import Problem
from levt.serving.scheduler import Scheduler, Ticket
from levt.serving.worker import Worker
from tiny_models import LINES, TOKENIZERS, network, tiny


class Held(TorchEngine):
    """An engine that waits before each reading of sources, and fails at those it is told to."""

    def __init__(self, seed: int = 3) -> None:
        super().__init__(network("levt", seed), TOKENIZERS)
        self.go = threading.Event()
        self.go.set()
        self.poison: set[tuple[int, ...]] = set()
        self.reading = threading.Event()

    def _padded(self, sequences: Sequence[Any]) -> Any:
        self.reading.set()
        assert self.go.wait(30)
        if self.poison & set(sequences):
            raise RuntimeError("this source cannot be read")
        return super()._padded(sequences)


def jobs(engine: TorchEngine, *wishes: Wish) -> list[Job]:
    return [job for wish in wishes for job in prepare(wish, engine)]


@pytest.fixture
def engine() -> Held:
    return Held()


@pytest.fixture
def worker(engine: Held) -> Any:
    found = Worker(engine, Scheduler(rows=4, tokens=200, queue=50))
    found.start()
    yield found
    engine.go.set()
    found.close(30.0)
    assert not found.alive


WISHES = [
    *(Wish(source=line) for line in LINES[:5]),
    Wish(source=LINES[0], draft="Ein Hund läuft.", keep=["Hund"]),
    Wish(source=LINES[1], terms=("Katzen", "Stein", "warmen")),
    Wish(source=LINES[1], draft="Zwei Tiere schlafen.", terms=("Katzen",)),
    Wish(source=LINES[3], draft="Zwei Katzen", drop=("Zwei",), options=Options(max_iterations=2)),
]


def test_the_same_as_the_model_gives(worker: Worker, engine: Held) -> None:
    expected = list(tiny(seed=3).run(WISHES))
    futures = worker.submit(jobs(engine, *WISHES), group="a")
    for future, result in zip(futures, expected, strict=True):
        outcome = future.result(30)
        assert (outcome.tokens, outcome.iterations, outcome.stopped) == (
            result.tokens, result.iterations, result.stopped,
        )  # fmt: skip
    assert worker.scheduler.waiting == worker.scheduler.running == 0


def test_iterations_are_told_as_they_happen(worker: Worker, engine: Held) -> None:
    told: list[list[Round]] = [[] for _ in WISHES]
    futures = worker.submit(jobs(engine, *WISHES), group=1, watches=[rounds.append for rounds in told])
    for wish, future, rounds in zip(WISHES, futures, told, strict=True):
        outcome = future.result(30)
        if wish.terms:
            assert rounds == []
        else:
            # Lone bytes are taken out at the end: nobody decided that.
            own = [r.script for r in outcome.rounds if r.counts_logp]
            assert [r.script for r in rounds[: len(own)]] == own


def test_a_listener_that_fails_disturbs_nobody(
    worker: Worker, engine: Held, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: Round) -> None:
        raise RuntimeError("nobody listens")

    with caplog.at_level(logging.CRITICAL):
        first, second = worker.submit(jobs(engine, *WISHES[:2]), group=1, watches=[broken, None])
        assert first.result(30).stopped
        assert second.result(30).stopped


def test_a_cancelled_one_leaves_and_the_next_moves_up(worker: Worker, engine: Held) -> None:
    engine.go.clear()
    running = worker.submit(jobs(engine, *WISHES[:4]), group="a")
    assert engine.reading.wait(30)
    waiting = worker.submit(jobs(engine, *WISHES[:4]), group="b")
    assert (worker.scheduler.running, worker.scheduler.waiting) == (4, 4)
    assert running[0].cancel()
    assert waiting[1].cancel()
    assert (worker.scheduler.running, worker.scheduler.waiting) == (3, 3)
    engine.go.set()
    expected = list(tiny(seed=3).run(WISHES[:4]))
    for future, i in ((running[1], 1), (running[2], 2), (waiting[0], 0), (waiting[2], 2), (waiting[3], 3)):
        assert future.result(30).tokens == expected[i].tokens


def test_a_late_one_fails_alone(engine: Held) -> None:
    now = [0.0]
    worker = Worker(engine, Scheduler(rows=4, tokens=200, queue=50), clock=lambda: now[0])
    worker.start()
    engine.go.clear()
    [patient] = worker.submit(jobs(engine, WISHES[0]), group=0)
    [hasty] = worker.submit(jobs(engine, WISHES[1]), group=1, deadline=1.0)
    now[0] = 2.0
    engine.go.set()
    with pytest.raises(Problem) as late:
        hasty.result(30)
    assert late.value.type == "deadline_exceeded"
    assert patient.result(30).stopped
    worker.close(30.0)


@pytest.mark.parametrize("poisoned", [0, 2])
def test_only_what_is_to_blame_fails(
    worker: Worker, engine: Held, poisoned: int, caplog: pytest.LogCaptureFixture
) -> None:
    expected = list(tiny(seed=3).run(WISHES))
    work = jobs(engine, *WISHES)
    engine.poison = {work[poisoned].plan.request.source}
    with caplog.at_level(logging.CRITICAL):
        futures = worker.submit(work, group="a")
        for job, future, result in zip(work, futures, expected, strict=True):
            if job.plan.request.source in engine.poison:
                with pytest.raises(RuntimeError):
                    future.result(30)
            else:
                assert future.result(30).tokens == result.tokens
    engine.poison = set()
    [again] = worker.submit([work[poisoned]], group="b")
    assert again.result(30).tokens == expected[poisoned].tokens
    assert worker.scheduler.running == 0


def test_a_failure_while_one_leaves_lets_nobody_wait(
    worker: Worker, engine: Held, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failures = []

    def without_memory(batch: Rolling, outcomes: Collection[Outcome]) -> None:
        failures.append(len(outcomes))
        raise MemoryError

    monkeypatch.setattr(Rolling, "leave", without_memory)
    engine.go.clear()
    with caplog.at_level(logging.CRITICAL):
        leaving, staying = worker.submit(jobs(engine, *WISHES[:2]), group="a")
        assert engine.reading.wait(30)
        [new] = worker.submit(jobs(engine, WISHES[2]), group="b")
        place = worker.ask(Place(source=(300,)))
        assert leaving.cancel()
        engine.go.set()
        assert place.result(5).alternatives
        expected = list(tiny(seed=3).run(WISHES[1:3]))
        assert [future.result(30).tokens for future in (staying, new)] == [one.tokens for one in expected]
    assert failures
    worker.close(30.0)
    assert worker.scheduler.running == worker.scheduler.waiting == 0
    assert not worker._running


def test_closing_finishes_what_is_there_and_takes_no_more(worker: Worker, engine: Held) -> None:
    engine.go.clear()
    futures = worker.submit(jobs(engine, *WISHES), group="a")
    place = worker.ask(Place(source=(300,)))
    closing = threading.Thread(target=worker.close)
    closing.start()
    while worker.alive:
        time.sleep(0.001)
    for attempt in (
        lambda: worker.submit(jobs(engine, WISHES[0]), group="b"),
        lambda: worker.ask(Place(source=())),
    ):
        with pytest.raises(Problem) as refused:
            attempt()
        assert refused.value.type == "shutting_down"
    engine.go.set()
    closing.join(30)
    assert all(future.done() and future.result().stopped for future in futures)
    assert place.result(0).alternatives


def test_before_the_start_nothing_is_taken(engine: Held) -> None:
    worker = Worker(engine, Scheduler(rows=4, tokens=200, queue=50))
    with pytest.raises(Problem) as refused:
        worker.submit(jobs(engine, WISHES[0]), group=0)
    assert refused.value.type == "not_ready"
    worker.close()


def test_one_bad_place_does_not_spoil_the_others(
    worker: Worker, engine: Held, caplog: pytest.LogCaptureFixture
) -> None:
    engine.go.clear()
    good, bad = Place(source=(300,)), Place(source=(301,))
    engine.poison = {(301,)}
    worker.submit(jobs(engine, WISHES[0]), group=0)
    assert engine.reading.wait(30)
    with caplog.at_level(logging.CRITICAL):
        futures: list[Future[Any]] = [worker.ask(good), worker.ask(bad), worker.ask(good)]
        engine.go.set()
        assert futures[0].result(30) == futures[2].result(30)
        with pytest.raises(RuntimeError):
            futures[1].result(30)


def test_nobody_waits_for_a_worker_that_has_ended(engine: Held, caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Scheduler):
        def admit(self) -> list[Ticket]:
            raise KeyError("our own mistake")

    worker = Worker(engine, Broken(rows=4, tokens=200, queue=50))
    with caplog.at_level(logging.CRITICAL):
        worker.start()
        [future] = worker.submit(jobs(engine, WISHES[0]), group=0)
        with pytest.raises(Problem) as told:
            future.result(30)
    assert told.value.type == "internal"
    assert not worker.alive
    worker.close()
