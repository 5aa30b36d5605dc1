"""Spans: an iteration as text that can be read both ways."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from traces import Plain, built, plain_traces

from levt.edits.follow import Mark
from levt.edits.script import between
from levt.edits.spans import Span, spans
from levt.edits.trace import Trace
from levt.edits.words import join


def read(found: list[Span], without: Mark) -> str:
    """The text of the spans with those of one mark left out, single spaces between words."""
    text = "".join(" " * span.space + span.text * (span.mark is not without) for span in found)
    return re.sub(" +", " ", text).strip(" ")


@given(plain_traces())
def test_reading_both_ways_gives_both_states(plain: Plain) -> None:
    trace = built(plain)
    texts = [re.sub(" +", " ", join([t.piece for t in state])).strip(" ") for state in trace.states()]
    for before, after, line in zip(texts, texts[1:], trace.changes(), strict=False):
        found = spans(line)
        assert read(found, Mark.INSERT) == before
        assert read(found, Mark.DELETE) == after
        assert [c for span in found for word in span.words for c in word.changes] == list(line)
        assert all(a.mark is not b.mark for a, b in pairwise(found))


def marked(before: list[str], after: list[str]) -> str:
    vocabulary = ["", "", "", "", "", *dict.fromkeys([*before, *after])]
    ids = [[vocabulary.index(piece) for piece in pieces] for pieces in (before, after)]
    trace = Trace.of(ids[0], [between(*ids)], vocabulary.__getitem__)
    signs = {Mark.KEEP: "{}", Mark.DELETE: "[-{}-]", Mark.INSERT: "{{+{}+}}"}
    return "".join(
        " " * span.space + signs[span.mark].format(span.text) for span in spans(trace.changes()[0])
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (["▁Das", "▁Haus"], ["▁Ein", "▁Haus"], "[-Das-] {+Ein+} Haus"),
        (["▁Hun", "t", "▁da"], ["▁Hun", "d", "▁da"], "Hun[-t-]{+d+} da"),
        (["▁a", "▁b", "▁c", "▁d"], ["▁a", "▁d"], "a [-b c-] d"),
        (["▁a", "."], ["▁a", "▁b", "."], "a{+ b+}."),
        (["▁a", "▁b"], ["▁a"], "a [-b-]"),
        (["▁a", "▁b", "c"], ["▁a", "c"], "a[- b-]c"),
        (["▁un", "able"], ["able"], "[-un-]able"),
        (["▁foo", "bar"], ["▁foo", "▁", "bar"], "foo{+ +}bar"),
        (["▁foo", "▁", "▁bar"], ["▁foo", "▁bar"], "foo[- -] bar"),
        (["▁", "bar"], ["bar"], "[- -]bar"),
        ([], ["▁a", "▁b"], "{+a b+}"),
        (["▁a"], [], "[-a-]"),
        (["▁a", "<0xF0>", "<0x9F>", "<0x99>", "<0x82>"], ["▁a"], "a[-🙂-]"),
        (["▁a"], ["▁a", "\x1b[2J"], "a{+\\x1b[2J+}"),
    ],
)
def test_spaces_stand_where_they_belong(before: list[str], after: list[str], expected: str) -> None:
    assert marked(before, after) == expected
