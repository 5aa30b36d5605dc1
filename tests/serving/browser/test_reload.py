"""What the tab remembers: all that was written, in tokens of the model that is there, and nothing that is not ours."""

from typing import Any

import pytest

pytestmark = pytest.mark.browser


def reload(editor: Any) -> None:
    editor.reload()
    editor.locator("#model:not(:empty)").wait_for()


@pytest.mark.parametrize(
    "kept",
    [
        "7",
        "{",
        '{"sentences": 5, "at": 0}',
        '{"sentences": [], "at": 0}',
        '{"sentences": [{"space": "", "now": {}}], "at": 0}',
        '{"sentences": [{"space": "", "now": {"source": "", "doc": {"tokens": [], "counts": [null]}}}], "at": 7}',
        '{"sentences": [{"space": "", "now": {"doc": {"tokens": []}}}], "at": 0, "model": 3, "whole": 4}',
    ],
)
def test_what_is_not_ours_is_no_trouble(editor: Any, kept: str) -> None:
    editor.evaluate("(kept) => sessionStorage.setItem('levt-editor-2', kept)", kept)
    reload(editor)
    editor.translate("A dog runs.")
    assert editor.text == "Ein Hund läuft."


def test_a_draft_that_is_being_edited_as_text(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.press("Alt+t")
    editor.locator("#whole").fill("Ein Dackel läuft.")
    reload(editor)
    assert editor.locator("#whole").input_value() == "Ein Dackel läuft."
    editor.press("Alt+t")
    editor.locator(".word.locked", has_text="Dackel").wait_for()
    reload(editor)
    assert editor.locator("#whole").is_hidden()
    assert editor.text == "Ein Dackel läuft."


def test_how_sure_the_model_was(editor: Any) -> None:
    editor.translate("A dog runs.")
    labels = [word.get_attribute("aria-label") for word in editor.locator("#draft .word").all()]
    assert labels == ["Ein", "Hund", "läuft, doubtful, 42 %", "."]
    reload(editor)
    assert [word.get_attribute("aria-label") for word in editor.locator("#draft .word").all()] == labels


def test_what_is_new_is_still_told_from_what_was_there(editor: Any) -> None:
    editor.translate("A dog runs.")
    reload(editor)
    editor.locator("#follow").uncheck()
    editor.locator("#source").fill("A black dog runs quickly over the deep snow and the black cat sleeps.")
    editor.go_on()
    old = editor.locator("#draft .word:not(.fresh)").all_text_contents()
    assert old == ["Ein", "Hund", "läuft", "."]


def test_another_model_gets_tokens_of_its_own(editor: Any, server: Any) -> None:
    editor.locator("#ban").fill("Katze")
    editor.press("Enter")
    editor.locator("#bans li").wait_for()
    editor.translate("A dog runs over the deep snow.")
    editor.word("Hund").focus()
    editor.press("Space", "ArrowRight", "ArrowUp")
    editor.word("tiefen").focus()
    editor.press("Delete")
    editor.gap(8).focus()
    editor.press("ArrowUp", "ArrowUp")
    server.name = "other"
    server.model.vocabulary.pieces.reverse()
    editor.locator("#continue").click()
    editor.locator("#notice", has_text="The server has another model now").wait_for()
    reload(editor)
    editor.word("Hund").wait_for()
    assert editor.text == "Ein Hund läuft über der tiefen Schnee."
    assert editor.locator(".word.locked").all_text_contents() == ["Hund"]
    assert editor.locator(".word.crossed").all_text_contents() == ["tiefen"]
    assert editor.locator(".gap.asked").all_text_contents() == ["+1", "+2"]
    editor.go_on()
    state = server.last("/v1/refine")["state"]
    assert server.model.vocabulary.text(state["tokens"]) == "Ein Hund läuft über der tiefen Schnee."
    assert server.model.vocabulary.text(state["banned"][0]) == "Katze"
    assert state["words"] == [None, None, 1, None, None, None, None, None, 2]


def test_settings(editor: Any, server: Any) -> None:
    editor.locator("details summary").click()
    editor.locator("#dial").fill("0.5")
    editor.locator("#length").fill("1.5")
    editor.locator("#iterations").fill("3")
    editor.locator("#follow").uncheck()
    reload(editor)
    assert not editor.locator("#follow").is_checked()
    assert editor.locator("#dial-value").text_content() == "only edits above 75 %"
    assert editor.locator("#length-value").text_content() == "+1.5"
    editor.translate("A dog runs.")
    options = server.last("/v1/translate")["options"]
    assert (options["min_edit"], options["empty_gap_penalty"], options["max_iterations"]) == (0.5, 1.5, 3)


def test_a_text_that_the_browser_cannot_keep(editor: Any) -> None:
    """It is said once, for a reload would bring back less than there is."""
    editor.translate("A dog runs.")
    editor.evaluate("() => sessionStorage.setItem('full', 'x'.repeat(5 * 2 ** 20 - 2000))")
    editor.locator("#source").fill("A dog runs over the deep snow. " * 100)
    editor.locator("#notice", has_text="would not survive a reload").wait_for()
    assert editor.locator("#notice-retry").is_hidden()
    editor.locator("#notice-close").click()
    editor.locator("#source").fill("A dog runs over the deep snow. " * 101)
    assert editor.locator("#notice").is_hidden()
