"""The editor with the real server and a tiny model that knows nothing: what holds for every model holds here."""

from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.browser

SOURCE = "Two dogs run over the snow."
DRAFT = "Zwei Hunde laufen über den Schnee."


@pytest.fixture
def real(profile: Any) -> Iterator[Any]:
    from live import serving

    from browser.page_object import open_editor

    with serving() as running:
        yield from open_editor(profile, running.address)


def draft(editor: Any, text: str) -> None:
    """Put a draft of one's own there."""
    editor.locator("#source").fill(SOURCE)
    editor.locator("#as-text").click()
    editor.locator("#whole").fill(text)
    editor.locator("#as-text").click()
    editor.locator("#draft .word").first.wait_for()


def test_what_is_kept_survives_and_what_must_appear_appears(real: Any) -> None:
    draft(real, DRAFT)
    assert real.text == DRAFT
    for word in ("Hunde", "Schnee"):
        real.word(word).click()
        real.choose("Keep")
    real.word("laufen").click()
    real.choose("Cross out")
    real.locator("#term").fill("Stein")
    real.press("Enter")
    real.locator("#iterations").evaluate("field => { field.value = 3; }")
    real.go_on()
    assert real.locator("#notice").is_hidden()
    assert real.locator(".word.locked", has_text="Hunde").count() >= 1
    assert "Stein" in real.text
    assert "laufen" not in real.text
    real.locator("#scrubber").focus()
    real.press("Home", "ArrowRight")
    assert real.locator("#frame del", has_text="laufen").count() == 1


def test_the_dial_at_its_end_leaves_everything_alone(real: Any) -> None:
    draft(real, DRAFT)
    real.locator("#dial").focus()
    real.press("End")
    real.go_on()
    assert real.text == DRAFT
    assert "0 deleted, 0 inserted" in real.said


def test_alternatives_gaps_and_steps(real: Any) -> None:
    draft(real, DRAFT)
    real.word("Hunde").click()
    rows = real.locator("#popover .alternative")
    rows.first.wait_for()
    assert rows.count() >= 5
    real.press("Escape")
    for word in ("Zwei", "Hunde", "laufen", "über", "den", "Schnee"):
        real.word(word).focus()
        real.press("Space")
    real.gap(1).click()
    real.choose("Two")
    real.press("Alt+Enter")
    real.locator("#moment", has_text="Now").wait_for()
    real.rests()
    assert real.said.startswith("1 iteration: ")
    frame = real.locator("#frame")
    real.press("Alt+ArrowLeft")
    assert frame.locator("b").all_text_contents() == ["Zwei", "Hunde", "laufen", "über", "den", "Schnee"]
