"""The page: well formed, everything escaped, nothing from outside, readable in both schemes."""

import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from traces import Plain, built, plain_traces

from levt.edits.render_html import page, section
from levt.edits.script import EditScript, between
from levt.edits.trace import Trace
from levt.edits.words import join

VOID = {"meta"}
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "section", "table", "thead",
    "tbody", "tr", "th", "td", "ins", "del", "em", "details", "summary", "div", "code",
}  # fmt: skip
HOSTILE = [
    "▁<script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "</title>",
    "▁&amp;",
    "'><img src=x>",
    "\x1b\u202e",
]


class Reader(HTMLParser):
    """Checks that elements nest and are closed, and collects what is in them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts[tag][-1] += data

    def titles(self, tag: str) -> list[str | None]:
        return [attributes.get("title") for name, attributes in self.found if name == tag]


def whole(trace: Trace, **options: str) -> str:
    return page([section(trace, title="One", **options)], title="Page")


def legend_left_out(values: list[str]) -> list[str]:
    return values[1:]


@settings(max_examples=50)
@given(plain_traces())
def test_any_trace_makes_a_sound_page(plain: Plain) -> None:
    trace = built(plain)
    reader = Reader(whole(trace))
    assert {tag for tag, _ in reader.found} <= ALLOWED
    for _, attributes in reader.found:
        assert not {"src", "href", "style"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
    rows = [a.get("class") for tag, a in reader.found if tag == "tr" and a.get("class")]
    assert rows == ["draft", *["iteration"] * len(trace.iterations), "result"]
    cells = reader.texts["td"][: 2 * len(rows)][1::2]
    assert cells[0] == (join(trace.draft_pieces) or "(empty)")
    assert cells[-1] == (trace.text or "(empty)")
    for kind in ("del", "ins"):
        shown = "".join(legend_left_out(reader.texts[kind])).replace(" ", "")
        op = {"del": "delete", "ins": "fill"}[kind]
        assert shown == "".join(o.piece for o in trace.ops() if o.op == op).replace("▁", "")


def test_probabilities_are_in_the_titles() -> None:
    vocabulary = ["", "", "", "", "", "▁Ein", "▁Hun", "t", "d", "▁da"]
    trace = Trace.of([5, 6, 7], [between([5, 6, 7], [5, 9, 8])], vocabulary.__getitem__)
    iteration = replace(trace.iterations[0], drop_probs=(1.0, 0.5, 0.25), fill_probs=(0.12345, 0.875))
    reader = Reader(whole(replace(trace, iterations=(iteration,))))
    assert reader.titles("del") == [None, "deleted, probabilities ▁Hun 0.500, t 0.250"]
    assert reader.titles("ins") == [None, "inserted, probabilities ▁da 0.123, d 0.875"]
    unknown = Reader(whole(trace))
    assert unknown.titles("del") == [None, "deleted"]
    single = Trace.of([5], [between([5], [])], vocabulary.__getitem__)
    single = replace(single, iterations=(replace(single.iterations[0], drop_probs=(1.0,)),))
    assert Reader(whole(single)).titles("del")[1] == "deleted, probability 1.000"


def test_each_word_is_an_element_with_its_space_inside() -> None:
    vocabulary = ["", "", "", "", "", "▁a", "▁b", "c", "▁d"]
    trace = Trace.of([5], [between([5], [5, 6, 7, 8])], vocabulary.__getitem__)
    assert 'a <ins title="inserted">bc</ins><ins title="inserted"> d</ins></td>' in whole(trace)


def test_hostile_pieces_titles_and_sources_are_text() -> None:
    vocabulary = ["", "", "", "", "", *HOSTILE]
    ids = list(range(5, 5 + len(HOSTILE)))
    trace = Trace.of(ids[:3], [between(ids[:3], ids[2:])], vocabulary.__getitem__)
    iteration = trace.iterations[0]
    known = replace(iteration, fill_probs=(0.5,) * len(iteration.pieces), drop_probs=(0.5,) * 3)
    trace = replace(trace, iterations=(known,))
    hostile = "<script>alert(2)</script>\x00"
    text = page(
        [section(trace, title=hostile, source=hostile, lang='x" onclick="alert(3)')],
        title=hostile,
        note=hostile,
    )
    reader = Reader(text)
    assert {tag for tag, _ in reader.found} <= ALLOWED
    assert all(not name.startswith("on") for _, attributes in reader.found for name in attributes)
    assert reader.texts["del"][1].startswith("<script>alert(1)</script>")
    assert reader.texts["title"] == ["<script>alert(2)</script>\\x00"]
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_empty_draft_nothing_changed_and_ten_iterations() -> None:
    same = EditScript(drop=(False,), counts=(0, 0), fill=())
    trace = Trace.of(
        [], [EditScript(drop=(), counts=(1,), fill=(5,)), *[same] * 9], lambda _: "▁a", stopped="limit"
    )
    reader = Reader(whole(trace, source="x", lang="de"))
    assert reader.texts["td"][1] == "(empty)"
    assert [a.get("class") for tag, a in reader.found if tag == "tr"].count("iteration") == 10
    assert reader.texts["td"].count("nothing changed") == 9
    assert "Stopped: the limit on iterations was reached." in reader.texts["p"]
    assert "Source: x" in reader.texts["p"]
    assert sum(attributes.get("lang") == "de" for _, attributes in reader.found) == 12
    assert reader.texts["summary"] == ["All decisions (2)"]
    assert "<details>" not in section(Trace.of([5], [same], lambda _: "▁a"), title="t")


def test_the_page_asks_for_nothing_from_outside() -> None:
    text = whole(Trace.of([], [], str))
    assert "default-src 'none'" in text
    assert not re.search(r"https?:|url\(|@import|<link|<script|<img", text)
    assert text.count("<style>") == 1
    assert "prefers-color-scheme: dark" in text


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_have_the_contrast_of_wcag_aa() -> None:
    style = files("levt.edits").joinpath("render_html.css").read_text(encoding="utf-8")
    schemes = [
        dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in re.findall(r":root \{([^}]*)\}", style)
    ]
    assert len(schemes) == 2
    for colours in schemes:
        for ink, ground in [
            ("ink", "paper"), ("ink", "band"), ("faint", "paper"), ("ins", "ins-band"), ("del", "del-band")
        ]:  # fmt: skip
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    assert "text-decoration: underline" in style
    assert "text-decoration: line-through" in style


@pytest.mark.browser
def test_chromium_runs_nothing_of_a_hostile_page(tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no Chromium")
    vocabulary = ["", "", "", "", "", "▁<script>document.title='owned'</script>", "▁<b>bold</b>"]
    trace = Trace.of([5], [between([5], [6])], vocabulary.__getitem__)
    file = tmp_path / "page.html"
    file.write_text(whole(trace), encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--dump-dom"]
    command = [chromium, *flags, f"--user-data-dir={tmp_path / 'profile'}", file.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert "<title>Page</title>" in dom
    assert "<b>" not in dom
    assert "<script" not in dom
    assert "&lt;b&gt;bold&lt;/b&gt;" in dom
