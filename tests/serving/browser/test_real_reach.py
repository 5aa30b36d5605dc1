"""Whoever has no mouse, a small screen, a dark room or a screen reader can do everything with a real server, too."""

from typing import Any

import pytest

from browser.axe import serious
from browser.page_object import open_editor
from browser.real_editor import DOGS, KNOWS_GERMAN, in_order

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 740}


@pytest.mark.skipif(not KNOWS_GERMAN, reason="no model is bundled")
def test_a_session_by_keyboard_alone(real: Any) -> None:
    real.keyboard.type(DOGS.text)
    real.press("Control+Enter")
    real.locator("#draft .word").first.wait_for()
    real.rests()
    real.press("Alt+w", "ArrowRight")
    first = real.words[0]
    real.press("Space")
    assert real.focused.startswith(f"{first}, kept")
    real.press("End")
    real.keyboard.type("heute")
    real.press("Enter")
    real.locator(".word.locked", has_text="heute").wait_for()
    real.press("Home", "ArrowUp", "Control+Enter")
    real.locator("#status", has_text="iteration").wait_for()
    real.rests()
    words = real.words
    assert in_order([first, "heute"], words)
    assert words.index(first) >= 1
    real.press("Control+z", "Control+z")
    assert real.words[0] == first


def test_everything_is_reached_by_tab_in_the_order_it_is_seen(real: Any) -> None:
    real.give(DOGS.text, DOGS.draft)
    real.go_on()
    real.locator("summary").click()
    real.locator(".skip").focus()
    seen = ["skip"]
    for _ in range(60):
        real.press("Tab")
        at = real.evaluate(
            "document.activeElement.id || document.activeElement.className || document.activeElement.tagName"
        )
        if at in ("BODY", "skip"):
            break
        seen.append(at)
    wanted = [
        "skip", "undo", "help-open", "source", "follow", "as-text", "copy", "save-open", "gap", "play", "scrubber",
        "translate", "continue", "step", "term", "term-add", "ban", "ban-add", "dial", "SUMMARY", "length",
        "iterations",
    ]  # fmt: skip
    assert [at.split()[0] for at in seen] == wanted


def test_light_and_dark_are_two_pages_to_the_eye(real: Any) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    shades = {}
    for scheme in ("light", "dark"):
        real.emulate_media(color_scheme=scheme)
        shades[scheme] = sum(map(int, real.evaluate(ground).strip("rgb()").split(",")))
    assert shades["dark"] < 200 < 600 < shades["light"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_by_finger(chromium: Any, real_address: str, scheme: str) -> None:
    phone = chromium.new_context(viewport=PHONE, has_touch=True, is_mobile=True, color_scheme=scheme)
    phone.set_default_timeout(30_000)
    for editor in open_editor(phone, real_address):
        editor.give(DOGS.text, DOGS.draft)
        editor.word("Hunde").tap()
        sheet = editor.locator("#popover").bounding_box()
        assert sheet["y"] + sheet["height"] == pytest.approx(PHONE["height"], abs=1)
        # What it is about is seen above the sheet.
        word = editor.word("Hunde").bounding_box()
        assert word["y"] + word["height"] <= sheet["y"]
        editor.locator("#popover .keep").tap()
        editor.gap(1).tap()
        editor.locator("#popover").get_by_role("button", name="One", exact=True).tap()
        editor.locator("#continue").tap()
        editor.rests()
        assert in_order(["Hunde"], editor.locator(".word.locked").all_text_contents())
        assert editor.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        small = editor.locator("button:visible, input:visible, summary:visible").evaluate_all(
            """nodes => nodes.filter((node) => !node.closest('#draft')).filter((node) => {
                 const box = (node.closest('label') ?? node).getBoundingClientRect();
                 return box.width < 24 || box.height < 24; }).map((node) => node.id || node.textContent)"""
        )
        assert small == []
    phone.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_a_real_session(real: Any, scheme: str) -> None:
    real.emulate_media(color_scheme=scheme)
    real.translate(DOGS.text)
    real.press("Alt+w", "ArrowRight", "Space", "ArrowRight", "ArrowUp", "ArrowRight", "Delete")
    assert serious(real) == {}
    real.locator("#source").fill(DOGS.other)
    real.go_on()
    assert serious(real) == {}
    real.press("Alt+ArrowLeft", "Alt+ArrowLeft")
    assert serious(real) == {}


def test_axe_would_find_something(real: Any) -> None:
    real.evaluate(
        """() => { document.getElementById('term').removeAttribute('placeholder');
             document.querySelector('label[for=term]').remove();
             document.getElementById('copy').style.color = '#eee'; }"""
    )
    assert set(serious(real)) == {"label", "color-contrast"}
    real.wrong.clear()
