"""The editor as a person sees it, for tests: words, gaps, and what can be pressed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

WAIT = 30_000
"""Milliseconds within which things must happen."""


def new_profile(chromium: Any) -> Any:
    """A browser profile that may use the clipboard."""
    profile = chromium.new_context(viewport={"width": 1200, "height": 800})
    profile.set_default_timeout(WAIT)
    profile.grant_permissions(["clipboard-read", "clipboard-write"])
    return profile


def alone_with(chromium: Any, page: Path) -> tuple[Any, Any]:
    """A profile without scripts and a tab in it with a page of the disk, which must ask for nothing else."""
    profile = chromium.new_context(java_script_enabled=False)
    profile.set_default_timeout(WAIT)
    asked: list[str] = []
    tab = profile.new_page()
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(page.as_uri())
    assert asked == [page.as_uri()]
    return profile, tab


def open_editor(profile: Any, address: str, *, motion: str = "reduce") -> Iterator["Editor"]:
    """An editor in a tab of its own; errors of the page and requests to elsewhere fail the test."""
    page = profile.new_page()
    page.emulate_media(reduced_motion=motion)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.on("console", lambda said: wrong.append(said.text) if complaint(said) else None)
    page.on("request", lambda asked: wrong.append(asked.url) if elsewhere(asked.url, address) else None)
    page.goto(address)
    editor = Editor(page, wrong)
    page.locator("#model:not(:empty), dialog[open], #notice:not([hidden])").first.wait_for()
    yield editor
    page.close()
    assert wrong == []


def complaint(said: Any) -> bool:
    # The browser itself notes every answer that is an error; the page has its own way to say so.
    return said.type == "error" and "Failed to load resource" not in said.text


def elsewhere(url: str, address: str) -> bool:
    return not url.startswith((address, "blob:", "data:"))


class Editor:
    """Gestures and what can be seen."""

    def __init__(self, page: Any, wrong: list[str]) -> None:
        self.page = page
        self.wrong = wrong

    def __getattr__(self, name: str) -> Any:
        """Everything else is the page's."""
        return getattr(self.page, name)

    def translate(self, source: str) -> None:
        """Type a source and let the model write its target."""
        self.page.locator("#source").fill(source)
        self.page.locator("#translate").click()
        self.rests()

    def give(self, source: str, draft: str) -> None:
        """Begin with a draft of one's own."""
        self.page.locator("#source").fill(source)
        self.page.locator("#as-text").click()
        self.page.locator("#whole").fill(draft)
        self.page.locator("#as-text").click()
        self.page.locator("#draft .word").first.wait_for()

    def go_on(self) -> None:
        self.page.locator("#continue").click()
        self.rests()

    def saved(self, what: str) -> str:
        """The content of a file that the page hands out."""
        self.page.locator("#save-open").click()
        with self.page.expect_download() as coming:
            self.page.locator("#popover button", has_text=what).click()
        return Path(coming.value.path()).read_text(encoding="utf-8")

    def rests(self) -> None:
        """Wait until the model is done."""
        # The page's policy forbids the evaluation of texts, so waiting is for what can be seen.
        self.page.locator("#draft[aria-busy=false]").wait_for(state="attached")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def word(self, text: str) -> Any:
        """A word of the draft."""
        return self.page.locator("#draft .word").filter(has_text=text).first

    def gap(self, i: int) -> Any:
        """The gap before word i, punctuation marks counted."""
        return self.page.locator("#draft .gap").nth(i)

    def choose(self, name: str) -> None:
        """Press a button of the popover."""
        self.page.locator("#popover").get_by_role("button", name=name, exact=True).click()

    @property
    def words(self) -> list[str]:
        """The words of the draft, punctuation marks among them."""
        found: list[str] = self.page.locator("#draft .word").all_text_contents()
        return found

    @property
    def text(self) -> str:
        """The draft: words joined as they are shown."""
        found: str = self.page.evaluate(
            """() => [...document.querySelectorAll('#draft .word, #draft .gap')].map((node) =>
                 node.matches('.word') ? node.textContent : node.matches('.tight') ? '' : ' ').join('').trim()"""
        )
        return found

    @property
    def focused(self) -> str:
        """The accessible name of what has the focus."""
        found: str = self.page.evaluate(
            "document.activeElement.getAttribute('aria-label') ?? document.activeElement.id"
        )
        return found

    @property
    def said(self) -> str:
        """What was read aloud last."""
        return str(self.page.locator("#live").text_content()).strip("\u00a0")
