"""Who waits, who is on the way, who comes next. Knows no tensor, no thread and no clock: it is told the time.

Whoever sent a request is a group; groups take turns, so that a thousand texts of one do not keep the single
text of another waiting. Within a group the order is that of arrival. The next in turn is never passed over by a
smaller one: whatever fits into the budget at all is admitted after finitely many others.
"""

import heapq
from collections import OrderedDict, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import count

from levt.serving.problems import Problem


@dataclass(eq=False, kw_only=True)
class Ticket:
    """One text, or one part of a text, that wants a place."""

    group: Hashable
    """Who sent it."""
    size: int
    """Tokens of its longer side, boundaries counted."""
    rows: int = 1
    """Rows of the batch that it needs, at most."""
    deadline: float = float("inf")
    """When its answer is of no use any more."""


class Scheduler:
    """Admits tickets into a batch of at most so many rows and, padding counted, so many tokens.

    >>> scheduler = Scheduler(rows=2, tokens=100, queue=9)
    >>> many = [Ticket(group="a", size=5) for _ in range(3)]
    >>> one = Ticket(group="b", size=5)
    >>> scheduler.submit(many); scheduler.submit([one])
    >>> scheduler.admit() == [many[0], one]
    True
    """

    def __init__(self, *, rows: int, tokens: int, queue: int) -> None:
        self.rows, self.tokens, self.queue = rows, tokens, queue
        self._groups: OrderedDict[Hashable, deque[Ticket]] = OrderedDict()
        self._waiting: set[Ticket] = set()
        self._running: set[Ticket] = set()
        self._deadlines: list[tuple[float, int, Ticket]] = []
        self._number = count()

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """How many have one."""
        return len(self._running)

    def submit(self, tickets: Sequence[Ticket]) -> None:
        """Queue all of them, or, where the queue has no room for all, none."""
        if len(tickets) > self.queue:
            # Waiting would not help.
            raise Problem(
                "too_many_texts",
                f"the request has {len(tickets)} texts or parts of texts, at most {self.queue} may wait",
                hint="send them in several requests",
            )
        if self.waiting + len(tickets) > self.queue:
            raise Problem(
                "queue_full",
                f"{self.waiting} texts are waiting already, at most {self.queue} may",
                hint="try again in a moment",
            )
        for ticket in tickets:
            self._groups.setdefault(ticket.group, deque()).append(ticket)
            self._waiting.add(ticket)
            if ticket.deadline < float("inf"):
                heapq.heappush(self._deadlines, (ticket.deadline, next(self._number), ticket))

    def admit(self) -> list[Ticket]:
        """Those who get a place now; one alone always does, however large it is."""
        admitted = []
        rows, longest = self._load()
        while self._groups:
            group, queue = next(iter(self._groups.items()))
            ticket = queue[0]
            if ticket not in self._waiting:  # removed while it waited
                queue.popleft()
            elif self._running and not self._fits(rows + ticket.rows, max(longest, ticket.size)):
                break
            else:
                queue.popleft()
                self._waiting.discard(ticket)
                self._running.add(ticket)
                admitted.append(ticket)
                rows, longest = rows + ticket.rows, max(longest, ticket.size)
                self._groups.move_to_end(group)
            if not queue:
                del self._groups[group]
        return admitted

    def remove(self, ticket: Ticket) -> bool:
        """Forget one that is done or not wanted any more; False where it was not here."""
        known = ticket in self._waiting or ticket in self._running
        self._waiting.discard(ticket)
        self._running.discard(ticket)
        if not self._waiting:
            self._groups.clear()
        if not self._waiting and not self._running:
            self._deadlines.clear()
        return known

    def expired(self, now: float) -> list[Ticket]:
        """Those whose deadline has passed, waiting or running; they are forgotten."""
        late = []
        while self._deadlines and self._deadlines[0][0] <= now:
            ticket = heapq.heappop(self._deadlines)[2]
            if self.remove(ticket):
                late.append(ticket)
        return late

    def _load(self) -> tuple[int, int]:
        return (
            sum(ticket.rows for ticket in self._running),
            max((ticket.size for ticket in self._running), default=0),
        )

    def _fits(self, rows: int, longest: int) -> bool:
        return rows <= self.rows and rows * longest <= self.tokens
