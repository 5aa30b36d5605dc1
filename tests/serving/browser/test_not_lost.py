"""What is typed is not cut off by another window, an answer or a reload, and nothing moves away when it is pressed."""

from typing import Any

import pytest

from browser.in_between import slowly, two_sentences, type_over, unanswered

pytestmark = pytest.mark.browser

INTO_ANOTHER_WINDOW = "(node) => node.dispatchEvent(new FocusEvent('blur'))"
"""The focus stays where it is in the page, and the event is the same."""


def reload(editor: Any) -> None:
    editor.reload()
    editor.locator("#model:not(:empty)").wait_for()


def test_whoever_looks_into_another_window_types_on(editor: Any) -> None:
    editor.translate("A dog runs.")
    type_over(editor, "Hund", "Dack")
    editor.locator("input.typing").evaluate(INTO_ANOTHER_WINDOW)
    editor.keyboard.type("el")
    editor.press("Enter")
    editor.word("Dackel").wait_for()
    editor.locator("#term").focus()
    editor.keyboard.type("Ha")
    editor.locator("#term").evaluate(INTO_ANOTHER_WINDOW)
    editor.locator("#term").dispatch_event("change")
    editor.keyboard.type("us")
    editor.press("Enter")
    editor.locator("#terms li").wait_for()
    assert editor.locator("#terms li span:first-child").all_text_contents() == ["Haus"]


