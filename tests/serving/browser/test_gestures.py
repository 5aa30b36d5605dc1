"""Every gesture of the editor, in a real browser, against a scripted model."""

import re
from typing import Any

import pytest

pytestmark = pytest.mark.browser

DOG = "A dog runs over the deep snow."
HUND = "Ein Hund läuft über der tiefen Schnee."


def test_translate_fills_the_draft(editor: Any, server: Any) -> None:
    editor.translate(DOG)
    assert editor.text == HUND
    assert "3 iterations: 1 deleted, 9 inserted" in editor.said
    assert server.last("/v1/translate")["stream"] is True


def test_a_kept_word_survives(editor: Any, server: Any) -> None:
    editor.translate(DOG)
    editor.word("tiefen").click()
    editor.choose("Keep")
    assert "tiefen, kept" in editor.focused
    editor.locator("#follow").uncheck()
    editor.locator("#source").fill("A dog runs over the snow.")
    editor.go_on()
    assert editor.text == HUND
    assert server.last("/v1/refine")["state"]["locked"] == [False] * 5 + [True, False, False]
    assert "locked" in editor.word("tiefen").get_attribute("class")
    editor.word("tiefen").click()
    editor.choose("Let go")
    editor.go_on()
    assert editor.text == "Ein Hund läuft über der Schnee."


def test_a_word_of_two_pieces_is_kept_in_one_piece(editor: Any, server: Any) -> None:
    editor.translate("A hurdle.")
    editor.word("Hindernis").click()
    editor.choose("Keep")
    editor.go_on()
    state = server.last("/v1/refine")["state"]
    assert state["locked"] == [False, True, True, False]
    assert state["glued"] == [False, False, True, False]


def test_a_crossed_out_word_goes(editor: Any, server: Any) -> None:
    editor.translate(DOG)
    editor.word("Hund").click()
    editor.choose("Cross out")
    assert editor.locator("#draft s").text_content() == "Hund"
    assert "crossed out" in editor.focused
    editor.go_on()
    assert editor.text == "Ein Welpe läuft über der tiefen Schnee."
    assert server.last("/v1/refine")["state"]["drop"][1] is True


def test_a_full_stop_can_be_pressed_and_so_can_the_gaps_beside_it(editor: Any) -> None:
    editor.give("“I have 3.50.”", "„Ich habe 3,50.“")
    for mark in ("„", ",", ".“"):
        editor.word(mark).click()
        editor.choose("Cross out")
    assert editor.locator(".word.crossed").all_text_contents() == ["„", ",", ".“"]
    for gap in range(8):
        editor.gap(gap).click()
        editor.choose("One")
    assert editor.locator(".gap.asked").count() == 8


def test_alternatives_come_with_probabilities(editor: Any, server: Any) -> None:
    editor.translate(DOG)
    editor.word("Hund").click()
    rows = editor.locator("#popover .alternative")
    rows.first.wait_for()
    assert [re.sub(r"\s+", " ", row) for row in rows.all_text_contents()] == [
        "Welpe31 %", "Rüde22 %", "Vierbeiner8.0 %", "Tier< 0.1 %",
    ]  # fmt: skip
    assert "What stands there now: 35 %" in editor.locator("#popover").text_content()
    rows.nth(1).click()
    assert editor.text == HUND.replace("Hund", "Rüde")
    assert "locked" in editor.word("Rüde").get_attribute("class")
    asked = server.last("/v1/alternatives")
    assert (asked["start"], asked["end"], asked["placeholders"]) == (1, 2, 1)


def test_alternatives_of_more_pieces(editor: Any, server: Any) -> None:
    editor.translate(DOG)
    editor.word("Hund").click()
    editor.locator("#popover .alternative").first.wait_for()
    editor.choose("2 pieces")
    editor.locator("#popover .alternative", has_text="Welpe Welpe").click()
    assert editor.text == HUND.replace("Hund", "Welpe Welpe")


