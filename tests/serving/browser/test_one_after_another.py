"""What is still on its way ends up where it was asked for, and nothing goes on under the model's turn."""

from typing import Any

import pytest

from browser.in_between import fails_once, slowly, two_sentences, type_over, unanswered

pytestmark = pytest.mark.browser


def bans(editor: Any) -> list[str]:
    found: list[str] = editor.locator("#bans li span:first-child").all_text_contents()
    return found


def test_a_ban_stays_in_its_sentence(editor: Any) -> None:
    two_sentences(editor)
    slowly(editor)
    editor.locator("#ban").fill("Wolf")
    editor.press("Enter", "Alt+PageDown")
    editor.word("Katze").wait_for()
    editor.wait_for_timeout(500)
    assert bans(editor) == []
    editor.press("Alt+PageUp")
    editor.word("Hund").wait_for()
    assert bans(editor) == ["Wolf"]


def test_a_term_that_was_typed_and_not_added_stays_in_its_sentence(editor: Any) -> None:
    two_sentences(editor)
    editor.locator("#term").fill("Haus")
    editor.press("Alt+PageDown")
    editor.word("Katze").wait_for()
    assert editor.locator("#term").input_value() == ""
    assert editor.locator("#terms li").count() == 0
    editor.press("Alt+PageUp")
    editor.locator("#terms li", has_text="Haus").wait_for()


def test_a_turn_that_waits_for_a_word_ends_in_its_sentence(editor: Any) -> None:
    two_sentences(editor)
    slowly(editor)
    editor.locator("#ban").fill("Katze")
    editor.press("Enter")
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter", "Control+Enter", "Alt+PageDown")
    editor.locator("#status", has_text="iteration").wait_for()
    assert editor.locator("#sentence-list [aria-current]").text_content() == "1. A dog runs."
    assert editor.text == "Ein Dackel läuft."


def test_another_sentence_and_then_the_model(editor: Any, server: Any) -> None:
    two_sentences(editor)
    slowly(editor)
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter", "Alt+PageDown", "Control+Enter")
    editor.locator("#status", has_text="iteration").wait_for()
    assert server.last("/v1/refine")["text"] == "A cat sleeps."
    assert editor.text == "Ein Katze schläft."


