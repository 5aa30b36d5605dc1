"""Which rows of a trace are iterations, and what to say of iterations that left no row. Knows no way of showing it.

A row that no policy decided (a text read anew in its usual pieces, a banned word taken out at the end) is no
iteration. And one that only confirmed, or was taken back, has left nothing to be shown but its number.
"""

from levt.edits.trace import Trace

UNDECIDED = "–"
"""Stands where a number would."""


def labels(trace: Trace) -> list[str]:
    """The number of each row, if it is an iteration; where nobody computed probabilities, all are.

    >>> from levt.edits.script import EditScript
    >>> labels(Trace.of([], [EditScript(drop=(), counts=(0,), fill=())] * 2, str))
    ['1', '2']
    """
    decided = _decided(trace)
    numbers = iter(range(1, len(decided) + 1))
    return [str(next(numbers)) if own or not any(decided) else UNDECIDED for own in decided]


def unlisted(trace: Trace, iterations: int | None) -> tuple[str, str] | None:
    """Numbers of the iterations that have no row, of so many that were made, and what came of them.

    Deletion that repeats ends a refinement before the iteration has edits to show, a finished text that is read
    anew and stays has none, and what a cycle did after its best state is taken back.
    """
    decided = _decided(trace)
    if iterations is None or not any(decided) or iterations <= sum(decided):
        return None
    first = sum(decided) + 1
    label = str(first) if first == iterations else f"{first}–{iterations}"
    if trace.stopped == "cycle":
        return label, "nothing of it stayed"
    # Who stops unchanged has shown it: what comes then is the text in its usual pieces, unless that came before.
    again = trace.stopped == "unchanged" and all(decided)
    return label, "read again as text: nothing changed" if again else "nothing changed"


def _decided(trace: Trace) -> list[bool]:
    """For each row, whether a policy decided it: then the probability of every gap is known."""
    return [iteration.counts_probs is not None for iteration in trace.iterations]
