"""Iterations: they play as they come, and can be looked at again."""

from typing import Any

import pytest

pytestmark = pytest.mark.browser


def test_iterations_play_in_phases_and_again(moving: Any, server: Any) -> None:
    moving.evaluate(
        """() => { window.seen = []; const frame = document.getElementById('frame');
             new MutationObserver(() => { const now = [frame.dataset.phase, frame.textContent];
               if (String(window.seen.at(-1)) !== String(now)) window.seen.push(now); })
             .observe(frame, {attributes: true, childList: true}); }"""
    )
    moving.translate("A dog runs.")
    seen = [tuple(moment) for moment in moving.evaluate("window.seen")]
    first, second = "Ein Hund geht.", "Ein Hund geht läuft."
    wanted = [
        ("insert", first), ("fill", first), ("delete", second), ("insert", second), ("fill", second),
        ("fill", "Ein Hund läuft."),
    ]  # fmt: skip
    assert [moment for moment in seen if moment[0] not in (None, "all")] == wanted
    assert moving.text == "Ein Hund läuft."
    moving.locator("#play").click()
    moving.locator("#frame ins").first.wait_for()
    moving.locator("#play", has_text="Pause").click()
    assert moving.locator("#take").is_visible()
    assert moving.locator("#play").text_content() == "Play"


def test_what_is_only_shown_can_be_cut_short(moving: Any) -> None:
    moving.locator("#source").fill("A dog runs.")
    # Before the answer is complete, Escape would stop the model instead.
    with moving.expect_request_finished(lambda request: request.url.endswith("/v1/translate")):
        moving.locator("#translate").click()
    moving.locator("#frame ins").first.wait_for(state="attached")
    moving.press("Escape")
    moving.rests()
    assert moving.text == "Ein Hund läuft."


def test_the_scrubber_shows_every_iteration(editor: Any) -> None:
    editor.translate("A dog runs.")
    scrubber = editor.locator("#scrubber")
    scrubber.focus()
    editor.press("ArrowLeft", "ArrowLeft")
    assert scrubber.get_attribute("aria-valuetext") == "Iteration 2 of 3: 1 deleted, 1 inserted"
    frame = editor.locator("#frame")
    assert frame.locator("del").all_text_contents() == ["geht"]
    assert frame.locator("ins").all_text_contents() == ["läuft"]
    assert frame.locator("ins").get_attribute("title") == "inserted, 42 %"
    assert "line-through" in frame.locator("del").evaluate("e => getComputedStyle(e).textDecorationLine")
    assert "underline" in frame.locator("ins").evaluate("e => getComputedStyle(e).textDecorationLine")
    editor.press("Home")
    assert (editor.locator("#moment").text_content(), frame.text_content()) == ("Draft", "(empty)")
    editor.press("End")
    assert frame.is_hidden()
    assert editor.locator("#draft").is_visible()


def test_an_iteration_can_be_gone_on_from(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.press("Alt+ArrowLeft", "Alt+ArrowLeft", "Alt+ArrowLeft")
    editor.locator("#take").click()
    assert editor.text == "Ein Hund geht."
    editor.press("Control+z")
    assert editor.text == "Ein Hund läuft."


def test_no_iteration_can_be_gone_on_from_while_the_model_goes_on(editor: Any, server: Any) -> None:
    """What it writes in the end would take the place of what was chosen."""
    editor.translate("A dog runs.")
    server.pause = 30.0
    editor.locator("#translate").click()
    editor.locator("#take:disabled").wait_for()
    editor.locator("#stop").click()
    editor.rests()
    editor.press("Alt+ArrowLeft")
    assert editor.locator("#take").is_enabled()


def test_confidence_is_a_line_and_a_word(editor: Any) -> None:
    editor.translate("A dog runs.")
    word = editor.word("läuft")
    assert word.get_attribute("aria-label") == "läuft, doubtful, 42 %"
    assert word.evaluate("e => getComputedStyle(e).textDecorationStyle") == "wavy"
    assert editor.word("Hund").get_attribute("aria-label") == "Hund"
    editor.press("Alt+w", "End", "ArrowLeft", "ArrowLeft", "ArrowLeft", "Space")
    assert word.get_attribute("aria-label") == "läuft, kept"
