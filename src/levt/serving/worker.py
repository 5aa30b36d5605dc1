"""The one thread that runs the network: each turn is one iteration of everything that is on its way.

Knows no HTTP. Whoever hands in work gets a future for each piece; to cancel the future is to free the place.
"""

import logging
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar, runtime_checkable

from levt.engine.alternatives import Found, Place, alternatives
from levt.engine.continuous import continuous
from levt.engine.engine import Engine
from levt.engine.refining import Job, reader_of
from levt.errors import LevtError
from levt.refine.guard import guard
from levt.refine.loop import Asking, Outcome
from levt.refine.phases import Round
from levt.refine.placing import most_rows, settling
from levt.refine.request import Request
from levt.serving.problems import LATE, Problem
from levt.serving.scheduler import Scheduler, Ticket

T = TypeVar("T")
Watch = Callable[[Round], None]
"""Told each iteration of a piece of work, in the thread of the worker."""
log = logging.getLogger("levt.serving")


@runtime_checkable
class Observer(Protocol):
    """Whoever counts what happens."""

    def stepped(self, rows: int, seconds: float) -> None:
        """One iteration of so many rows was made."""

    def finished(self, outcome: Outcome) -> None:
        """A piece of work is done."""

    def left(self, reason: str) -> None:
        """A piece of work was given up: cancelled, deadline_exceeded or internal."""


@dataclass(eq=False)
class Work:
    """A job on its way."""

    job: Job
    ticket: Ticket
    future: Future[Outcome]
    watch: Watch | None = None
    asking: Asking[Outcome] | None = None
    requests: list[Request] = field(default_factory=list)
    """Asked for, but not yet taken up."""
    outcomes: list[Outcome] = field(default_factory=list)
    """Being worked on."""
    seen: int = 0
    """Iterations that ``watch`` was told."""


