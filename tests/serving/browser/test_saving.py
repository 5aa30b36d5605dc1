"""What a person takes away: the traces, a page to share, the text."""

import json
from pathlib import Path
from typing import Any

import pytest

from browser.page_object import alone_with
from levt.edits.trace import Trace

pytestmark = pytest.mark.browser


def session(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.word("Hund").click()
    editor.choose("Keep")
    editor.word("läuft").focus()
    editor.keyboard.type("<b>rast</b>")
    editor.press("Enter")
    editor.locator(".word", has_text="rast").wait_for()
    editor.go_on()


def test_the_trace(editor: Any) -> None:
    session(editor)
    found = json.loads(editor.saved("Trace"))
    assert [turn["action"] for turn in found["turns"]] == ["translate", "continue"]
    assert found["turns"][1]["gestures"] == ["kept “Hund”", "wrote “<b>rast</b>”"]
    traces = [Trace.from_json(turn["trace"]) for turn in found["turns"]]
    assert traces[0].text == "Ein Hund läuft."
    assert traces[1].text == found["text"] == editor.text


def test_the_session_as_a_page(editor: Any, chromium: Any, tmp_path: Path) -> None:
    session(editor)
    page = tmp_path / "session.html"
    page.write_text(editor.saved("Session"), encoding="utf-8")
    profile, alone = alone_with(chromium, page)
    assert alone.locator("h2").all_text_contents() == [
        "The model translated",
        "The person",
        "The model went on",
    ]
    assert alone.locator("table").first.locator("del").all_text_contents() == ["geht"]
    assert "wrote “<b>rast</b>”" in alone.locator("main").text_content()
    assert alone.locator(".final").text_content() == editor.text
    assert alone.locator("script, img, link, main b:not([title])").count() == 0
    profile.close()


def test_the_page_keeps_paragraphs(editor: Any, chromium: Any, tmp_path: Path) -> None:
    editor.locator("#source").fill("A dog runs.\n\nA cat sleeps.")
    editor.locator("#translate").click()
    editor.locator("#status", has_text="2 sentences translated.").wait_for()
    page = tmp_path / "session.html"
    page.write_text(editor.saved("Session"), encoding="utf-8")
    profile, alone = alone_with(chromium, page)
    assert alone.locator(".faint.text").inner_text() == "A dog runs.\n\nA cat sleeps."
    assert alone.locator(".final").inner_text() == "Ein Hund läuft.\n\nEin Katze schläft."
    profile.close()


def test_the_text(editor: Any) -> None:
    editor.translate("A dog runs.")
    assert editor.saved("Text") == "Ein Hund läuft.\n"
