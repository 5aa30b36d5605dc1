"""The keyboard alone is enough, so is a small screen; what a screen reader is told; axe finds nothing serious."""

from typing import Any

import pytest

from browser.axe import serious

pytestmark = pytest.mark.browser

PHONE = {"width": 320, "height": 640}


def test_a_whole_session_without_a_mouse(editor: Any, server: Any) -> None:
    editor.keyboard.type("A dog runs over the deep snow.")
    editor.press("Control+Enter")
    editor.rests()
    editor.press("Alt+w")
    assert editor.focused == "Gap before Ein"
    editor.press("ArrowRight", "Shift+ArrowRight")
    assert editor.focused == "Hund"
    editor.press("Space")
    assert editor.focused == "Hund, kept"
    editor.press("ArrowRight", "ArrowUp", "ArrowUp")
    assert editor.focused == "Gap between Hund and läuft, 2 words asked for"
    editor.press("ArrowDown", "ArrowDown", "ArrowDown")
    assert editor.focused == "Gap between Hund and läuft, nothing may come here"
    editor.press("End", "ArrowLeft", "ArrowLeft", "ArrowLeft", "Enter")
    assert editor.focused != "Schnee"
    editor.press("Escape")
    assert editor.focused == "Schnee"
    editor.press("Delete", "Home", "Control+Enter")
    editor.rests()
    assert editor.text == "Ein Hund läuft über der tiefen etwas."
    assert editor.focused == "Gap before Ein"
    state = server.last("/v1/refine")["state"]
    assert (state["locked"][1], state["words"][2], state["drop"][6]) == (True, 0, True)
    editor.press("F1")
    assert editor.locator("#help").is_visible()
    assert "Ask for one word more" in editor.locator("#help").text_content()
    editor.press("Escape")
    assert editor.locator("#help").is_hidden()


def test_a_word_with_nothing_to_see_can_be_seen(editor: Any) -> None:
    editor.give("A dog.", "Ein \u200b Hund.")
    assert editor.words == ["Ein", "␣", "Hund", "."]
    editor.locator(".word", has_text="␣").first.focus()
    editor.press("Delete")
    assert editor.focused == "space, crossed out"
    assert editor.locator("#draft s").text_content() == "␣"


def test_popover_by_arrow_keys(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.word("Hund").focus()
    editor.press("ArrowDown")
    editor.locator("#popover .alternative").first.wait_for()
    editor.press("ArrowUp", "ArrowUp")
    editor.press("Enter")
    assert editor.text == "Ein Vierbeiner läuft."
    assert "Vierbeiner, kept" in editor.focused


def test_the_draft_is_one_stop_of_the_tab_order(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.locator("#save-open").focus()
    editor.press("Tab")
    assert editor.focused.startswith("Gap before")
    editor.press("Tab")
    assert editor.focused == "play"
    assert editor.evaluate("document.querySelectorAll('#draft [tabindex=\"0\"]').length") == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_room_for_everything(editor: Any, scheme: str) -> None:
    editor.set_viewport_size(PHONE)
    editor.emulate_media(color_scheme=scheme)
    editor.translate("A dog runs over the deep snow and quickly jumps over a hurdle.")
    width = "document.documentElement.scrollWidth"
    assert editor.evaluate(width) <= PHONE["width"]
    editor.word("Hund").click()
    sheet = editor.locator("#popover").bounding_box()
    assert sheet["y"] + sheet["height"] == PHONE["height"]
    editor.locator("#popover .alternative").first.click()
    editor.locator("#help-open").click()
    assert editor.evaluate(width) <= PHONE["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(editor: Any, server: Any, scheme: str) -> None:
    editor.emulate_media(color_scheme=scheme)
    found = {"empty": serious(editor)}
    editor.translate("A dog runs over the deep snow.")
    editor.word("Hund").click()
    editor.choose("Keep")
    editor.gap(3).click()
    editor.choose("Two")
    editor.word("tiefen").click()
    editor.choose("Cross out")
    editor.locator("#term").fill("Winter")
    editor.press("Enter")
    found["edited"] = serious(editor)
    editor.word("Hund").click()
    editor.locator("#popover .alternative").first.wait_for()
    found["popover"] = serious(editor)
    editor.press("Escape", "Alt+ArrowLeft", "Alt+ArrowLeft")
    found["frame"] = serious(editor)
    editor.locator("#help-open").click()
    found["help"] = serious(editor)
    assert {where: problems for where, problems in found.items() if problems} == {}


def test_a_phone_has_room_for_what_has_no_spaces(editor: Any) -> None:
    editor.set_viewport_size(PHONE)
    editor.give(
        "A dog.",
        "Ein Oberweserdampfschifffahrtsgesellschaftskapitän, siehe https://example.org/" + "a" * 99 + ".",
    )
    assert editor.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_numbers_read_from_left_to_right_in_any_script(editor: Any) -> None:
    editor.give("It costs 12.50 in all.", "זה עולה 12.50, הכול.")
    one, point, two, comma = (editor.word(text).bounding_box()["x"] for text in ("12", ".", "50", ","))
    assert comma < one < point < two
    assert editor.text == "זה עולה 12.50, הכול."
    editor.word("12").focus()
    editor.press("ArrowLeft", "ArrowLeft")
    assert editor.focused == "."


def test_alternatives_that_nobody_could_see_are_not_offered(editor: Any) -> None:
    editor.translate("A dog runs.")
    pieces = {"▁": 0.5, "<0xD7>": 0.3, "▁Wolf": 0.1}
    found = [{"text": "", "tokens": [7], "pieces": [piece], "probability": p} for piece, p in pieces.items()]
    answer = {"model": "scripted", "current": 0.1, "alternatives": found}
    editor.route("**/v1/alternatives", lambda route: route.fulfill(json=answer))
    editor.word("Hund").click()
    editor.locator("#popover .alternative").first.wait_for()
    assert editor.locator("#popover .what").all_text_contents() == ["Wolf"]
