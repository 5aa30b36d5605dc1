"""The scheduler without a model: nobody is lost, the budget holds, groups take turns, late ones go."""

from collections import Counter

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from levt.serving.problems import Problem
from levt.serving.scheduler import Scheduler, Ticket

ROWS, TOKENS, QUEUE = 4, 60, 12


class Traffic(RuleBasedStateMachine):
    """Anything that may happen, in any order, beside a slow and obvious account of it."""

    def __init__(self) -> None:
        super().__init__()
        self.scheduler = Scheduler(rows=ROWS, tokens=TOKENS, queue=QUEUE)
        self.now = 0.0
        self.waiting: list[Ticket] = []
        self.running: list[Ticket] = []

    @rule(
        group=st.sampled_from("abc"),
        sizes=st.lists(st.integers(2, 80), min_size=1, max_size=6),
        rows=st.integers(1, 6),
        patience=st.one_of(st.just(float("inf")), st.floats(0, 9)),
    )
    def submit(self, group: str, sizes: list[int], rows: int, patience: float) -> None:
        tickets = [Ticket(group=group, size=size, rows=rows, deadline=self.now + patience) for size in sizes]
        if len(self.waiting) + len(tickets) > QUEUE:
            with pytest.raises(Problem) as refused:
                self.scheduler.submit(tickets)
            assert refused.value.type == "queue_full"
        else:
            self.scheduler.submit(tickets)
            self.waiting += tickets

    @rule()
    def admit(self) -> None:
        before = list(self.running)
        for ticket in self.scheduler.admit():
            assert ticket in self.waiting
            first = next(t for t in self.waiting if t.group == ticket.group)
            assert ticket is first, "in a group the order is that of arrival"
            self.waiting.remove(ticket)
            self.running.append(ticket)
        if self.running:
            rows = sum(t.rows for t in self.running)
            fits = rows <= ROWS and rows * max(t.size for t in self.running) <= TOKENS
            assert fits or (not before and len(self.running) == 1) or self.running == before
        else:
            assert not self.waiting, "somebody always gets a place"

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(self.running))
        self.running.remove(ticket)
        assert self.scheduler.remove(ticket)
        assert not self.scheduler.remove(ticket)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(self.waiting))
        self.waiting.remove(ticket)
        assert self.scheduler.remove(ticket)

    @rule(passed=st.floats(0, 5))
    def wait(self, passed: float) -> None:
        self.now += passed
        late = self.scheduler.expired(self.now)
        assert len(set(late)) == len(late)
        assert set(late) == {t for t in (*self.waiting, *self.running) if t.deadline <= self.now}
        self.waiting = [t for t in self.waiting if t not in late]
        self.running = [t for t in self.running if t not in late]

    @invariant()
    def nobody_is_lost(self) -> None:
        assert self.scheduler.waiting == len(self.waiting)
        assert self.scheduler.running == len(self.running)

    def teardown(self) -> None:
        """Whoever still waits is admitted in the end."""
        while self.waiting or self.running:
            for ticket in self.scheduler.admit():
                self.waiting.remove(ticket)
                self.running.append(ticket)
            assert self.running
            self.scheduler.remove(self.running.pop())
        assert self.scheduler.waiting == self.scheduler.running == 0


Traffic.TestCase.settings = settings(max_examples=80, stateful_step_count=30)
TestTraffic = Traffic.TestCase


@settings(max_examples=60)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=5), st.integers(1, 4))
def test_groups_take_turns(counts: list[int], rows: int) -> None:
    """As long as all wait, no group is ever more than one ticket ahead of another."""
    scheduler = Scheduler(rows=rows, tokens=10**6, queue=1000)
    for group, count in enumerate(counts):
        scheduler.submit([Ticket(group=group, size=5) for _ in range(count)])
    served: Counter[int] = Counter()
    while scheduler.waiting:
        for ticket in scheduler.admit():
            served[ticket.group] += 1  # type: ignore[index]
            hungry = [served[g] for g, count in enumerate(counts) if served[g] < count]
            assert not hungry or served[ticket.group] - min(hungry) <= 1  # type: ignore[index]
            scheduler.remove(ticket)
    assert served == Counter(dict(enumerate(counts)))


def test_a_single_text_does_not_wait_for_a_thousand() -> None:
    scheduler = Scheduler(rows=1, tokens=100, queue=2000)
    scheduler.submit([Ticket(group="many", size=5) for _ in range(1000)])
    [running] = scheduler.admit()
    one = Ticket(group="one", size=5)
    scheduler.submit([one])
    admitted = []
    while one not in admitted:
        scheduler.remove(running)
        [running] = scheduler.admit()
        admitted.append(running)
    assert len(admitted) <= 2


def test_a_large_one_is_not_passed_over_for_ever() -> None:
    scheduler = Scheduler(rows=4, tokens=100, queue=100)
    small = [Ticket(group=i, size=10) for i in range(3)]
    scheduler.submit(small)
    scheduler.admit()
    large = Ticket(group="large", size=90)
    scheduler.submit([large])
    scheduler.submit([Ticket(group=10 + i, size=10) for i in range(20)])
    for ticket in small:
        assert large not in scheduler.admit()
        scheduler.remove(ticket)
    assert scheduler.admit() == [large]


def test_a_cancelled_ticket_frees_its_place_at_once() -> None:
    scheduler = Scheduler(rows=1, tokens=100, queue=1)
    first, second, third = (Ticket(group=i, size=5) for i in range(3))
    scheduler.submit([first])
    scheduler.admit()
    scheduler.submit([second])
    with pytest.raises(Problem, match="waiting already"):
        scheduler.submit([third])
    scheduler.remove(second)
    scheduler.submit([third])
    scheduler.remove(first)
    assert scheduler.admit() == [third]


def test_more_than_can_ever_wait_is_too_much_and_not_too_early() -> None:
    scheduler = Scheduler(rows=1, tokens=100, queue=2)
    with pytest.raises(Problem, match="3 texts or parts of texts, at most 2 may wait") as refused:
        scheduler.submit([Ticket(group="a", size=5) for _ in range(3)])
    assert refused.value.type == "too_many_texts"


def test_the_rows_of_each_count() -> None:
    scheduler = Scheduler(rows=5, tokens=100, queue=9)
    tickets = [Ticket(group=name, size=2, rows=2) for name in "abc"]
    scheduler.submit(tickets)
    assert scheduler.admit() == tickets[:2]
    scheduler.remove(tickets[0])
    assert scheduler.admit() == tickets[2:]


def test_a_deadline_has_passed_when_it_is_reached() -> None:
    scheduler = Scheduler(rows=5, tokens=100, queue=9)
    ticket = Ticket(group="a", size=2, deadline=7.0)
    scheduler.submit([ticket])
    assert scheduler.expired(6.9) == []
    assert scheduler.expired(7.0) == [ticket]
