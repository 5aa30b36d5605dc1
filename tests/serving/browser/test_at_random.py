"""Gestures at random on two sentences, with a server that is slow and fails: what holds however they fall in time.

``LEVT_BROWSER_SEEDS=100-160`` takes other seeds. A failure names its seed, the gestures and what they really did.
"""

import os
from typing import Any

import pytest

from browser.random_person import Gesture, Person, gestures
from browser.server_moods import at_random
from browser.what_was_done import MARKER, RECORDER, Done

pytestmark = pytest.mark.browser

COUNT = 45
"""Gestures of a seed."""
REST = 10_000
"""Milliseconds in which a page comes to rest, now that the server is well: it needs a hundredth of it."""
FIRST, LAST = map(int, os.environ.get("LEVT_BROWSER_SEEDS", "1-6").split("-"))

PRESS = "(selector) => document.querySelector(selector).click()"
LOST = "() => document.activeElement === document.body"
COPY = """(patience) => new Promise((resolve) => {
  const [status, notice] = ['#status', '#notice'].map((id) => document.querySelector(id));
  const look = () => (status.textContent === 'Copied.' ? resolve('copied') : notice.hidden || resolve('trouble'));
  status.textContent = '';
  new MutationObserver(look).observe(status, { childList: true, characterData: true, subtree: true });
  new MutationObserver(look).observe(notice, { attributes: true });
  setTimeout(() => resolve('nothing'), patience);
  document.querySelector('#copy').click();
})"""
SEEN = """() => {
  const texts = (selector) => [...document.querySelectorAll(selector)].map((one) => one.textContent);
  const words = [...document.querySelectorAll('#draft .word')].map((word) =>
    [word.textContent, word.matches('.locked'), word.matches('.crossed')]);
  return { source: document.querySelector('#source').value, words, gaps: texts('#draft .gap'),
    terms: texts('#terms li > span:first-child'), bans: texts('#bans li > span') };
}"""
ALL_THE_WAY = """async (selector) => {
  const button = document.querySelector(selector);
  let steps = 0;
  for (; !button.disabled && !button.hasAttribute('aria-disabled') && steps < 500; steps += 1) {
    button.click();
    await new Promise((resolve) => setTimeout(resolve));
  }
  return steps;
}"""


@pytest.mark.parametrize("seed", range(FIRST, LAST + 1))
def test_nothing_is_lost(editor: Any, server: Any, seed: int) -> None:
    undoing = seed % 2 == 0
    plan, done = gestures(seed, COUNT, undoing=undoing), Done()
    try:
        prepare(editor, server, seed, done)
        person = Person(editor)
        for one in plan:
            done.log.append(str(one))
            perform(editor, person, one)
        come_to_rest(editor, server)
        check(editor, server, done, undoing=undoing)
        assert editor.wrong == []
    except Exception as error:
        error.add_note(f"seed {seed}, what was meant and what was done:\n" + "\n".join(done.log))
        raise


def prepare(editor: Any, server: Any, seed: int, done: Done) -> None:
    """Two sentences, each with a draft, and no word twice in one."""
    editor.page.on("console", done.hear)
    editor.add_init_script(RECORDER)
    editor.reload()
    editor.locator("#model:not(:empty)").wait_for()
    editor.locator("#source").fill("A dog runs over the deep snow. Two cats sleep quickly.")
    editor.locator("#split").click()
    editor.locator("#status", has_text="2 sentences translated.").wait_for()
    server.pause, server.mood = 0.03, at_random(seed)


def perform(editor: Any, person: Person, one: Gesture) -> None:
    """One gesture; a key never takes away the focus, but for Tab at the end of a dialog: then the browser has it."""
    was_lost = editor.evaluate(LOST)
    person.do(one)
    left = one.end == "Tab" and editor.locator("dialog[open]").count() > 0
    if one.by_keyboard and not was_lost and not left:
        editor.locator("body :focus").wait_for(state="attached", timeout=REST)


