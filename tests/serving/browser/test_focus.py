"""The focus stays with the person: it is neither lost nor taken away, and keys do what is in front."""

from typing import Any

import pytest

from browser.in_between import fails_once, slowly, two_sentences, type_over, unanswered

pytestmark = pytest.mark.browser


def test_whoever_went_elsewhere_during_the_turn_stays_there(editor: Any) -> None:
    editor.translate("A dog runs.")
    slowly(editor)
    editor.word("Hund").focus()
    editor.press("Control+Enter")
    editor.locator("#stop").wait_for()
    editor.locator("#term").focus()
    editor.keyboard.type("Ha")
    editor.rests()
    editor.keyboard.type("us")
    assert editor.locator("#term").input_value() == "Haus"


def test_whoever_is_in_the_draft_is_somewhere_during_the_turn(editor: Any) -> None:
    editor.translate("A dog runs.")
    slowly(editor)
    editor.word("Hund").focus()
    editor.press("Control+Enter")
    editor.locator("#stop").wait_for()
    assert editor.focused == "status"
    editor.rests()
    assert editor.focused == "Hund"


def test_the_focus_stays_with_its_word(editor: Any) -> None:
    """Also when another word becomes two."""
    editor.translate("A dog runs.")
    slowly(editor)
    type_over(editor, "Ein", "Der alte")
    editor.press("Enter", "End", "Shift+ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    where = editor.focused
    assert where == "Gap between Ein and Hund"
    editor.press("ArrowRight")
    editor.word("alte").wait_for()
    assert editor.focused == "Hund"
    type_over(editor, "Der", "Ein sehr")
    editor.press("Enter", "ArrowRight", "ArrowRight", "ArrowRight")
    assert editor.focused == "Gap between alte and Hund"
    editor.word("sehr").wait_for()
    assert editor.focused == "Gap between alte and Hund"


def test_the_focus_comes_back_from_a_menu_whose_word_was_drawn_anew(editor: Any) -> None:
    editor.translate("A dog runs.")
    slowly(editor)
    type_over(editor, "Ein", "Der")
    editor.word("läuft").click()
    editor.word("Der").wait_for()
    assert editor.locator(".word.open").all_text_contents() == ["läuft"]
    editor.press("Escape")
    editor.locator("#draft .word:focus", has_text="läuft").wait_for()
    type_over(editor, "Hund", "Wolf")
    editor.word("läuft").click()
    editor.word("Wolf").wait_for()
    editor.choose("Keep")
    assert editor.focused == "läuft, kept"


@pytest.mark.parametrize(("key", "after"), [("Escape", "Dackel, kept"), ("Control+z", "Hund")])
def test_the_focus_comes_back_from_a_menu_whose_word_was_written_over(
    editor: Any, server: Any, key: str, after: str
) -> None:
    """The menu was opened while what had been typed over its word was still looked up."""
    editor.translate("A dog runs.")
    answered = unanswered(server)
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter", "Enter")
    editor.locator("#popover :focus").wait_for()
    answered.set()
    editor.word("Dackel").wait_for()
    assert editor.locator(".word.open").all_text_contents() == ["Dackel"]
    editor.press(key)
    editor.locator("#draft :focus").wait_for()
    assert editor.focused == after


def test_the_focus_comes_back_from_a_menu_whose_word_is_gone(editor: Any, server: Any) -> None:
    """It had been erased; that waited for another word to be looked up."""
    editor.translate("A dog runs.")
    answered = unanswered(server)
    type_over(editor, "Ein", "Der")
    editor.press("Enter")
    editor.word("Hund").focus()
    editor.press("F2", "Delete", "Enter", "Enter")
    editor.locator("#popover :focus").wait_for()
    answered.set()
    editor.word("Hund").wait_for(state="detached")
    editor.press("Escape")
    editor.locator("#draft :focus").wait_for()
    assert editor.focused.startswith("läuft")


def test_a_chip_keeps_the_focus(editor: Any) -> None:
    editor.locator("#term").fill("Haus")
    editor.press("Enter")
    editor.locator("#source").fill("A dog runs.")
    slowly(editor)
    editor.locator("#translate").click()
    editor.get_by_role("button", name="Remove Haus").focus()
    editor.rests()
    assert editor.focused == "Remove Haus"


def test_copying_does_not_move_anybody(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.press("Alt+t")
    editor.locator("#whole").fill("Ein Dackel läuft.")
    editor.locator("#source").focus()
    editor.press("Alt+c")
    editor.locator("#status", has_text="Copied").wait_for()
    assert editor.focused == "source"


def test_what_goes_away_hands_the_focus_on(editor: Any) -> None:
    two_sentences(editor)
    editor.locator("#sentence-list button").nth(1).focus()
    editor.press("Control+z")
    editor.locator("#sentences").wait_for(state="hidden")
    assert editor.focused == "source"
    editor.translate("A dog runs.")
    editor.locator("#scrubber").focus()
    editor.press("ArrowLeft")
    editor.locator("#take").focus()
    editor.press("Alt+ArrowRight")
    assert editor.focused == "Iteration"
    editor.press("Control+z")
    editor.locator("#player").wait_for(state="hidden")
    assert editor.focused == "Gap in the empty draft"


def test_what_had_the_focus_before_a_notice_is_out_of_use(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    slowly(editor)
    fails_once(server)
    editor.locator("#continue").click()
    editor.locator("#stop").focus()
    editor.locator("#notice").wait_for()
    editor.locator("#stop").wait_for(state="hidden")
    editor.locator("#undo").focus()
    editor.locator("#notice-close").focus()
    editor.evaluate("() => { document.querySelector('#undo').hidden = true; }")
    editor.press("Enter")
    assert editor.focused == "source"


def test_the_focus_comes_back_from_the_help(editor: Any) -> None:
    """What had it was drawn anew meanwhile."""
    editor.translate("A dog runs.")
    slowly(editor)
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter", "F1")
    editor.word("Dackel").wait_for()
    editor.press("Escape")
    editor.locator("#draft .word:focus", has_text="Dackel").wait_for()


def test_escape_closes_what_is_open_and_leaves_the_model_at_work(editor: Any) -> None:
    editor.locator("#source").fill("A dog runs.")
    slowly(editor)
    editor.locator("#translate").click()
    editor.press("F1")
    editor.locator("#help").wait_for()
    editor.press("Escape")
    editor.locator("#help").wait_for(state="hidden")
    editor.word("Hund").wait_for()
    editor.locator("#translate").click()
    editor.locator("#save-open").click()
    editor.locator("#popover").wait_for()
    editor.press("Escape")
    editor.locator("#popover").wait_for(state="hidden")
    editor.locator("#status", has_text="iteration").wait_for()


def test_nothing_is_done_behind_the_help(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    asked = len(server.asked)
    editor.press("F1", "Control+z", "Control+Enter")
    editor.wait_for_timeout(300)
    assert editor.text == "Ein Hund läuft."
    assert len(server.asked) == asked
    editor.press("Escape", "Control+z")
    editor.locator("#empty").wait_for()


def test_whoever_looks_at_iterations_comes_back_to_their_word(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.word("Hund").focus()
    editor.press("Alt+ArrowLeft", "Alt+ArrowLeft")
    assert editor.focused == "frame"
    editor.press("Alt+ArrowRight", "Alt+ArrowRight")
    assert editor.focused == "Hund"


def test_the_focus_stays_in_the_list_where_another_sentence_gets_its_draft(editor: Any) -> None:
    two_sentences(editor)
    editor.press("Alt+t")
    editor.locator("#whole").fill("")
    editor.press("Alt+t")
    editor.locator("#empty").wait_for()
    slowly(editor)
    editor.locator("#translate").click()
    editor.locator("#sentence-list button").nth(1).focus()
    editor.rests()
    assert editor.focused == "Sentence 2: A cat sleeps."


def test_a_turn_that_begins_while_an_iteration_is_looked_at(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.word("Hund").focus()
    editor.press("Alt+ArrowLeft", "Alt+Enter")
    editor.locator("#status", has_text="1 iteration").wait_for()
    assert editor.focused == "Hund"


@pytest.mark.parametrize("key", ["Alt+w", "Alt+s", "Alt+t", "Alt+ArrowLeft"])
def test_a_menu_is_not_left_open_behind(editor: Any, key: str) -> None:
    """What it offers would be done to a draft that is not there."""
    editor.translate("A dog runs.")
    editor.word("Hund").click()
    editor.locator(".alternative").first.wait_for()
    editor.press(key)
    editor.locator("#popover").wait_for(state="hidden")
    where = {"Alt+w": "Hund", "Alt+s": "source", "Alt+t": "Draft as text", "Alt+ArrowLeft": "frame"}
    assert editor.focused == where[key]


def test_who_closes_the_help_is_somewhere(editor: Any) -> None:
    """Also where nothing had the focus before, and whatever stands in the place of the draft."""

    def leads_to(place: str) -> None:
        editor.evaluate("document.activeElement.blur()")
        editor.press("F1", "Escape")
        editor.locator(f"#{place}:focus, #{place} :focus").wait_for()

    editor.translate("A dog runs.")
    leads_to("draft")
    editor.press("Alt+ArrowLeft")
    leads_to("frame")
    editor.press("Alt+ArrowRight", "Alt+t")
    editor.locator("#whole").wait_for()
    leads_to("whole")
    editor.press("Alt+t")
    editor.locator("#draft").wait_for()
    slowly(editor)
    editor.press("Control+Enter")
    editor.locator("#stop").wait_for()
    leads_to("status")
    editor.rests()
    leads_to("draft")
