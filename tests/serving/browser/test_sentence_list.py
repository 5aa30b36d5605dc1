"""A list of sentences: what was asked for, kept and banned is not lost on the way to it and back."""

from typing import Any

import pytest

pytestmark = pytest.mark.browser

TWO = "A dog runs. A cat sleeps."


def add(editor: Any, field: str, text: str) -> None:
    editor.locator(f"#{field}").fill(text)
    editor.press("Enter")
    editor.locator(f"#{field}s li", has_text=text).wait_for()


def split(editor: Any) -> None:
    editor.locator("#source").fill(TWO)
    editor.locator("#split").click()
    editor.locator("#status", has_text="2 sentences translated.").wait_for()


def test_joining_keeps_what_was_asked_for_in_each(editor: Any, server: Any) -> None:
    split(editor)
    add(editor, "term", "Hund")
    add(editor, "ban", "Wolf")
    editor.gap(4).focus()
    editor.press("ArrowUp", "Alt+PageDown")
    add(editor, "term", "Katze")
    add(editor, "ban", "Mieze")
    add(editor, "ban", "Wolf")
    editor.locator("#join").click()
    editor.locator("#sentences").wait_for(state="hidden")
    editor.go_on()
    asked = server.last("/v1/refine")
    assert asked["terms"] == ["Hund", "Katze"]
    assert [server.model.vocabulary.text(ban) for ban in asked["state"]["banned"]] == ["Wolf", "Mieze"]
    assert asked["state"]["words"] == [None] * 4 + [1] + [None] * 4


def test_a_source_that_was_changed_is_still_so_after_joining(editor: Any) -> None:
    split(editor)
    editor.locator("#follow").uncheck()
    editor.locator("#source").fill("A black dog runs.")
    editor.locator("#join").click()
    editor.locator("#source-note", has_text="The source has changed").wait_for()
    editor.go_on()
    assert "schwarzer" in editor.words


def test_no_list_where_something_would_be_lost(editor: Any) -> None:
    editor.locator("#source").fill(TWO)
    add(editor, "term", "Hund")
    assert editor.locator("#split").is_hidden()
    editor.get_by_role("button", name="Remove Hund").click()
    assert editor.locator("#split").is_visible()
    editor.press("Alt+t")
    editor.locator("#whole").fill("Ein Hund läuft. Ein Katze schläft.")
    assert editor.locator("#split").is_hidden()


def test_the_source_is_not_written_into_while_a_list_is_made_of_it(editor: Any) -> None:
    editor.evaluate(
        """() => { const ask = window.fetch;
             window.fetch = async (...all) => (await new Promise((go) => setTimeout(go, 300)), ask(...all)); }"""
    )
    editor.locator("#source").fill(TWO)
    editor.locator("#split").click()
    editor.locator("#source[readonly]").wait_for()
    # Another turn would end up in one of the sentences.
    editor.press("Control+Enter", "Alt+Enter")
    editor.locator("#status", has_text="2 sentences translated.").wait_for()
    assert editor.locator("#source[readonly]").count() == 0


def test_a_list_is_shown_and_remembered_once_and_not_for_each_sentence(editor: Any) -> None:
    editor.evaluate(
        """() => { const set = Storage.prototype.setItem; window.kept = 0;
             Storage.prototype.setItem = function (...all) { window.kept += 1; return set.apply(this, all); }; }"""
    )
    editor.locator("#source").fill("A dog runs. " * 40)
    editor.locator("#split").click()
    editor.locator("#status", has_text="40 sentences translated.").wait_for()
    assert editor.evaluate("() => window.kept") < 10
    assert editor.text == "Ein Hund läuft."
    assert editor.locator("#sentence-list button").count() == 40
