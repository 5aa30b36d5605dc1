"""A keystroke in the source of one of many sentences does the work of one: the rest of the page is left as it is."""

from typing import Any

import pytest

pytestmark = pytest.mark.browser

COUNT = 40
WATCH = """() => {
  const seen = (window.seen = { added: 0, kept: 0 });
  new MutationObserver((all) => all.forEach((one) => (seen.added += one.addedNodes.length)))
    .observe(document.querySelector("#sentence-list"), { childList: true });
  const set = Storage.prototype.setItem;
  Storage.prototype.setItem = function (...given) { seen.kept += 1; return set.apply(this, given); };
}"""


def split(editor: Any) -> None:
    editor.locator("#source").fill(" ".join(["A dog runs. A cat sleeps."] * (COUNT // 2)))
    editor.locator("#split").click()
    editor.locator("#status", has_text=f"{COUNT} sentences translated.").wait_for()


def test_a_keystroke_changes_one_sentence_of_the_list_and_the_work_is_kept_in_a_pause(editor: Any) -> None:
    split(editor)
    editor.locator("#sentence-list button").nth(30).click()
    editor.evaluate(WATCH)
    editor.locator("#source").focus()
    editor.press("End")
    kept = editor.evaluate(
        """() => { const source = document.querySelector("#source");
             for (const letter of "abc") { source.value += letter; source.dispatchEvent(new Event("input")); }
             return window.seen.kept; }"""
    )
    assert kept == 0
    assert editor.locator("#sentence-list li").nth(30).text_content() == "31. A dog runs.abc"
    assert editor.locator("#sentence-list [aria-current]").text_content() == "31. A dog runs.abc"
    editor.wait_for_timeout(600)
    assert editor.evaluate("() => window.seen") == {"added": 3, "kept": 1}


def test_a_tab_that_is_reloaded_before_the_pause_has_lost_nothing(editor: Any) -> None:
    split(editor)
    editor.locator("#sentence-list button").nth(7).click()
    editor.evaluate(
        """() => { const source = document.querySelector("#source");
             source.value = "Two cats."; source.dispatchEvent(new Event("input")); location.reload(); }"""
    )
    editor.locator("#sentence-list li", has_text="8. Two cats.").wait_for()
    assert editor.locator("#source").input_value() == "Two cats."


def test_the_list_follows_what_is_done(editor: Any) -> None:
    split(editor)
    buttons = editor.locator("#sentence-list button")
    for i in (0, 39, 5):
        buttons.nth(i).click()
        editor.locator(f"#sentence-list li:nth-child({i + 1}) [aria-current=true]").wait_for()
        assert editor.locator("#sentence-list [aria-current]").count() == 1
        assert editor.evaluate("document.activeElement.textContent") == buttons.nth(i).text_content()
        left, right = editor.evaluate(
            """() => { const list = document.querySelector("#sentence-list").getBoundingClientRect();
                 const here = document.querySelector("#sentence-list [aria-current]").getBoundingClientRect();
                 return [here.left - list.left, list.right - here.right]; }"""
        )
        assert left >= -1
        assert right >= -1
    editor.locator("#undo").click()
    editor.locator("#sentences").wait_for(state="hidden")
    editor.locator("#redo").click()
    editor.locator("#sentences").wait_for()
    assert buttons.count() == COUNT


def test_the_sentences_of_a_long_source_are_counted_in_a_pause(editor: Any) -> None:
    editor.locator("#source").fill("A dog runs. " * 300)
    editor.locator("#split", has_text="Translate 300 sentences one by one").wait_for()
    editor.locator("#source").press("End")
    editor.locator("#source").press_sequentially("A cat sleeps.")
    editor.locator("#split", has_text="Translate 301 sentences one by one").wait_for()
