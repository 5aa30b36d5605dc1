"""The pure modules of the page do what the library does: pieces to text, traces to states, texts to tokens."""

import random
from itertools import pairwise
from typing import Any

import pytest

from levt.edits.script import between
from levt.edits.trace import Trace
from levt.edits.words import join
from levt.text.sentences import sentences

pytestmark = pytest.mark.browser

PIECES = [
    "▁Hund",
    "▁",
    "e",
    "s",
    ".",
    "▁.",
    "<0xC3>",
    "<0xA9>",
    "▁\ue0001",
    "\ue0000",
    "▁雪",
    "が",
    "▁10",
    "th",
    "▁<",
    "b>",
]


def test_pieces_become_the_same_text(editor: Any) -> None:
    draw = random.Random(1)
    rows = [draw.choices(PIECES, k=draw.randrange(9)) for _ in range(300)]
    texts, words = editor.evaluate(
        """async (rows) => { const { joinPieces, cutWords } = await import('/pieces.js');
             return [rows.map(joinPieces), rows.map(cutWords)]; }""",
        rows,
    )
    assert texts == [join(row) for row in rows]
    for row, text, cut in zip(rows, texts, words, strict=True):
        # Words lie side by side, hold every piece once, and read as the text.
        assert [n for word in cut for n in range(word["start"], word["end"])] == list(range(len(row)))
        assert "".join(" " * word["space"] + word["text"] for word in cut).removeprefix(" ") == text


def test_sentences_end_where_the_server_ends_them(editor: Any) -> None:
    draw = random.Random(4)
    parts = [
        *'AbzÄßé3_²。！」"”)\n -',
        "Dr.",
        "z.B.",
        "No. ",
        "12. ",
        "... ",
        "… ",
        ". ",
        "?  ",
        "؟ ",
        "\r\n\t",
        " 한",
    ]
    texts = ["".join(draw.choices(parts, k=draw.randrange(30))) for _ in range(1000)]
    # Lines of every fullness, some of them broken for width.
    words = ["Haus", "Straßenbahn", "Ä", "𝒜bc", "in.", "5.", "- x", "Zug:", "12) y"]
    texts += ["\n".join(" ".join(draw.choices(words, k=draw.randrange(6, 14))) for _ in range(draw.randrange(2, 5)))
              for _ in range(1000)]  # fmt: skip
    texts += ["A title\nDr. No met J. Doe. Why?\n\nNobody\nknew… Am 3. Oktober. So it was."]
    found = editor.evaluate(
        """async (texts) => { const { sentencesOf } = await import('/cutting.js');
             return texts.map((text) => sentencesOf(text).map(({ text, space }) => [text, space])); }""",
        texts,
    )
    for text, cut in zip(texts, found, strict=True):
        assert cut == [list(one) for one in sentences(text)], text
    assert len(found[-1]) == 6


def test_traces_are_replayed_alike(editor: Any) -> None:
    draw = random.Random(2)
    names = {token: f"▁{token}" for token in range(5, 12)}
    traces = []
    for _ in range(100):
        states = [draw.choices(list(names), k=draw.randrange(7)) for _ in range(4)]
        scripts = [between(a, b) for a, b in pairwise(states)]
        traces.append(Trace.of(states[0], scripts, names.__getitem__, stopped="limit"))
    found = editor.evaluate(
        """async (traces) => { const { frames } = await import('/trace.js');
             const said = ({ marked, tokens }) => ({ tokens: tokens.map((t) => t.token),
               marks: marked.map(({ mark, token }) => [mark, token.token]) });
             return traces.map((trace) => frames(trace).map(said)); }""",
        [trace.to_json() for trace in traces],
    )
    for trace, shown in zip(traces, found, strict=True):
        assert [tuple(frame["tokens"]) for frame in shown] == trace.replay()
        for changes, frame in zip(trace.changes(), shown[1:], strict=True):
            assert [[change.mark.name.lower(), change.token.token] for change in changes] == frame["marks"]


