"""Where the terms go, and in which order: asks the model, by refining. Knows no text.

In a draft a term is put into the gap that the model most wants to open. On an empty canvas the terms are the
canvas: every order is refined (up to four terms; then each further term is tried in every place) and the one
whose decisions the model was surest of is taken.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations
from math import exp, factorial
from typing import TypeVar

from levt.errors import InputError
from levt.refine.loop import Asking, Outcome
from levt.refine.request import Request, Tokens
from levt.refine.reread import Reader, rereading
from levt.refine.steering import Plan

Run = Callable[[Sequence[int], Sequence[Request]], list[Outcome]]
"""Refine requests; the first argument says for each which source it belongs to."""

T = TypeVar("T")

ALL_ORDERS = 4
"""Up to this many terms every order is tried: 24 of them."""


def settle(plans: Sequence[Plan], run: Run, reader: Reader | None = None) -> list[Outcome]:
    """Place all terms and refine; plan i belongs to source i."""
    return together([settling(plan, reader) for plan in plans], run)


def settling(plan: Plan, reader: Reader | None = None) -> Asking[Outcome]:
    """Place the terms of one plan and refine it: asks for refinements, one round of them at a time.

    With a reader, what was written is read again where the plan says so.
    """
    placed = yield from placing(plan)
    tried = _first_orders(placed)
    while True:
        found = yield [on_canvas(placed.request, order) for order in tried]
        best, outcome = max(zip(tried, found, strict=True), key=lambda pair: _sureness(pair[1]))
        used = len(best)
        if used == len(placed.missing):
            return (
                (yield from rereading(outcome, reader, plan.numbers)) if reader and plan.reread else outcome
            )
        term = placed.missing[used][1]
        tried = [(*best[:at], term, *best[at:]) for at in range(used + 1)]


def placing(plan: Plan) -> Asking[Plan]:
    """Put the missing terms of a draft into it, one after another, each where the model wants most."""
    while plan.missing and plan.request.draft:
        # One iteration tells what the model would insert where, with the terms placed so far in their places.
        request = plan.request
        probe = replace(request, options=replace(request.options, max_iterations=1))
        [outcome] = yield [probe]
        number, tokens = plan.missing[0]
        gap = max(allowed_gaps(plan, number), key=wants(outcome).__getitem__)
        plan = put(plan, number, tokens, gap)
    return plan


def most_rows(plan: Plan) -> int:
    """The most refinements that ``settling`` asks for at once.

    >>> from levt.refine.request import Request
    >>> most_rows(Plan(request=Request(source=(5,)), missing=((0, (6,)), (1, (7,)), (2, (8,)))))
    6
    """
    terms = len(plan.missing)
    if plan.request.draft or plan.ordered or terms < 2:
        return 1
    return factorial(terms) if terms <= ALL_ORDERS else terms


def together(asking: Sequence[Asking[T]], run: Run) -> list[T]:
    """Answer all who ask, in common rounds, until each has what it wants; who asks as the i-th has source i."""
    done: dict[int, T] = {}
    answers: dict[int, list[Outcome] | None] = dict.fromkeys(range(len(asking)))
    while answers:
        asked: dict[int, list[Request]] = {}
        for i, given in answers.items():
            try:
                asked[i] = next(asking[i]) if given is None else asking[i].send(given)
            except StopIteration as end:
                done[i] = end.value
        if not asked:
            break
        rows = [i for i, requests in asked.items() for _ in requests]
        found = iter(run(rows, [request for requests in asked.values() for request in requests]))
        answers = {i: [next(found) for _ in requests] for i, requests in asked.items()}
    return [done[i] for i in range(len(asking))]


def wants(outcome: Outcome) -> list[float]:
    """For each gap of the draft, how much the model wanted to insert there in the first iteration.

    Above 1 where it did insert, by its confidence; below 1 elsewhere, by its doubt. A gap between tokens
    that were deleted counts as the gap behind the last token kept before it.
    """
    first = outcome.rounds[0]
    want = [
        (1 + _exp(logp) if count else 1 - _exp(logp))
        for count, logp in zip(first.script.counts, first.counts_logp, strict=True)
    ]
    wanted, kept = [want[0]], 0
    for gone in first.script.drop:
        kept += not gone
        wanted.append(want[kept] if not gone else want[kept] - 1e-3)
    return wanted


def allowed_gaps(plan: Plan, number: int) -> list[int]:
    """The gaps of a draft where a term may be put: none that is glued shut, and in order where that counts.

    Where somebody asked for nothing, none is put if there is another gap.
    """
    request = plan.request
    n = len(request.draft)
    gaps = [gap for gap in range(n + 1) if gap == n or not request.glued[gap]]
    if plan.ordered:
        low = max((i + 1 for i, owner in enumerate(plan.owners) if 0 <= owner < number), default=0)
        high = min((i for i, owner in enumerate(plan.owners) if owner > number), default=n)
        gaps = [gap for gap in gaps if low <= gap <= high]
    gaps = [gap for gap in gaps if request.open.get(gap) != 0] or gaps
    if not gaps:
        raise InputError(
            f"term {number + 1} has no place between its neighbours, which must stay together",
            hint="ask for another order, or for none",
        )
    return gaps


def put(plan: Plan, number: int, tokens: Tokens, gap: int) -> Plan:
    """The plan with one missing term put into a gap of its draft."""
    old, n = plan.request, len(tokens)

    def spliced(marks: tuple[bool, ...], *, new: Sequence[bool]) -> tuple[bool, ...]:
        return (*marks[:gap], *new, *marks[gap:])

    request = replace(
        old,
        draft=(*old.draft[:gap], *tokens, *old.draft[gap:]),
        locked=spliced(old.locked, new=[True] * n),
        glued=spliced(old.glued, new=[i > 0 for i in range(n)]),
        drop=spliced(old.drop, new=[False] * n),
        # Placeholders asked for in this very gap stay before the term.
        open={at if at <= gap else at + n: count for at, count in old.open.items()},
        only={at if at <= gap else at + n: tokens for at, tokens in old.only.items()},
    )
    owners = (*plan.owners[:gap], *[number] * n, *plan.owners[gap:])
    missing = tuple(pair for pair in plan.missing if pair[0] != number)
    return replace(plan, request=request, owners=owners, missing=missing)


def on_canvas(request: Request, terms: Sequence[Tokens]) -> Request:
    """The request with an empty draft replaced by terms; any other draft as it is."""
    if not terms:
        return request
    assert not request.draft, "terms on a draft are placed one by one"
    draft = tuple(token for term in terms for token in term)
    return replace(
        request,
        draft=draft,
        locked=(True,) * len(draft),
        glued=tuple(i > 0 for term in terms for i in range(len(term))),
        drop=(),
    )


def _first_orders(plan: Plan) -> list[tuple[Tokens, ...]]:
    terms = tuple(tokens for _, tokens in plan.missing)
    if plan.ordered or len(terms) < 2:
        return [terms]
    return list(permutations(terms)) if len(terms) <= ALL_ORDERS else [terms[:1]]


def _sureness(outcome: Outcome) -> float:
    score = outcome.score
    return score if score == score else float("-inf")


def _exp(logp: float) -> float:
    """A probability, whatever a broken policy may have given."""
    return exp(min(logp, 0.0)) if logp == logp else 0.0
