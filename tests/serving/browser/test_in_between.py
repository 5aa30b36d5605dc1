"""What a person types, and what failed, belongs where it was typed and where it failed, whatever is done next."""

from typing import Any

import pytest

from browser.in_between import fails_once, slowly, two_sentences, type_over

pytestmark = pytest.mark.browser


def test_a_word_that_is_typed_stays_in_its_sentence(editor: Any) -> None:
    two_sentences(editor)
    slowly(editor)
    type_over(editor, "Hund", "Dackel")
    editor.press("Alt+PageDown")
    editor.word("Katze").wait_for()
    assert editor.text == "Ein Katze schläft."
    editor.press("Alt+PageUp")
    editor.locator(".word", has_text="Dackel").wait_for()
    assert editor.text == "Ein Dackel läuft."


def test_typing_and_doing_something_else_before_the_server_has_answered(editor: Any) -> None:
    editor.translate("A dog runs.")
    slowly(editor)
    type_over(editor, "Hund", "Regenwurm")
    editor.press("Enter", "ArrowRight", "ArrowRight", "Space")
    type_over(editor, "Ein", "Der")
    editor.press("Enter")
    editor.locator(".word", has_text="Der").wait_for()
    assert editor.text == "Der Regenwurm läuft."
    assert editor.locator(".word.locked").all_text_contents() == ["Der", "Regenwurm", "läuft"]


def test_typing_and_undo_copy_or_join_at_once(editor: Any) -> None:
    two_sentences(editor)
    slowly(editor)
    type_over(editor, "Hund", "Dackel")
    editor.press("Alt+c")
    editor.locator("#status", has_text="Copied").wait_for()
    assert editor.evaluate("navigator.clipboard.readText()") == "Ein Dackel läuft. Ein Katze schläft."
    type_over(editor, "läuft", "rennt")
    editor.locator("#undo").click()
    editor.locator("#status", has_text="Undone: wrote “rennt”.").wait_for()
    assert editor.text == "Ein Dackel läuft."
    type_over(editor, "läuft", "rennt")
    editor.locator("#join").click()
    editor.locator("#sentences").wait_for(state="hidden")
    assert editor.text == "Ein Dackel rennt. Ein Katze schläft."


def test_trying_again_is_for_the_source_and_the_draft_as_they_are(editor: Any, server: Any) -> None:
    fails_once(server)
    editor.locator("#source").fill("A dog runs.")
    editor.locator("#translate").click()
    editor.locator("#notice").wait_for()
    editor.locator("#source").fill("A cat runs.")
    editor.locator("#notice-retry").click()
    editor.word("Katze").wait_for()
    assert editor.text == "Ein Katze läuft."
    fails_once(server)
    type_over(editor, "läuft", "rennt")
    editor.press("Enter")
    editor.locator("#notice").wait_for()
    editor.word("Ein").focus()
    editor.press("Space")
    editor.locator("#notice-retry").click()
    editor.word("rennt").wait_for()
    assert editor.locator(".word.locked").all_text_contents() == ["Ein", "rennt"]


def test_what_failed_in_one_sentence_is_not_tried_again_in_another(editor: Any, server: Any) -> None:
    two_sentences(editor)
    fails_once(server)
    editor.locator("#continue").click()
    editor.locator("#notice").wait_for()
    editor.press("Alt+PageDown")
    editor.locator("#notice").wait_for(state="hidden")
    assert editor.text == "Ein Katze schläft."