def test_a_text_that_is_typed_on_while_the_server_looks_it_up(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.press("Alt+t")
    editor.locator("#whole").fill("Ein Dackel läuft.")
    slowly(editor)
    editor.press("Alt+t")
    editor.keyboard.type(" Schnell.")
    editor.word("Schnell").wait_for()
    editor.locator("#whole").wait_for(state="hidden")
    assert editor.text == "Ein Dackel läuft. Schnell."


def test_a_word_that_is_typed_while_the_model_waits_for_the_server_to_be_met(
    editor: Any, server: Any
) -> None:
    editor.translate("A dog runs.")
    met, answered = unanswered(server, "/v1/models"), unanswered(server)
    server.pause = 0.2
    editor.reload()
    editor.word("Hund").focus()
    editor.press("Control+Enter")
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter")
    met.set()
    editor.locator("#model:not(:empty)").wait_for()
    answered.set()
    editor.locator("#status", has_text="iteration").wait_for()
    assert editor.text == "Ein Dackel läuft."


def test_a_word_that_came_while_another_one_was_typed_is_shown(editor: Any) -> None:
    editor.translate("A dog runs.")
    slowly(editor)
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter", "ArrowRight", "ArrowRight", "F2")
    editor.locator("#live", has_text="Wrote “Dackel”").wait_for(state="attached")
    assert editor.locator("input.typing").input_value() == "läuft"
    editor.press("Escape")
    assert editor.text == "Ein Dackel läuft."
    assert editor.focused.startswith("läuft")


def test_what_waits_for_the_server_survives_a_reload(editor: Any) -> None:
    """As it says: your work is safe in this tab."""
    two_sentences(editor)
    editor.press("Alt+PageDown")
    editor.word("Katze").wait_for()
    editor.route("**/v1/tokenize", lambda route: route.abort())
    type_over(editor, "Katze", "Mieze")
    editor.press("Enter", "ArrowRight")
    editor.keyboard.type("sehr oft")
    editor.press("Enter")
    editor.locator("#ban").fill("Wolf")
    editor.press("Enter")
    editor.locator("#notice", has_text="“Mieze”, “sehr oft”, “Wolf”").wait_for()
    reload(editor)
    editor.locator("#notice", has_text="“Mieze”, “sehr oft”, “Wolf”").wait_for()
    editor.unroute("**/v1/tokenize")
    editor.locator("#notice-retry").click()
    editor.locator("#bans li").wait_for()
    assert editor.text == "Ein Mieze sehr oft schläft."
    assert editor.locator(".word.locked").all_text_contents() == ["Mieze", "sehr", "oft"]


def test_what_waits_for_the_server_is_for_the_same_word_with_another_model(editor: Any, server: Any) -> None:
    editor.translate("A quickly cat runs.")
    editor.route("**/v1/tokenize", lambda route: route.abort())
    type_over(editor, "läuft", "rennt")
    editor.press("Enter")
    editor.locator("#notice").wait_for()
    editor.unroute("**/v1/tokenize")
    server.name = "other"
    server.model.vocabulary.pieces.reverse()
    reload(editor)
    editor.word("rennt").wait_for()
    assert editor.text == "Ein schnell Katze rennt."


def test_a_word_that_is_being_typed_survives_a_reload(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.locator("#term").fill("Haus")
    editor.word("Hund").focus()
    editor.locator("#terms li").wait_for()
    editor.locator("#ban").focus()
    editor.keyboard.type("Wo")
    editor.locator("#ban").evaluate(INTO_ANOTHER_WINDOW)
    type_over(editor, "Hund", "Dackel")
    editor.locator("#bans li").wait_for()
    reload(editor)
    editor.word("Dackel").wait_for()
    assert editor.text == "Ein Dackel läuft."
    editor.locator("#term").focus()
    editor.keyboard.type("Hau")
    reload(editor)
    assert editor.locator("#term").input_value() == "Hau"


@pytest.mark.parametrize(
    "kept", ['{"typing": 3}', '{"typing": [{"kind": "word"}]}', '{"fields": 7}', '{"typing": [7]}']
)
def test_what_is_not_ours_is_no_trouble(editor: Any, kept: str) -> None:
    editor.evaluate(
        """(kept) => { const own = JSON.parse(sessionStorage.getItem('levt-editor-2'));
             sessionStorage.setItem('levt-editor-2', JSON.stringify({ ...own, ...JSON.parse(kept) })); }""",
        kept,
    )
    reload(editor)
    editor.translate("A dog runs.")
    assert editor.text == "Ein Hund läuft."


def test_a_source_that_is_composed_is_not_followed_before_it_is_done(editor: Any, server: Any) -> None:
    editor.translate("A dog runs.")
    source = editor.locator("#source")
    source.dispatch_event("compositionstart")
    source.fill("A ca runs.")
    editor.wait_for_timeout(1200)
    assert [path for path, _ in server.asked if path == "/v1/refine"] == []
    source.fill("A cat runs.")
    source.dispatch_event("compositionend")
    editor.word("Katze").wait_for()


def test_what_is_pressed_does_not_move_away(editor: Any) -> None:
    """A term that was typed and not added is added behind what is pressed."""
    for term in ("Haus", "Schnee"):
        editor.locator("#term").fill(term)
        editor.press("Enter")
    editor.keyboard.type("Katze")
    editor.get_by_role("button", name="Remove Schnee").click()
    assert editor.locator("#terms li span:first-child").all_text_contents() == ["Haus"]
    assert editor.locator("#term").input_value() == "Katze"
    editor.get_by_role("button", name="Add the term").click()
    assert editor.locator("#terms li span:first-child").all_text_contents() == ["Haus", "Katze"]
    assert editor.focused == "term"


@pytest.mark.parametrize(("width", "height"), [(1200, 800), (360, 700)])
def test_the_choices_do_not_move_when_the_alternatives_come(editor: Any, width: int, height: int) -> None:
    editor.set_viewport_size({"width": width, "height": height})
    editor.locator("#source").fill("A dog runs.\n" * 14)
    editor.locator("#source").fill("A dog runs. " + "A dog runs over the deep snow and " * 12)
    editor.press("Control+Enter")
    editor.rests()
    slowly(editor)
    editor.locator("#draft .word", has_text="Hund").last.click()
    cross = editor.get_by_role("button", name="Cross out")
    before = cross.bounding_box()
    editor.locator(".alternative").first.wait_for()
    assert cross.bounding_box() == before


def test_a_page_that_is_opened_again_and_again_while_the_server_is_away(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.locator("details summary").click()
    editor.locator("#dial").fill("0.5")
    editor.route("**/v1/**", lambda route: route.abort())
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter")
    editor.locator("#notice").wait_for()
    for _ in range(3):
        editor.reload()
        editor.locator("#notice").wait_for()
    editor.unroute("**/v1/**")
    editor.locator("#notice-retry").click()
    editor.word("Dackel").wait_for()
    assert editor.locator("#dial").input_value() == "0.5"


def test_sentences_of_a_long_source_are_counted_whatever_is_typed_next(editor: Any) -> None:
    editor.locator("#source").fill("A dog runs over the deep snow. " * 100)
    editor.locator("#ban").press_sequentially("W")
    editor.locator("#split", has_text="Translate 100 sentences").wait_for()


def test_a_key_while_another_word_is_held_down(editor: Any) -> None:
    """What was typed is written, though its field has lost the focus and still waits for the pointer."""
    editor.translate("A dog runs.")
    type_over(editor, "Hund", "Dackel")
    editor.word("läuft").hover()
    editor.mouse.down()
    editor.press("Alt+c")
    editor.locator("#status", has_text="Copied").wait_for()
    editor.mouse.up()
    assert editor.evaluate("navigator.clipboard.readText()") == "Ein Dackel läuft."


def test_typing_twice_over_a_word_behind_one_that_becomes_longer(editor: Any, server: Any) -> None:
    """The word that was pressed is meant, though others before it have more pieces by then."""
    editor.translate("A dog runs over the snow.")
    answered = unanswered(server)
    for word, text in (("Hund", "Regenwurm"), ("läuft", "rennt"), ("läuft", "kriecht")):
        type_over(editor, word, text)
        editor.press("Enter")
    answered.set()
    editor.word("kriecht").wait_for()
    assert editor.text == "Ein Regenwurm kriecht über der Schnee."


def test_only_what_was_named_is_given_up(editor: Any) -> None:
    """Another word was typed when what is named was on its way once more."""
    editor.translate("A dog runs.")
    editor.route("**/v1/tokenize", lambda route: route.abort())
    type_over(editor, "Hund", "Dackel")
    editor.press("Enter")
    editor.locator("#notice", has_text="Not written yet: “Dackel”.").wait_for()
    editor.unroute("**/v1/tokenize")
    slowly(editor)
    type_over(editor, "läuft", "rennt")
    editor.press("Enter")
    editor.locator("#notice-close").click()
    editor.word("rennt").wait_for()
