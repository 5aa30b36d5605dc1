"""The picture of three edits, drawn from a real trace: ``three-edits.json`` becomes ``three-edits.svg``.

    levt demo --out demo
    python docs/images/three_edits.py demo/run/best "The old sialor sells hsi bicycle."

takes a new trace from a model that repairs typing errors; without arguments the picture is drawn again.
"""

import json
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

from levt.edits.follow import Change, Mark
from levt.edits.trace import Trace

HERE = Path(__file__).parent
HEIGHT, LETTER, LEFT, MARGIN = 52, 10.9, 150, 24
STYLE = """
  .ground { fill: #ffffff } text { fill: #1d1b26 } .label { fill: #5b5868; font: 15px system-ui, sans-serif }
  .text { font: 18px ui-monospace, Menlo, Consolas, monospace }
  .gone { fill: #b3261e; text-decoration: line-through } .come { fill: #6a1b9a; font-weight: 700 }
  .hole { fill: #efe7fb; stroke: #6a1b9a; stroke-width: 1.5; stroke-dasharray: 4 3 }
  .under { stroke: #6a1b9a; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #1e1e26 } text { fill: #f2f0f8 } .label { fill: #bdb9cc }
    .gone { fill: #ff8a80 } .come { fill: #d1a8ff }
    .hole { fill: #352a4d; stroke: #d1a8ff } .under { stroke: #d1a8ff }
  }
"""


def words(changes: Sequence[Change], marks: Sequence[Mark]) -> list[tuple[Mark, str]]:
    """Stretches of text with one mark, with those marks only; a space is where a piece begins a word."""
    found: list[tuple[Mark, str]] = []
    for change in changes:
        if change.mark in marks:
            text = change.token.piece.replace("▁", " ")
            if found and found[-1][0] is change.mark:
                found[-1] = (change.mark, found[-1][1] + text)
            else:
                found.append((change.mark, text))
    return found


def line(y: float, label: str, spans: Sequence[tuple[Mark, str]], *, holes: bool = False) -> list[str]:
    """One row of the picture."""
    parts = [f'<text class="label" x="{MARGIN}" y="{y}">{escape(label)}</text>']
    at = 0
    for mark, text in spans:
        x, inner = LEFT + LETTER * (at + text.startswith(" ")), text.strip()
        long = LETTER * len(inner)
        if mark is Mark.INSERT and holes:
            parts.append(
                f'<rect class="hole" x="{x:.1f}" y="{y - 19}" width="{long:.1f}" height="26" rx="4"/>'
            )
        else:
            kind = {Mark.KEEP: "", Mark.DELETE: " gone", Mark.INSERT: " come"}[mark]
            parts.append(
                f'<text class="text{kind}" x="{x:.1f}" y="{y}" textLength="{long:.1f}">{escape(inner)}</text>'
            )
            if mark is Mark.INSERT:
                parts.append(f'<path class="under" d="M{x:.1f} {y + 6} h{long:.1f}"/>')
        at += len(text)
    return parts


def draw(trace: Trace) -> str:
    """The first iteration as four rows: the draft and its three edits."""
    changes = trace.changes()[0]
    before, after = (Mark.KEEP, Mark.DELETE), (Mark.KEEP, Mark.INSERT)
    draft = [(Mark.KEEP, "".join(text for _, text in words(changes, before)))]
    rows = [
        ("draft", draft, False),
        ("1  delete", words(changes, before), False),
        ("2  placeholders", words(changes, after), True),
        ("3  fill", words(changes, after), False),
    ]
    body: list[str] = []
    for i, (label, spans, holes) in enumerate(rows):
        body += line(38 + HEIGHT * i, label, spans, holes=holes)
    high = HEIGHT * len(rows) + 12
    # No wider than its text: what is empty makes the letters small on a phone.
    wide = round(LEFT + LETTER * max(sum(len(text) for _, text in spans) for _, spans, _ in rows) + MARGIN)
    said = escape(f"{trace.text} is made from a draft by deleting, opening placeholders and filling them")
    size = f'width="{wide}" viewBox="0 0 {wide} {high}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{said}">'
    ground = f'<rect class="ground" width="{wide}" height="{high}" rx="10"/>'
    return "\n".join([head, f"<style>{STYLE}</style>", ground, *body, "</svg>"]) + "\n"


def main(argv: Sequence[str]) -> None:
    """Draw, from a new trace if a model and a text are given."""
    if argv:
        import levt

        folder, text = argv
        trace = levt.load(folder, device="cpu").refine(text, draft=text).trace
        (HERE / "three-edits.json").write_text(
            json.dumps(trace.to_json(), ensure_ascii=False, indent=1) + "\n"
        )
    saved = json.loads((HERE / "three-edits.json").read_text(encoding="utf-8"))
    (HERE / "three-edits.svg").write_text(draw(Trace.from_json(saved)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