def test_whoever_goes_elsewhere_while_typing_types_on_there(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.locator("#follow").uncheck()
    type_over(editor, "Hund", "Dackel")
    editor.locator("#source").click()
    editor.press("End")
    editor.keyboard.type(" Quickly.")
    editor.word("Dackel").wait_for()
    assert editor.text == "Ein Dackel läuft."
    assert editor.locator("#source").input_value() == "A dog runs. Quickly."
    type_over(editor, "läuft", "rennt")
    editor.press("Tab")
    assert editor.evaluate("!document.querySelector('#draft').contains(document.activeElement)")
    editor.word("rennt").wait_for()


def test_what_cannot_be_written_waits_and_is_named(editor: Any) -> None:
    """Neither another word, nor another sentence, nor the model's turn may let it be forgotten."""
    two_sentences(editor)
    editor.route("**/v1/**", lambda route: route.abort())
    type_over(editor, "Hund", "Dackel")
    editor.press("Alt+PageDown")
    editor.locator("#notice", has_text="Not written yet: “Dackel”.").wait_for()
    assert editor.text == "Ein Hund läuft."
    type_over(editor, "läuft", "rennt")
    editor.press("Control+Enter")
    editor.locator("#notice", has_text="Not written yet: “Dackel”, “rennt”.").wait_for()
    editor.unroute("**/v1/**")
    editor.press("Alt+PageDown")
    editor.word("Katze").wait_for()
    assert editor.locator("#notice").is_hidden()
    editor.press("Alt+PageUp")
    assert editor.text == "Ein Dackel rennt."
    assert editor.locator(".word.locked").all_text_contents() == ["Dackel", "rennt"]


def test_what_cannot_be_written_can_be_given_up(editor: Any) -> None:
    two_sentences(editor)
    editor.route("**/v1/**", lambda route: route.abort())
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter")
    editor.locator("#notice-close").click()
    editor.press("Alt+PageDown")
    editor.word("Katze").wait_for()
    editor.press("Alt+PageUp")
    assert editor.text == "Ein Hund läuft."


def test_typing_and_editing_as_text_at_once(editor: Any) -> None:
    editor.translate("A dog runs.")
    slowly(editor)
    type_over(editor, "Hund", "Dackel")
    editor.locator("#as-text").click()
    editor.locator("#whole").wait_for()
    assert editor.locator("#whole").input_value() == "Ein Dackel läuft."


def test_a_text_that_cannot_be_written_does_not_let_the_model_go_on_without_it(
    editor: Any, server: Any
) -> None:
    editor.give("A dog runs.", "Ein Wolf läuft.")
    editor.press("Alt+t")
    editor.locator("#whole").fill("Ein Dackel läuft.")
    fails_once(server)
    editor.press("Control+Enter")
    editor.locator("#notice").wait_for()
    assert editor.locator("#whole").input_value() == "Ein Dackel läuft."
    assert [path for path, _ in server.asked if path == "/v1/refine"] == []


def test_what_is_chosen_is_for_the_word_that_was_pressed(editor: Any) -> None:
    """Also if another one was still being written, in more pieces than before."""
    editor.translate("A dog runs.")
    slowly(editor)
    type_over(editor, "Hund", "Regenwurm")
    editor.word("läuft").click()
    editor.word("Regenwurm").wait_for()
    editor.choose("Keep")
    assert editor.locator(".word.locked").all_text_contents() == ["Regenwurm", "läuft"]


def test_a_ban_that_failed_can_be_tried_again(editor: Any, server: Any) -> None:
    fails_once(server)
    editor.locator("#ban").fill("Wolf")
    editor.press("Enter")
    editor.locator("#notice-retry").click()
    editor.locator("#bans li", has_text="Wolf").wait_for()


def test_what_is_edited_as_text_is_what_is_copied_saved_and_joined(editor: Any) -> None:
    def edit(text: str) -> None:
        editor.press("Alt+t")
        editor.locator("#whole").fill(text)

    two_sentences(editor)
    edit("Ein Dackel läuft.")
    editor.press("Alt+c")
    editor.locator("#status", has_text="Copied").wait_for()
    assert editor.evaluate("navigator.clipboard.readText()") == "Ein Dackel läuft. Ein Katze schläft."
    edit("Ein Wolf läuft.")
    assert editor.saved("Text") == "Ein Wolf läuft. Ein Katze schläft.\n"
    edit("Ein Pudel läuft.")
    editor.locator("#sentence-list button").nth(1).click()
    editor.word("Katze").wait_for()
    edit("Ein Kater schläft.")
    editor.locator("#join").click()
    editor.locator("#sentences").wait_for(state="hidden")
    assert editor.text == "Ein Pudel läuft. Ein Kater schläft."
