"""A trace as a page of HTML that asks for nothing from outside: no script, no font, no image, one style.

Insertions are ``<ins>``, deletions ``<del>``: underlined and struck through, so no meaning is in the colour
alone. Everything that comes from a trace or a caller is escaped.
"""

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from levt.edits.follow import Change, Mark, Op
from levt.edits.numbering import labels, unlisted
from levt.edits.spans import Span, Word, spans
from levt.edits.trace import STOPS, Trace
from levt.edits.words import join, visible

ELEMENTS = {Mark.DELETE: ("del", "deleted"), Mark.INSERT: ("ins", "inserted")}
"""The element of a mark, and its word for a reader."""

LEGEND = (
    "<p class=legend>Legend: <ins>inserted</ins> <del>deleted</del>. Rest the pointer on an edit for its \
probability, where one is known, or open the list of decisions.</p>"
)


def probability_text(probability: float | None) -> str:
    """A probability as a reader sees it.

    >>> probability_text(0.98765), probability_text(None)
    ('0.988', '–')
    """
    return "–" if probability is None else f"{probability:.3f}"


def word_title(word: Word, what: str) -> str:
    """What is known about the edit of a word: the probability of each of its pieces."""
    known = [change for change in word.changes if change.probability is not None]
    if not known:
        return what
    if len(word.changes) == 1:
        return f"{what}, probability {probability_text(known[0].probability)}"
    listed = ", ".join(
        f"{visible(change.token.piece)} {probability_text(change.probability)}" for change in word.changes
    )
    return f"{what}, probabilities {listed}"


def span_html(span: Span) -> str:
    """A span: plain text, or one element per word, so that each word has a title of its own."""
    outside = " " * span.space
    if span.mark is Mark.KEEP:
        return outside + escape(span.text)
    element, what = ELEMENTS[span.mark]
    parts = []
    for word in span.words:
        title, text = escape(word_title(word, what)), escape(" " * word.space + word.text)
        parts.append(f'<{element} title="{title}">{text}</{element}>')
    return outside + "".join(parts)


def changes_html(changes: Sequence[Change]) -> str:
    """One iteration as text with its edits marked."""
    return "".join(span_html(span) for span in spans(changes))


def text_html(text: str) -> str:
    """Text of a state; the empty one says so."""
    return escape(visible(text)) if text else "<em>(empty)</em>"


def rows(trace: Trace, text_attributes: str, iterations: int | None = None) -> Iterator[str]:
    """The rows of a trace: the draft, the iterations, the result."""

    def row(label: str, happened: str, body: str, kind: str) -> str:
        head = f"<tr class={kind}><th scope=row>{label}</th><td>{happened}</td>"
        return f"{head}<td{text_attributes}>{body}</td></tr>"

    yield row("Draft", "", text_html(join(trace.draft_pieces)), "draft")
    for label, changes in zip(labels(trace), trace.changes(), strict=True):
        marks = [change.mark for change in changes]
        gone, come = marks.count(Mark.DELETE), marks.count(Mark.INSERT)
        if gone or come:
            yield row(label, f"{gone}&nbsp;deleted, {come}&nbsp;inserted", changes_html(changes), "iteration")
        else:
            yield row(label, "nothing changed", text_html(join_kept(changes)), "iteration")
    if rest := unlisted(trace, iterations):
        yield row(*rest, text_html(trace.text), "iteration")
    yield row("Result", "", text_html(trace.text), "result")


def join_kept(changes: Sequence[Change]) -> str:
    """The text of an iteration that changed nothing."""
    return join([change.token.piece for change in changes])


def op_row(op: Op, label: str) -> str:
    """One decision of the list, and in which iteration it was."""
    piece = escape(visible(op.piece))
    return (
        f"<tr><td>{label}</td><td>{op.op}</td><td>{op.position}</td>"
        f"<td><code dir=auto>{piece}</code></td><td>{probability_text(op.probability)}</td></tr>"
    )


def decisions(trace: Trace) -> str:
    """Every edit with its probability, for those who cannot rest a pointer; folded away."""
    ops = list(trace.ops())
    if not ops:
        return ""
    numbers = labels(trace)
    listed = "".join(op_row(op, numbers[op.iteration - 1]) for op in ops)
    head = "".join(
        f"<th scope=col>{name}</th>" for name in ("iteration", "edit", "position", "piece", "probability")
    )
    return (
        f"<details><summary>All decisions ({len(ops)})</summary><div class=scroll tabindex=0>"
        f"<table class=ops><thead><tr>{head}</tr></thead><tbody>{listed}</tbody></table>"
        "</div></details>"
    )


def section(
    trace: Trace,
    *,
    title: str,
    source: str | None = None,
    lang: str | None = None,
    iterations: int | None = None,
) -> str:
    """A trace as a part of a page; ``source`` is the text it translates, ``lang`` its own language.

    ``iterations``: how many were made in all, if that is known; those that left no edits are one row.
    """
    text_attributes = " class=text dir=auto" + (f' lang="{escape(lang)}"' if lang else "")
    read = f"<p class=source dir=auto>Source: {escape(visible(source))}</p>" if source else ""
    stopped = f"<p class=stopped>Stopped: {escape(STOPS[trace.stopped])}.</p>" if trace.stopped else ""
    return (
        f"<section><h2>{escape(visible(title))}</h2>{read}<table class=trace>"
        "<thead><tr><th scope=col>Iteration</th><th scope=col>Edits</th><th scope=col>Text</th></tr></thead>"
        f"<tbody>{''.join(rows(trace, text_attributes, iterations))}</tbody></table>"
        f"{stopped}{decisions(trace)}</section>"
    )


def page(sections: Sequence[str], *, title: str, note: str | None = None) -> str:
    """A whole page of sections as ``section`` makes them."""
    style = files("levt.edits").joinpath("render_html.css").read_text(encoding="utf-8")
    said = f"<p>{escape(visible(note))}</p>" if note else ""
    heading = escape(visible(title))
    return (
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<title>{heading}</title><style>\n{style}</style></head>\n"
        f"<body><main><h1>{heading}</h1>{said}{LEGEND}\n{chr(10).join(sections)}</main></body></html>\n"
    )
