"""Iterations of a real model: how they play, what the scrubber shows, what is underlined, what is taken away."""

import json
from pathlib import Path
from typing import Any

import pytest

from browser.page_object import alone_with, open_editor
from browser.real_editor import DOGS
from levt.edits.trace import Trace
from levt.edits.words import join

pytestmark = pytest.mark.browser

WATCH = """() => { window.seen = []; const frame = document.getElementById('frame');
  const look = (tag) => [...frame.querySelectorAll(tag)].map((node) => { const style = getComputedStyle(node);
    return { text: node.textContent, shown: style.display !== 'none', line: style.textDecorationLine,
             motion: style.animationName, wide: node.getBoundingClientRect().width }; });
  new MutationObserver(() => window.seen.push({ phase: frame.dataset.phase, del: look('del'), ins: look('ins') }))
    .observe(frame, { attributes: true, childList: true }); }"""


def test_deletions_are_struck_through_then_insertions_grow(profile: Any, real_address: str) -> None:
    for moving in open_editor(profile, real_address, motion="no-preference"):
        moving.give(DOGS.text, DOGS.draft)
        moving.word("laufen").focus()
        moving.press("Delete", "ArrowRight", "ArrowUp")
        moving.evaluate(WATCH)
        moving.locator("#step").click()
        moving.rests()
        seen = moving.evaluate("window.seen")
        phases = [moment["phase"] for moment in seen if moment["phase"] != "all"]
        assert sorted(set(phases), key=phases.index) == ["delete", "insert", "fill"]
        struck = next(moment for moment in seen if moment["phase"] == "delete")
        assert "laufen" in [node["text"] for node in struck["del"]]
        assert all((node["line"], node["motion"]) == ("line-through", "strike") for node in struck["del"])
        assert not any(node["shown"] for node in struck["ins"])
        opened = next(moment for moment in seen if moment["phase"] == "insert")
        assert opened["ins"]
        assert all(node["motion"] == "grow" for node in opened["ins"])
        filled = next(moment for moment in seen if moment["phase"] == "fill")
        assert all(node["line"] == "underline" and node["wide"] > 0 for node in filled["ins"])


def test_every_iteration_of_the_trace_is_on_the_scrubber(real: Any) -> None:
    real.translate(DOGS.text)
    trace = Trace.from_json(json.loads(real.saved("Trace"))["turns"][-1]["trace"])
    states = [[token.piece for token in state] for state in trace.states()]
    scrubber, frame = real.locator("#scrubber"), real.locator("#frame")
    assert scrubber.get_attribute("max") == str(len(states))
    scrubber.focus()
    real.press("Home")
    for number, pieces in enumerate(states):
        left = frame.evaluate(
            """node => { const copy = node.cloneNode(true);
                 copy.querySelectorAll('del, em').forEach((one) => one.remove());
                 return copy.textContent; }"""
        )
        # Letters in bytes are put together only where one run has them all.
        if not any(piece.startswith("<0x") for piece in pieces):
            assert "".join(left.split()) == "".join(join(pieces).split())
        what = "Draft" if number == 0 else f"Iteration {number} of {len(states) - 1}"
        assert scrubber.get_attribute("aria-valuetext").startswith(what)
        real.press("ArrowRight")
    assert frame.is_hidden()
    assert real.text == trace.text


def test_doubt_is_a_line_and_a_word_never_a_colour_alone(real: Any) -> None:
    real.translate("Zorblax quickly vexed the frumious gyre of Wexham.")
    lines = {"": "none", "unsure": "dotted", "doubtful": "wavy"}
    found = real.locator("#draft .word").evaluate_all(
        """nodes => nodes.map((node) => { const style = getComputedStyle(node);
             return [node.getAttribute('aria-label'), style.textDecorationLine, style.textDecorationStyle,
                     style.color]; })"""
    )
    kinds = [
        next((kind for kind in ("unsure", "doubtful") if f", {kind}, " in label), "") for label, *_ in found
    ]
    assert any(kinds), "the model is sure of a text that nobody knows"
    for kind, (_, line, style, _) in zip(kinds, found, strict=True):
        assert (style if line == "underline" else "none") == lines[kind]
    assert len({colour for *_, colour in found}) == 1


def test_what_is_taken_away(real: Any, chromium: Any, tmp_path: Path) -> None:
    real.give(DOGS.text, DOGS.draft)
    real.word("Hunde").click()
    real.choose("Keep")
    real.go_on()
    after = real.text
    real.locator("#copy").click()
    real.locator("#status", has_text="Copied").wait_for()
    assert real.evaluate("navigator.clipboard.readText()") == after == real.saved("Text").removesuffix("\n")
    found = json.loads(real.saved("Trace"))
    [turn] = found["turns"]
    assert turn["gestures"] == ["gave a draft", "kept “Hunde”"]
    assert Trace.from_json(turn["trace"]).text == found["text"] == after
    page = tmp_path / "session.html"
    page.write_text(real.saved("Session"), encoding="utf-8")
    profile, alone = alone_with(chromium, page)
    assert alone.locator(".final").text_content() == after
    assert alone.locator("tr").count() == len(turn["trace"]["iterations"]) + 1
    assert alone.locator("script, link, img").count() == 0
    profile.close()