def test_typing_changes_only_what_was_typed(editor: Any, server: Any) -> None:
    draw = random.Random(3)
    words = ["Ein", "Hund", "läuft", "Hindernis", "und", "schnell", ",", ".", "<b>"]
    model = server.model
    cases = []
    for _ in range(60):
        old, new = (
            " ".join(draw.choices(words, k=draw.randrange(1, 7))).replace(" ,", ",") for _ in range(2)
        )
        tokens = model.encode(old)
        cases.append({"tokens": tokens, "pieces": model.vocabulary.of(tokens), "text": new})
    found = editor.evaluate(
        """async (cases) => { const { documentOf, textOf } = await import('/document.js');
             const { newToken } = await import('/trace.js');
             const { retype } = await import('/typing.js');
             const ask = async (text, inside) => (await fetch('/v1/tokenize', { method: 'POST',
               headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ text, inside }) })).json();
             const found = [];
             for (const { tokens, pieces, text } of cases) {
               const before = documentOf(tokens.map((token, i) => newToken(token, pieces[i])));
               const doc = await retype(before, text, ask);
               const ids = new Set(before.tokens.map((token) => token.id));
               found.push({ text: textOf(doc), gaps: doc.counts.length - doc.tokens.length,
                 tokens: doc.tokens.map((token) => [token.token, ids.has(token.id), token.locked]) });
             }
             return found; }""",
        cases,
    )
    for case, now in zip(cases, found, strict=True):
        assert now["text"] == case["text"]
        assert now["gaps"] == 1
        assert all(old != locked for _, old, locked in now["tokens"])
        assert [token for token, _, _ in now["tokens"]] == model.encode(case["text"])


def test_words_are_cut_alike_in_a_text_and_in_its_pieces(real: Any) -> None:
    """Whoever edits one word leaves all others who they are, with spaces that do not break and marks on marks."""
    texts = [
        "Etwa 10\xa0km, «\xa0ja\xa0»!",
        "Das ist ❤️ gut.",
        "Donau\xaddampf, O’Neills x_y 3.5\u202f%",
        "Cafe\u0301 – 12a",
    ]
    found = real.evaluate(
        """async (texts) => { const { documentOf, textOf } = await import('/document.js');
             const { newToken } = await import('/trace.js');
             const { differences } = await import('/typing.js');
             const ask = async (text) => (await fetch('/v1/tokenize', { method: 'POST',
               headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ text }) })).json();
             return Promise.all(texts.map(async (text) => {
               const { tokens, pieces } = await ask(text);
               const doc = documentOf(tokens.map((token, i) => newToken(token, pieces[i])));
               const texts = (...all) => differences(...all).map((place) => place.text);
               return [texts(documentOf([]), text), texts(doc, `${textOf(doc)} so`)]; })); }""",
        texts,
    )
    assert found == [[[text], ["so"]] for text in texts]


def followed(editor: Any, draft: list[str], before: list[str], after: list[str], **marks: Any) -> Any:
    """What is crossed out of a draft and asked for in its gaps, as words."""
    return editor.evaluate(
        """async ({ draft, before, after, locked = [], counts = {} }) => {
             const { documentOf } = await import('/document.js');
             const { newToken } = await import('/trace.js');
             const { follow } = await import('/follow.js');
             const tokens = draft.map((piece, i) => newToken(i, piece, { locked: locked.includes(i) }));
             const doc = documentOf(tokens);
             for (const [gap, count] of Object.entries(counts)) doc.counts[gap] = count;
             const { drop, counts: found } = follow(doc, before, after);
             return [draft.filter((_, i) => drop[i]), found]; }""",
        {"draft": draft, "before": before, "after": after, **marks},
    )


def test_a_changed_source_touches_only_what_it_changes(editor: Any) -> None:
    old = ["▁Ein", "▁Hund", "▁läuft", "."]
    assert followed(editor, old, old, old) == [[], [None] * 5]
    # One word for another, in more pieces; one more word; one less.
    assert followed(editor, old, old, ["▁Eine", "▁Kat", "ze", "▁läuft", "."]) == [
        ["▁Ein", "▁Hund"],
        [3, None, None, None, None],
    ]
    assert followed(editor, old, old, ["▁Ein", "▁alter", "▁Hund", "▁läuft", "."])[1] == [
        None,
        1,
        None,
        None,
        None,
    ]
    assert followed(editor, old, old, ["▁Ein", "▁Hund", "."]) == [["▁läuft"], [None, None, 0, None, None]]
    # What a person wrote or keeps stays, and what they asked for in a gap holds.
    mine = ["▁Ein", "▁Dackel", "▁läuft", "."]
    assert followed(editor, mine, old, ["▁Eine", "▁Katze", "▁läuft", "."]) == [["▁Ein"], [None] * 5]
    changed = ["▁Ein", "▁Wolf", "▁läuft", "."]
    assert followed(editor, old, old, changed, locked=[1]) == [[], [None] * 5]
    assert followed(editor, old, old, changed, counts={1: 2}) == [["▁Hund"], [None] * 5]
    # Another text altogether.
    assert followed(editor, old, old, ["▁Schnee", "▁fällt"]) == [old, [2, None, None, None, None]]
    assert followed(editor, [], [], ["▁Schnee"]) == [[], [1]]
