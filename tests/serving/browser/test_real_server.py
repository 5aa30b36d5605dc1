"""The editor with the real server.

First with a tiny model that knows nothing: what holds for every model holds here. Then with the bundled one.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from levt.edits.trace import Trace
from levt.policy.hub import bundled

pytestmark = pytest.mark.browser

SOURCE = "Two dogs run over the snow."
DRAFT = "Zwei Hunde laufen über den Schnee."


@pytest.fixture
def real(profile: Any) -> Iterator[Any]:
    from live import serving

    from browser.page_object import open_editor

    with serving() as running:
        yield from open_editor(profile, running.address)


@pytest.fixture
def german(profile: Any) -> Iterator[Any]:
    """The editor with the model that comes with the package."""
    from live import serving

    import levt
    from browser.page_object import open_editor

    with serving(levt.load("levt-en-de", device="cpu")) as running:
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


def saved(editor: Any, what: str) -> str:
    editor.locator("#save-open").click()
    with editor.expect_download() as coming:
        editor.locator("#popover button", has_text=what).click()
    return Path(coming.value.path()).read_text(encoding="utf-8")


def test_what_is_taken_away_and_taken_back(real: Any) -> None:
    draft(real, DRAFT)
    real.go_on()
    after = real.text
    trace = Trace.from_json(json.loads(saved(real, "Trace"))["turns"][-1]["trace"])
    assert trace.text == after == saved(real, "Text").removesuffix("\n")
    assert "<script" not in saved(real, "Session")
    real.locator("#copy").click()
    real.locator("#status", has_text="Copied").wait_for()
    assert real.evaluate("navigator.clipboard.readText()") == after
    real.locator("#undo").click()
    assert real.text == DRAFT
    real.press("Control+Shift+z")
    assert real.text == after


def test_a_changed_source_is_followed_from_the_draft_as_it_stands(real: Any) -> None:
    draft(real, DRAFT)
    for word in ("Zwei", "Hunde", "laufen", "über", "den", "Schnee"):
        real.word(word).focus()
        real.press("Space")
    real.locator("#source").fill("Two black dogs run over the snow.")
    real.locator("#status", has_text="iteration").wait_for()
    real.rests()
    assert all(word in real.text for word in ("Zwei", "Hunde", "laufen", "über", "den", "Schnee"))


def test_leaving_while_the_model_writes_frees_its_place(profile: Any) -> None:
    from live import serving

    from browser.page_object import open_editor

    with serving() as running:
        scheduler = running.service.worker.scheduler
        for editor in open_editor(profile, running.address):
            editor.locator("#source").fill(" ".join([SOURCE] * 40))
            editor.locator("#iterations").evaluate("field => { field.max = 50; field.value = 50; }")
            editor.locator("#translate").click()
    assert scheduler.running == scheduler.waiting == 0


@pytest.mark.skipif("levt-en-de" not in bundled(), reason="no model is bundled")
def test_a_session_with_the_bundled_model(german: Any) -> None:
    german.translate("A dog runs over the snow.")
    assert "Hund" in german.text
    assert "Schnee" in german.text
    german.word("Hund").click()
    rows = german.locator("#popover .alternative")
    rows.first.wait_for()
    german.choose("Keep")
    german.locator("#source").fill("A dog runs over the grass.")
    german.locator(".word", has_text="Gras").or_(german.locator(".word", has_text="Wiese")).first.wait_for()
    assert german.word("Hund").get_attribute("aria-label") == "Hund, kept"
    german.locator("#term").fill("heute")
    german.press("Enter")
    german.go_on()
    assert "heute" in german.text
    assert "Hund" in german.text