def test_words_can_be_asked_for_in_a_gap(editor: Any, server: Any) -> None:
    editor.translate(DOG)
    editor.gap(3).click()
    editor.choose("Two")
    assert editor.focused == "Gap between läuft and über, 2 words asked for"
    editor.go_on()
    assert editor.text == HUND.replace("läuft", "läuft sehr sehr")
    assert server.last("/v1/refine")["state"]["words"][3] == 2
    editor.gap(0).click()
    editor.locator("#popover input").fill("5")
    editor.choose("Ask for so many")
    assert editor.focused == "Gap before Ein, 5 words asked for"


def test_a_gap_can_be_closed(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    editor.gap(1).click()
    editor.choose("None")
    editor.locator("#follow").uncheck()
    editor.locator("#source").fill("A black dog runs.")
    editor.go_on()
    assert editor.text == "Ein Hund läuft."
    editor.go_on()
    assert editor.text == "Ein schwarzer Hund läuft."


def test_a_gap_offers_words(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.gap(3).click()
    editor.locator("#popover .alternative", has_text="Tier").click()
    assert editor.text == "Ein Hund läuft Tier."


def test_typing_replaces_a_word_and_is_kept(editor: Any, server: Any) -> None:
    editor.translate(DOG)
    editor.word("Hund").focus()
    editor.keyboard.type("Dackel")
    editor.press("Enter")
    editor.locator(".word", has_text="Dackel").wait_for()
    assert editor.text == HUND.replace("Hund", "Dackel")
    editor.go_on()
    assert editor.text == HUND.replace("Hund", "Dackel")
    assert server.last("/v1/tokenize") == {"text": "Dackel", "inside": False}


def test_typing_in_a_gap_and_double_click(editor: Any) -> None:
    editor.translate(DOG)
    editor.gap(1).focus()
    editor.keyboard.type("kleiner")
    editor.press("Enter")
    editor.locator(".word", has_text="kleiner").wait_for()
    assert editor.text == HUND.replace("Hund", "kleiner Hund")
    editor.word("über").dblclick()
    editor.keyboard.type("durch")
    editor.press("Enter")
    editor.locator(".word", has_text="durch").wait_for()
    assert editor.text == HUND.replace("Hund", "kleiner Hund").replace("über", "durch")
    editor.word("durch").focus()
    editor.keyboard.type("nie")
    editor.press("Escape")
    assert "nie" not in editor.text


def test_a_space_before_what_is_typed_over_a_full_stop_is_meant(editor: Any) -> None:
    editor.translate("A dog runs.")
    for typed, text in (("!", "Ein Hund läuft!"), (" schnell", "Ein Hund läuft schnell")):
        editor.locator("#draft .word").last.focus()
        editor.press("F2")
        editor.keyboard.insert_text(typed)
        editor.press("Enter")
        editor.locator("#draft .word.locked", has_text=typed.strip()).wait_for()
        assert editor.text == text


def test_the_draft_as_text(editor: Any, server: Any) -> None:
    editor.translate(DOG)
    editor.word("Schnee").click()
    editor.choose("Keep")
    editor.locator("#as-text").click()
    assert editor.locator("#whole").input_value() == HUND
    editor.locator("#whole").fill("Der Hund läuft über den tiefen Schnee, ja.")
    editor.locator("#as-text").click()
    editor.locator(".word", has_text="ja").wait_for()
    assert editor.text == "Der Hund läuft über den tiefen Schnee, ja."
    locked = editor.locator(".word.locked").all_text_contents()
    assert locked == ["Der", "den", "Schnee", ",", "ja"]
    said = [body["text"] for path, body in server.asked if path == "/v1/tokenize"]
    assert said == [", ja", "den", "Der"]


def test_a_draft_of_ones_own_is_there_to_be_improved(editor: Any, server: Any) -> None:
    editor.locator("#source").fill(DOG)
    editor.locator("#as-text").click()
    editor.locator("#whole").fill("Ein Dackel läuft.")
    editor.press("Control+Enter")
    editor.locator(".word", has_text="Schnee").wait_for()
    assert editor.text == HUND
    state = server.last("/v1/refine")["state"]
    assert server.model.vocabulary.text(state["tokens"]) == "Ein Dackel läuft."
    assert not any(state["locked"])


def test_typing_and_going_on_at_once(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    editor.word("Hund").focus()
    editor.keyboard.type("Dackel")
    editor.press("Control+Enter")
    editor.locator("#status", has_text="2 iterations").or_(
        editor.locator("#status", has_text="1 iteration")
    ).wait_for()
    editor.rests()
    assert editor.text == "Ein Dackel läuft."
    assert server.last("/v1/refine")["state"]["locked"] == [False, True, False, False]


def test_pasting(editor: Any, server: Any) -> None:
    editor.locator("#source").fill("A dog runs.")
    editor.evaluate("() => navigator.clipboard.writeText('Ein Wolf läuft.')")
    editor.press("Alt+w", "Control+v")
    editor.locator(".word", has_text="Wolf").wait_for()
    assert editor.locator(".word.locked").count() == 0
    editor.evaluate("() => navigator.clipboard.writeText('grauer')")
    editor.gap(1).focus()
    editor.press("Control+v")
    editor.locator(".word.locked", has_text="grauer").wait_for()
    assert editor.text == "Ein grauer Wolf läuft."


def test_one_step(editor: Any, server: Any) -> None:
    editor.locator("#source").fill("A dog runs.")
    editor.locator("#step").click()
    editor.rests()
    assert editor.text == "Ein Hund geht."
    editor.press("Alt+Enter")
    editor.rests()
    assert editor.text == "Ein Hund läuft."
    assert "max_iterations" not in server.last("/v1/step")["options"]


def test_the_target_follows_the_source(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    editor.locator("#source").fill("A cat runs.")
    assert editor.locator("#continue").text_content() == "Re-sync"
    editor.locator(".word", has_text="Katze").wait_for()
    assert editor.text == "Ein Katze läuft."
    state = server.last("/v1/refine")["state"]
    assert server.model.vocabulary.text(state["tokens"]) == "Ein Hund läuft."
    assert editor.said.startswith("2 iterations: 1 deleted, 1 inserted")
    assert editor.word("Katze").get_attribute("aria-label") == "Katze, new"


def test_terms_and_bans(editor: Any, server: Any) -> None:
    editor.locator("#term").fill("Winter")
    editor.press("Enter")
    editor.locator("#ban").fill("Hund")
    editor.locator("#ban-add").click()
    editor.locator("#bans li").wait_for()
    editor.translate(DOG)
    assert editor.text == "Ein Welpe läuft über der tiefen Schnee Winter."
    asked = server.last("/v1/translate")
    assert (asked["terms"], asked["drop"]) == (["Winter"], ["Hund"])
    editor.get_by_role("button", name="Remove Winter").click()
    editor.word("läuft").click()
    editor.choose("Never use")
    editor.go_on()
    assert editor.text == "Ein Welpe rennt über der tiefen Schnee."
    assert len(server.last("/v1/refine")["state"]["banned"]) == 2
    assert editor.locator("#bans li span:first-child").all_text_contents() == ["Hund", "läuft"]


def test_a_term_that_was_typed_counts_without_being_added_by_a_key(editor: Any, server: Any) -> None:
    editor.locator("#source").fill(DOG)
    editor.locator("#ban").press_sequentially("Hund")
    editor.locator("#term").press_sequentially("Winter")
    editor.press("Control+Enter")
    editor.locator("#status", has_text="iteration").wait_for()
    asked = server.last("/v1/translate")
    assert (asked["terms"], asked["drop"]) == (["Winter"], ["Hund"])
    editor.locator("#ban").press_sequentially("Schnee")
    editor.locator("#continue").click()
    editor.word("Schnee").wait_for(
        state="detached"
    )  # its pieces are asked for first, and the page still rests
    editor.rests()
    assert "Schnee" not in editor.words
    assert editor.locator("#bans li").count() == 2


def test_a_term_is_there_as_a_whole_word_however_it_is_spelt(editor: Any) -> None:
    editor.translate("A dog runs.")
    for term in ("Hun", "la\u0308uft", "Ein Hund", "Katze"):
        editor.locator("#term").fill(term)
        editor.press("Enter")
    assert [text.removesuffix("×") for text in editor.locator("#terms li").all_text_contents()] == [
        "Hun not yet", "la\u0308uft", "Ein Hund", "Katze not yet",
    ]  # fmt: skip


def test_the_leave_alone_dial(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    editor.locator("#follow").uncheck()
    editor.locator("#source").fill("A cat runs.")
    editor.locator("#dial").focus()
    editor.press("End")
    assert editor.locator("#dial-value").text_content() == "edit nothing"
    editor.go_on()
    assert server.last("/v1/refine")["options"]["min_edit"] == 1
    assert "“Leave alone” is at its end" in editor.said
    assert editor.text == "Ein Hund läuft."


def test_undo_and_redo(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.word("Hund").click()
    editor.choose("Keep")
    editor.press("Delete")
    assert editor.locator(".word.crossed").count() == 1
    editor.press("Control+z")
    assert (editor.locator(".word.crossed").count(), editor.locator(".word.locked").count()) == (0, 1)
    assert editor.said == "Undone: crossed out “Hund”."
    editor.locator("#undo").click()
    editor.locator("#undo").click()
    assert editor.text == ""
    assert editor.locator("#source").input_value() == "A dog runs."
    editor.locator("#undo").click()
    assert editor.locator("#source").input_value() == ""
    assert editor.locator("#undo").is_disabled()
    for _ in range(3):
        editor.locator("#redo").click()
    assert editor.text == "Ein Hund läuft."
    assert editor.locator(".word.locked").count() == 1
    editor.press("Control+Shift+z")
    assert editor.locator(".word.crossed").count() == 1


def test_stop_leaves_the_draft_alone(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    server.pause = 30.0
    editor.locator("#translate").click()
    editor.locator("#stop").click()
    editor.rests()
    assert editor.text == "Ein Hund läuft."
    assert "as it was" in editor.said


def test_copy(editor: Any) -> None:
    editor.translate(DOG)
    editor.locator("#copy").click()
    editor.locator("#status", has_text="Copied").wait_for()
    assert editor.evaluate("navigator.clipboard.readText()") == HUND


def test_a_reload_loses_nothing(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.word("Hund").click()
    editor.choose("Keep")
    editor.reload()
    editor.locator(".word.locked").wait_for()
    assert editor.text == "Ein Hund läuft."
    assert editor.locator("#source").input_value() == "A dog runs."


@pytest.mark.parametrize(
    ("source", "apart"), [("A dog runs. Two cats.", True), ("A dog runs\nover the snow.", False)]
)
def test_sentences_in_a_row_are_written_one_by_one(
    editor: Any, server: Any, source: str, apart: bool
) -> None:
    """As the commands do; line breaks would come into the draft, where nobody could see them."""
    editor.locator("#source").fill(source)
    editor.locator("#translate").click()
    editor.locator("#status", has_text="iteration").wait_for()
    assert server.last("/v1/translate")["options"]["by_sentence"] is apart


def test_sentences_in_lines_are_kept_apart_unless_there_is_a_draft_or_a_term(
    editor: Any, server: Any
) -> None:
    lines = "A dog runs.\nA dog runs."
    editor.locator("#source").fill(lines)
    editor.press("Control+Enter")
    editor.locator("#status", has_text="2 sentences translated").wait_for()
    assert server.last("/v1/translate")["texts"] == lines.split("\n")
    editor.locator("#copy").click()
    editor.locator("#status", has_text="Copied").wait_for()
    assert editor.evaluate("navigator.clipboard.readText()") == "Ein Hund läuft.\nEin Hund läuft."
    # What was written could not be brought back, and a term may belong to any of them.
    editor.locator("#join").click()
    editor.locator("#sentences").wait_for(state="hidden")
    editor.locator("#translate").click()
    editor.locator("#status", has_text="iteration").wait_for()
    assert server.last("/v1/translate")["text"] == lines