def test_edit_as_text_and_then_the_model(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    slowly(editor)
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter", "Alt+t", "Control+Enter")
    editor.locator("#status", has_text=": 0 deleted").wait_for()
    assert editor.locator("#whole").is_hidden()
    assert editor.text == "Ein Dackel läuft."


def test_trying_again_writes_down_what_is_being_edited(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    fails_once(server)
    editor.locator("#continue").click()
    editor.locator("#notice").wait_for()
    editor.press("Alt+t")
    editor.locator("#whole").fill("Ein Dackel läuft.")
    editor.locator("#notice-retry").click()
    editor.locator("#status", has_text="iteration").wait_for()
    assert editor.locator("#whole").is_hidden()
    assert editor.text == "Ein Dackel läuft."
    tokens = server.last("/v1/refine")["state"]["tokens"]
    assert server.model.vocabulary.text(tokens) == "Ein Dackel läuft."


def test_another_turn_in_the_place_of_one(editor: Any) -> None:
    """It is not called stopped while the model is at work."""
    editor.translate("A dog runs.")
    editor.evaluate(
        """() => { const status = document.querySelector('#status'); window.said = [];
             const note = () => window.said.push(status.textContent);
             new MutationObserver(note).observe(status, { childList: true }); }"""
    )
    slowly(editor)
    editor.press("Control+Enter")
    editor.locator("#stop").wait_for()
    editor.press("Control+Shift+Enter")
    editor.locator("#status", has_text="iteration").wait_for()
    assert not [said for said in editor.evaluate("() => window.said") if "Stopped" in said]


def test_work_that_goes_on_while_another_model_is_met(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    server.name = "other"
    server.model.vocabulary.pieces.reverse()
    editor.add_init_script(
        """const ask = window.fetch;
           window.fetch = async (...all) => (await new Promise((go) => setTimeout(go, 500)), ask(...all));"""
    )
    editor.reload()
    editor.word("Hund").focus()
    editor.press("Space")
    editor.locator("#source").fill("A dog runs over the snow.")
    editor.locator("#follow").uncheck()
    editor.wait_for_timeout(700)
    editor.word("Ein").focus()
    editor.press("Space")
    editor.locator("#model", has_text="other").wait_for()
    assert editor.locator("#source").input_value() == "A dog runs over the snow."
    assert editor.locator(".word.locked").all_text_contents() == ["Ein", "Hund"]
    editor.go_on()
    tokens = server.last("/v1/refine")["state"]["tokens"]
    assert server.model.vocabulary.text(tokens) == "Ein Hund läuft."


def test_a_server_that_comes_after_the_page(editor: Any, server: Any) -> None:
    """What it can do is known before it is asked for more."""
    editor.route("**/v1/models", lambda route: route.abort())
    editor.reload()
    editor.locator("#notice", has_text="The server does not answer.").wait_for()
    editor.locator("#notice-close").click()
    editor.unroute("**/v1/models")
    editor.translate("A dog runs.")
    editor.locator("#model", has_text="scripted").wait_for()
    editor.word("Hund").focus()
    editor.press("Delete")
    editor.go_on()
    assert len(server.last("/v1/refine")["state"]["banned"]) == 1


def test_a_server_that_answers_again_is_met(editor: Any) -> None:
    """Also where another error has taken the place of the one that offered to try that again."""
    editor.translate("A dog runs.")
    editor.route("**/v1/*", lambda route: route.abort())
    editor.reload()
    editor.locator("#notice").wait_for()
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter")
    editor.locator("#notice", has_text="Dackel").wait_for()
    editor.unroute("**/v1/*")
    editor.locator("#notice-retry").click()
    editor.word("Dackel").wait_for()
    editor.locator("#model", has_text="scripted").wait_for()
    assert editor.locator("#notice").is_hidden()


def test_a_source_that_was_changed_during_the_first_turn_is_followed(editor: Any) -> None:
    slowly(editor)
    editor.locator("#source").fill("A dog runs.")
    editor.locator("#translate").click()
    editor.locator("#source").fill("A cat runs.")
    editor.word("Katze").wait_for()


def test_the_menu_stays_open_while_the_draft_would_follow(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.locator("#source").fill("A cat runs.")
    editor.word("läuft").click()
    editor.wait_for_timeout(1200)
    assert editor.locator("#popover").is_visible()
    editor.choose("Keep")
    editor.word("Katze").wait_for()
    assert editor.locator(".word.locked").all_text_contents() == ["läuft"]


def test_a_word_that_became_another_one_is_crossed_out_whole(editor: Any) -> None:
    """The menu was opened for the word that it was before, which had fewer pieces."""
    editor.translate("A dog runs.")
    slowly(editor)
    type_over(editor, "Hund", "Regenwurm")
    editor.press("Enter", "Enter")
    editor.word("Regenwurm").wait_for()
    editor.choose("Cross out")
    assert editor.locator(".word.crossed").all_text_contents() == ["Regenwurm"]


def test_whoever_wants_it_no_more_is_not_followed(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    editor.locator("#source").fill("A cat runs.")
    editor.locator("#follow").uncheck()
    editor.wait_for_timeout(1200)
    assert editor.text == "Ein Hund läuft."
    assert [path for path, _ in server.asked if path == "/v1/refine"] == []


def test_no_term_is_lost_while_a_list_is_made(editor: Any) -> None:
    slowly(editor)
    editor.locator("#source").fill("A dog runs. A cat sleeps.")
    editor.locator("#split").click()
    editor.locator("#term[readonly]").wait_for()
    editor.locator("#status", has_text="2 sentences translated.").wait_for()
    assert editor.locator("#term[readonly]").count() == 0


def test_no_iteration_is_gone_back_to_under_the_text(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.press("Alt+t")
    editor.locator("#whole").wait_for()
    assert editor.locator("#player").is_hidden()
    editor.locator("#copy").focus()
    editor.press("Alt+ArrowLeft")
    assert editor.locator("#frame").is_hidden()
    assert editor.locator("#whole").is_visible()
    editor.press("Alt+t")
    editor.locator("#player").wait_for()


def test_an_answer_that_cannot_be_read(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    editor.route("**/v1/tokenize", lambda route: route.fulfill(body="<html>Please log in</html>"))
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter")
    editor.locator("#notice", has_text="The answer of the server cannot be read.").wait_for()


def test_alternatives_that_fail_do_not_leave_others_to_be_taken(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    editor.word("Hund").click()
    editor.locator(".alternative").first.wait_for()
    fails_once(server)
    editor.locator("#popover").get_by_role("button", name="2 pieces").click()
    editor.locator("#popover [role=status]", has_text="64 texts are waiting").wait_for()
    assert editor.locator(".alternative").count() == 0


def test_an_error_that_is_mended_is_no_longer_shown(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    fails_once(server)
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter")
    editor.locator("#notice", has_text="Not written yet: “Dackel”").wait_for()
    type_over(editor, "läuft", "rennt")
    editor.press("Enter")
    editor.word("rennt").wait_for()
    assert editor.text == "Ein Dackel rennt."
    editor.locator("#notice").wait_for(state="hidden")
    editor.press("Alt+t")
    editor.locator("#whole").fill("Ein Wolf rennt.")
    fails_once(server)
    editor.press("Alt+t")
    editor.locator("#notice").wait_for()
    editor.press("Alt+t")
    editor.word("Wolf").wait_for()
    editor.locator("#notice").wait_for(state="hidden")


def test_going_back_waits_for_what_was_typed(editor: Any) -> None:
    editor.translate("A dog runs.")
    slowly(editor)
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter", "Alt+ArrowLeft", "Alt+ArrowLeft", "Alt+ArrowLeft")
    editor.locator("#take").click()
    editor.locator("#live", has_text="Went back to iteration 1 of 3").wait_for(state="attached")
    assert editor.text == "Ein Hund geht."
    editor.wait_for_timeout(500)
    assert editor.text == "Ein Hund geht."
    editor.press("Control+z")
    editor.word("Dackel").wait_for()


def test_a_draft_of_ones_own_is_not_called_that_of_another_source(editor: Any) -> None:
    editor.give("A dog runs.", "Ein Hund geht.")
    assert editor.locator("#source-note").text_content() == ""


def test_a_number_that_is_too_large_is_shown_as_what_is_taken(editor: Any, server: Any) -> None:
    editor.locator("details summary").click()
    editor.locator("#iterations").fill("999")
    editor.translate("A dog runs.")
    assert editor.locator("#iterations").input_value() == "50"
    assert server.last("/v1/translate")["options"]["max_iterations"] == 50


def test_a_text_that_is_edited_while_something_waits_survives_a_reload(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.press("Alt+t")
    editor.locator("#whole").fill("Ein Dackel läuft.")
    editor.route("**/v1/tokenize", lambda route: route.abort())
    editor.locator("#ban").fill("Wolf")
    editor.press("Enter")
    editor.locator("#notice").wait_for()
    editor.reload()
    editor.locator("#notice").wait_for()
    assert editor.locator("#whole").input_value() == "Ein Dackel läuft."
    editor.reload()
    editor.locator("#notice").wait_for()
    assert editor.locator("#whole").input_value() == "Ein Dackel läuft."


def test_what_is_typed_while_one_waits_for_another_sentence_stays_in_the_first(editor: Any) -> None:
    two_sentences(editor)
    slowly(editor)
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter", "Alt+PageDown")
    type_over(editor, "läuft", "rennt")
    editor.word("Katze").wait_for()
    assert editor.text == "Ein Katze schläft."
    editor.press("Alt+PageUp")
    editor.word("rennt").wait_for()
    assert editor.text == "Ein Dackel rennt."


def wait_with_a_menu(editor: Any, server: Any, key: str) -> None:
    """Ask for something, and open a menu while a word is still looked up; then that is found."""
    answered = unanswered(server)
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter", key)
    editor.word("läuft").focus()
    editor.press("Enter")
    editor.locator("#popover").wait_for()
    answered.set()
    editor.locator("#popover").wait_for(state="hidden")


def test_a_menu_that_is_opened_while_one_waits_for_something_else_is_closed_by_it(
    editor: Any, server: Any
) -> None:
    """What it belongs to is gone: a choice would be for a word of another sentence, or would be lost."""
    two_sentences(editor)
    wait_with_a_menu(editor, server, "Alt+PageDown")
    editor.word("Katze").wait_for()
    assert editor.evaluate("document.querySelector('#draft').contains(document.activeElement)")


def test_a_menu_that_is_opened_before_the_model_begins_is_closed(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    server.pause = 0.2
    wait_with_a_menu(editor, server, "Control+Enter")
    editor.locator("#status:focus").wait_for()
    editor.rests()
    assert editor.text == "Ein Dackel läuft."


def test_a_menu_that_is_opened_before_the_draft_is_a_text_is_closed(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    wait_with_a_menu(editor, server, "Alt+t")
    editor.locator("#whole:focus").wait_for()
    assert editor.locator("#whole").input_value() == "Ein Dackel läuft."
