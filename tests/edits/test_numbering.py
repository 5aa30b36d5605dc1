"""Every iteration that was made is accounted for, once: by a row with a number, or by the line for those without."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from levt.edits.iteration import Iteration
from levt.edits.numbering import labels, unlisted
from levt.edits.render_html import section
from levt.edits.render_terminal import as_lines, rows
from levt.edits.script import EditScript
from levt.edits.trace import Trace
from levt.engine.result import Result
from tiny_models import tiny


def row(*, decided: bool = True) -> Iteration:
    return Iteration(
        script=EditScript(drop=(False,), counts=(0, 0), fill=()),
        pieces=(),
        drop_probs=(0.5,) if decided else None,
        counts_probs=(0.5, 0.5) if decided else None,
    )


def trace(*decided: bool, stopped: str | None = "repeated") -> Trace:
    found = tuple(row(decided=one) for one in decided)
    return Trace(draft=(5,), draft_pieces=("▁a",), iterations=found, stopped=stopped)


def test_only_what_was_decided_has_a_number() -> None:
    assert labels(trace(True, False, True)) == ["1", "–", "2"]
    assert labels(trace(False, False)) == ["1", "2"], "nobody computed probabilities"


@pytest.mark.parametrize(
    ("decided", "stopped", "made", "said"),
    [
        ((True, True), "repeated", 3, ("3", "nothing changed")),
        ((True, True), "repeated", 5, ("3–5", "nothing changed")),
        ((True, True), "unchanged", 4, ("3–4", "read again as text: nothing changed")),
        ((True, False, True), "unchanged", 3, ("3", "nothing changed")),
        ((True, True), "cycle", 3, ("3", "nothing of it stayed")),
        ((True, True), "unchanged", 2, None),
        ((True, True), "repeated", None, None),
        ((False,), "limit", 9, None),
    ],
)
def test_the_line_for_iterations_without_a_row(
    decided: tuple[bool, ...], stopped: str, made: int | None, said: tuple[str, str] | None
) -> None:
    assert unlisted(trace(*decided, stopped=stopped), made) == said


def test_terminal_and_page_say_the_same() -> None:
    shown = as_lines(rows(trace(True, True), colour=False, iterations=3)).plain.splitlines()
    assert shown[3:5] == [
        "3              nothing changed",
        "stop           deletion gave the same state as in the iteration before",
    ]
    html = section(trace(True, True), title="t", iterations=3)
    assert "<th scope=row>3</th><td>nothing changed</td>" in html
    assert "<th scope=row>3</th>" not in section(trace(True, True), title="t")
    HTMLParser().feed(html)


def test_the_list_of_decisions_has_the_numbers_of_the_rows() -> None:
    write = EditScript(drop=(), counts=(1,), fill=(5,))
    first = Iteration(script=EditScript(drop=(), counts=(0,), fill=()), pieces=(), counts_probs=(0.5,))
    last = Iteration(script=write, pieces=("▁a",), counts_probs=(0.5,), fill_probs=(0.5,))
    undecided = Iteration(script=EditScript(drop=(True,), counts=(0,), fill=()), pieces=())
    made = Trace(draft=(), draft_pieces=(), iterations=(first, last, undecided), stopped=None)
    html = section(made, title="t")
    assert "<td>2</td><td>fill</td>" in html
    assert "<td>–</td><td>delete</td>" in html


def listed(result: Result) -> int:
    """Iterations that a reader of the trace counts."""
    count = 0
    for label, _, _ in rows(result.trace, colour=False, iterations=result.iterations):
        first, _, last = label.partition("–")
        if first.isdecimal():
            count += int(last or first) - int(first) + 1
    return count


def test_what_is_shown_adds_up_whatever_the_stop() -> None:
    stops = set()
    for seed in range(6):
        model = tiny("levt", seed=seed)
        for result in model.translate(["a dog runs", "two cats sleep on a mat", "x"]):
            assert listed(result) == result.iterations, result
            stops.add(result.stopped)
    assert len(stops) > 1


def test_a_trace_alone_promises_nothing() -> None:
    found = rows(replace(trace(True), stopped=None), colour=False)
    assert [label for label, _, _ in found] == ["draft", "1", "result"]