class Worker:
    """Runs an engine for many clients."""

    def __init__(
        self,
        engine: Engine,
        scheduler: Scheduler,
        observer: Observer | None = None,
        clock: Callable[[], float] = time.monotonic,
        threads: int = 1,
    ) -> None:
        """For an engine; on a CPU the rows of a turn may be shared out among ``threads``."""
        self.engine, self.scheduler, self.observer, self.clock = engine, scheduler, observer, clock
        self._changed = threading.Condition()
        self._works: dict[Ticket, Work] = {}
        self._gone: list[Work] = []
        self._places: list[tuple[Place, Future[Found]]] = []
        self._closing = False
        self.threads = threads
        self._batch = continuous(engine, threads)
        self._reader = reader_of(engine)
        self._running: dict[Ticket, Work] = {}
        self._thread = threading.Thread(target=self._run, name="levt-worker", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether work is taken."""
        return self._thread.is_alive() and not self._closing

    def close(self, timeout: float | None = None) -> None:
        """Take no more, finish what is there, and end."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(timeout)
            if self._thread.is_alive():
                log.warning("the worker did not end within %g seconds", timeout)

    def submit(
        self,
        jobs: Sequence[Job],
        *,
        group: Hashable,
        deadline: float = float("inf"),
        watches: Sequence[Watch | None] | None = None,
    ) -> list[Future[Outcome]]:
        """Queue all jobs, or none where there is no room."""
        works = [
            Work(
                job,
                Ticket(group=group, size=job.size, rows=most_rows(job.plan), deadline=deadline),
                Future(),
                watch,
            )
            for job, watch in zip(jobs, watches or [None] * len(jobs), strict=True)
        ]
        with self._changed:
            self._refuse_when_closing()
            self.scheduler.submit([work.ticket for work in works])
            self._works |= {work.ticket: work for work in works}
            self._changed.notify()
        for work in works:
            work.future.add_done_callback(partial(self._forget, work))
        return [work.future for work in works]

    def ask(self, place: Place) -> Future[Found]:
        """The alternatives of a place, with the next turn."""
        future: Future[Found] = Future()
        with self._changed:
            self._refuse_when_closing()
            if len(self._places) >= self.scheduler.queue:
                raise Problem("queue_full", f"{len(self._places)} places are waiting already")
            self._places.append((place, future))
            self._changed.notify()
        return future

    def _refuse_when_closing(self) -> None:
        if self._closing:
            raise Problem("shutting_down", "the server is about to stop")
        if not self._thread.is_alive():
            raise Problem("not_ready", "the server does not take requests")

    def _forget(self, work: Work, future: Future[Outcome]) -> None:
        if not future.cancelled():
            return
        with self._changed:
            if self._works.pop(work.ticket, None) is not None:
                self.scheduler.remove(work.ticket)
                self._gone.append(work)
                self._changed.notify()
        self._left("cancelled")

    def _run(self) -> None:
        try:
            self._turns()
        except Exception:
            log.exception("the worker has ended")
        # Nobody waits for a worker that has ended, whatever it was that ended it.
        with self._changed:
            left: list[Future[Any]] = [work.future for work in self._works.values()]
            left += [future for _, future in self._places]
            self._works, self._places = {}, []
            self._closing = True
        for future in left:
            _settle(future, Problem("internal", "something went wrong here"))

    def _turns(self) -> None:
        while True:
            with self._changed:
                while not (self._works or self._places or self._gone):
                    if self._closing:
                        return
                    self._changed.wait()
                gone, self._gone = self._gone, []
                late = [self._works.pop(ticket) for ticket in self.scheduler.expired(self.clock())]
                new = [self._works[ticket] for ticket in self.scheduler.admit()]
                places, self._places = self._places, []
            try:
                self._turn(gone, late, new, places)
            except Exception:
                log.exception("a turn of the worker failed")
                self._rescue()
                self._answer(places)

    def _turn(
        self,
        gone: Sequence[Work],
        late: Sequence[Work],
        new: Sequence[Work],
        places: Sequence[tuple[Place, Future[Found]]],
    ) -> None:
        # First of all: whatever fails from here on, they are on their way.
        self._running |= {work.ticket: work for work in new}
        for work in late:
            self._left("deadline_exceeded")
            _settle(work.future, Problem("deadline_exceeded", "the answer was not ready in time", hint=LATE))
        for work in (*gone, *late):
            self._running.pop(work.ticket, None)
        if leaving := [outcome for work in (*gone, *late) for outcome in work.outcomes]:
            self._batch.leave(leaving)
        for work in new:
            work.asking = settling(work.job.plan, self._reader)
            self._go_on(work, None)
        self._answer(places)
        joining = [work for work in self._running.values() if work.requests]
        if joining:
            found = iter(self._batch.add([request for work in joining for request in work.requests]))
            for work in joining:
                work.outcomes = [next(found) for _ in work.requests]
                work.requests = []
        began, rows = time.perf_counter(), len(self._batch.alive)
        self._batch.step()
        if rows and self.observer is not None:
            self.observer.stepped(rows, time.perf_counter() - began)
        for work in list(self._running.values()):
            self._tell(work)
            if work.outcomes and all(outcome.stopped for outcome in work.outcomes):
                self._go_on(work, work.outcomes)

    def _go_on(self, work: Work, outcomes: list[Outcome] | None) -> None:
        """Let a piece of work ask for its next refinements, or end it."""
        assert work.asking is not None
        work.requests, work.outcomes = [], []
        try:
            work.requests = next(work.asking) if outcomes is None else work.asking.send(outcomes)
        except StopIteration as end:
            self._end(work, end.value)
        except LevtError as error:
            self._end(work, error)
        except Exception as error:
            log.exception("a piece of work failed")
            self._end(work, error)

    def _end(self, work: Work, result: Outcome | Exception) -> None:
        with self._changed:
            self._works.pop(work.ticket, None)
            self.scheduler.remove(work.ticket)
        self._running.pop(work.ticket, None)
        if isinstance(result, Outcome):
            try:
                guard(result, work.job.plan, self.engine.tokenizers.target)
            except Exception as error:
                log.exception("a result could not be looked over")
                result = error
        if self.observer is not None and isinstance(result, Outcome):
            self.observer.finished(result)
        elif isinstance(result, Exception):
            self._left("internal")
        _settle(work.future, result)

    def _tell(self, work: Work) -> None:
        """Tell the iterations of a piece of work that is a single refinement; others are told at their end."""
        if work.watch is None or work.job.plan.missing or len(work.outcomes) != 1:
            return
        if work.outcomes[0].request is not work.job.plan.request:
            # A text read again: that mostly confirms it, and else the result tells.
            return
        try:
            for round_ in work.outcomes[0].rounds[work.seen :]:
                work.seen += 1
                work.watch(round_)
        except Exception:
            # Whoever listened has gone: that is no reason to stop for the others.
            log.exception("an iteration could not be told")
            work.watch = None

    def _answer(self, places: Sequence[tuple[Place, Future[Found]]]) -> None:
        wanted = [(place, future) for place, future in places if not future.done()]
        if not wanted:
            return
        try:
            results: Sequence[Found | Exception] = alternatives(self.engine, [place for place, _ in wanted])
        except Exception as error:
            if len(wanted) > 1:
                # One of them may be to blame: the others need not suffer.
                for one in wanted:
                    self._answer([one])
                return
            log.exception("alternatives failed")
            results = [error]
        for (_, future), found in zip(wanted, results, strict=True):
            _settle(future, found)

    def _rescue(self) -> None:
        """After a failure everything on its way begins anew, alone, so that only what is to blame fails again."""
        works = list(self._running.values())
        self._batch = continuous(self.engine, self.threads)
        for work in works:
            if work.future.cancelled():
                continue
            try:
                work.asking = settling(work.job.plan, self._reader)
                self._go_on(work, None)
                while work.requests:
                    alone = continuous(self.engine)
                    outcomes = alone.add(work.requests)
                    while alone.alive:
                        alone.step()
                    work.outcomes = outcomes
                    self._tell(work)
                    self._go_on(work, outcomes)
            except Exception as error:
                log.exception("a piece of work failed twice")
                self._end(work, error)

    def _left(self, reason: str) -> None:
        if self.observer is not None:
            self.observer.left(reason)


def _settle(future: Future[Any], result: Any) -> None:
    """Give a future its result, unless nobody waits for it any more."""
    try:
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
    except InvalidStateError:
        pass