def come_to_rest(editor: Any, server: Any) -> None:
    """The server is well again: what failed is tried again, what is open is closed, and nothing is waited for."""
    server.mood = None
    editor.mouse.up()
    editor.press("Escape", "Escape")
    if editor.locator("#follow").is_checked():
        editor.evaluate(PRESS, "#follow")
    for _ in range(8):
        editor.locator("#draft[aria-busy=false]").wait_for(state="attached", timeout=REST)
        if editor.locator("#notice").is_visible():
            again = editor.locator("#notice-retry").is_visible()
            editor.evaluate(PRESS, "#notice-retry" if again else "#notice-close")
        editor.locator("#model:not(:empty), #notice:not([hidden])").first.wait_for(timeout=REST)
        ended = editor.evaluate(COPY, REST)
        assert ended != "nothing", "the page waits for ever"
        editor.locator("#draft[aria-busy=false]").wait_for(state="attached", timeout=REST)
        if ended == "copied" and editor.locator("#notice").is_hidden():
            break
    else:
        pytest.fail(f"an error stays: {editor.locator('#notice').inner_text()}")
    assert editor.locator("#whole").is_hidden()
    assert editor.locator("input.typing").count() == 0


def sentences(editor: Any) -> list[dict[str, Any]]:
    """What is to be seen of each sentence."""
    buttons = editor.locator("#sentence-list button")
    if editor.locator("#sentences").is_hidden():
        return [editor.evaluate(SEEN)]
    here = editor.evaluate(
        "[...document.querySelectorAll('#sentence-list button')].findIndex((one) => one.ariaCurrent)"
    )
    seen = []
    for i in [*range(buttons.count()), here]:
        buttons.nth(i).evaluate("(button) => button.click()")
        editor.locator(f"#sentence-list li:nth-child({i + 1}) [aria-current=true]").wait_for(timeout=REST)
        seen.append(editor.evaluate(SEEN))
    return seen[:-1]


def check(editor: Any, server: Any, done: Done, *, undoing: bool) -> None:
    seen = sentences(editor)
    if len(seen) == 2:
        nowhere_else(seen, done)
    if not undoing:
        assert len(seen) == 2
        all_there(seen, done)
    editor.evaluate(ALL_THE_WAY, "#redo")
    last = sentences(editor)
    kept = done.kept or {}
    editor.evaluate(ALL_THE_WAY, "#undo")
    first = sentences(editor)
    begun = kept.get("sentences") or [{"now": {"source": "", "doc": {"tokens": []}}}]
    assert [one["source"] for one in first] == [one["now"]["source"] for one in begun]
    assert [text(one) for one in first] == [pieces(one["now"]["doc"]["tokens"]) for one in begun]
    editor.evaluate(ALL_THE_WAY, "#redo")
    assert sentences(editor) == last
    editor.reload()
    editor.locator("#model:not(:empty)").wait_for(timeout=REST)
    come_to_rest(editor, server)
    assert sentences(editor) == last


def text(sentence: dict[str, Any]) -> str:
    """The letters of a draft."""
    return "".join(word for word, *_ in sentence["words"])


def pieces(tokens: list[dict[str, Any]]) -> str:
    return "".join(token["piece"] for token in tokens).replace("▁", "")


def nowhere_else(seen: list[dict[str, Any]], done: Done) -> None:
    """What was typed into one sentence is not in the other."""
    for i, sentence in enumerate(seen):
        others = {marker for marker, typed in done.typed.items() if typed.at not in (None, i)}
        assert others & set(MARKER.findall(str(sentence))) == set()


def all_there(seen: list[dict[str, Any]], done: Done) -> None:
    """What was typed is where it was typed, and what was kept is kept."""
    for marker, typed in done.typed.items():
        assert typed.at is not None
        sentence = seen[typed.at]
        locked = " ".join(word for word, kept, _ in sentence["words"] if kept)
        if typed.field in ("source", "term", "ban"):
            name = {"source": "source", "term": "terms", "ban": "bans"}[typed.field]
            assert marker in done.left or MARKER.findall(str(sentence[name])).count(marker) == 1, (
                marker,
                typed,
                sentence,
            )
        elif done.stays(marker):
            assert MARKER.findall(locked).count(marker) == 1, (marker, typed, sentence)
    for at, word in done.locked:
        assert [word, True] in [one[:2] for one in seen[at]["words"]], (at, word, seen[at])
