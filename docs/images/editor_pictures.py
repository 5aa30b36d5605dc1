"""Makes editor-iteration.png and editor-edit.png from a running server: `levt serve`, then this, then look at them.

Needs playwright and Chromium at /usr/bin/chromium, or where CHROMIUM says.
"""

import os
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
ADDRESS = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"


def open_page(browser: Any, scheme: str) -> Any:
    """The editor in a fresh profile, without motion."""
    look = {"width": 1100, "height": 640}
    profile = browser.new_context(
        viewport=look, color_scheme=scheme, reduced_motion="reduce", device_scale_factor=1.5
    )
    page = profile.new_page()
    page.goto(ADDRESS)
    page.locator("#model:not(:empty)").wait_for()
    return page


def translate(page: Any, source: str) -> None:
    """Let the model write."""
    page.fill("#source", source)
    page.click("#translate")
    page.locator("#draft .word").first.wait_for()


def picture(page: Any, name: str) -> None:
    """Take it, with the pointer out of the way."""
    page.mouse.move(1, 1)
    page.wait_for_timeout(300)
    page.screenshot(path=HERE / name)


def iteration(page: Any) -> None:
    """The second iteration of a translation."""
    translate(page, "I would have come earlier if I had known about your plans.")
    page.locator("#scrubber").focus()
    for key in ("Home", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    page.evaluate("document.activeElement.blur()")
    picture(page, "editor-iteration.png")


def edit(page: Any) -> None:
    """A word kept, one crossed out, one asked for, and what could stand instead of another."""
    translate(page, "The committee will discuss the new budget again next week.")

    def press(word: str, choice: str) -> None:
        page.locator("#draft .word").filter(has_text=word).first.click()
        if choice:
            page.locator("#popover").get_by_role("button", name=choice, exact=True).click()

    press("Ausschuss", "Keep")
    press("neuen", "Cross out")
    words = page.locator("#draft .word").all_text_contents()
    page.locator("#draft .gap").nth(words.index("nächste")).click()
    page.locator("#popover").get_by_role("button", name="One", exact=True).click()
    press("erneut", "")
    page.locator(".alternative").first.wait_for()
    picture(page, "editor-edit.png")


with sync_playwright() as playwright:
    chromium = playwright.chromium.launch(
        executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"]
    )
    iteration(open_page(chromium, "light"))
    edit(open_page(chromium, "dark"))
    chromium.close()
