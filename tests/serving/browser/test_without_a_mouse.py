"""Whoever cannot use a mouse, or sees little: the focus is never lost or covered, and what happens is told once."""

from typing import Any

import pytest

pytestmark = pytest.mark.browser

LISTEN = """() => {
  window.heard = [];
  const live = '[role=status], [role=alert], output, [aria-live]';
  new MutationObserver((changes) => {
    const regions = new Set(changes.map(({target}) => (target.closest ? target : target.parentElement)?.closest(live)));
    for (const region of regions) {
      if (region && region.ariaLive !== 'off' && !region.closest('[hidden]')) heard.push(region.textContent.trim());
    }
  }).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""
AT = "document.activeElement.id || document.activeElement.className || document.activeElement.tagName"
COVERED = """() => {
  const {top, bottom, left, right} = document.activeElement.getBoundingClientRect();
  return [top + 3, (top + bottom) / 2, bottom - 3].some((y) => {
    const seen = document.elementFromPoint((left + right) / 2, y);
    const own = seen && (document.activeElement.contains(seen) || seen.contains(document.activeElement));
    return !own || seen.matches('html, body, main');
  });
}"""


def test_what_happens_is_read_aloud_once_and_with_the_new_text(editor: Any) -> None:
    editor.evaluate(LISTEN)
    editor.translate("A dog runs.")
    heard = editor.evaluate("heard")
    assert len(heard) == len(set(heard)) == 2
    assert heard[1].endswith("Ein Hund läuft.")
    editor.press("Alt+w", "Alt+ArrowLeft")
    editor.locator("#dial").focus()
    editor.press("ArrowRight")
    assert editor.evaluate("heard.slice(2)") == ["Iteration 3 of 3: nothing changed."]


def test_what_is_played_again_is_read_aloud(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.evaluate(LISTEN)
    editor.locator("#play").click()
    editor.locator("#moment", has_text="Now").wait_for()
    heard = editor.evaluate("heard")
    assert [moment.partition(":")[0] for moment in heard] == [f"Iteration {i} of 3" for i in (1, 2, 3)]


def test_a_button_that_is_switched_off_keeps_the_focus(editor: Any) -> None:
    editor.locator("#source").fill("A dog runs.")
    editor.locator("#translate").focus()
    editor.press("Enter")
    assert editor.evaluate(AT) == "translate"
    editor.rests()
    assert editor.evaluate(AT) == "translate"
    editor.locator("#undo").focus()
    for _ in range(3):
        editor.press("Enter")
    assert editor.evaluate(AT) == "undo"
    assert editor.locator("#undo").is_disabled()
    editor.press("Tab", "Shift+Tab")
    assert editor.evaluate(AT) != "undo"


def test_what_goes_away_hands_the_focus_on(editor: Any, server: Any) -> None:
    server.pause = 5.0
    editor.locator("#source").fill("A dog runs.")
    editor.locator("#translate").click()
    editor.locator("#stop").focus()
    editor.press("Enter")
    editor.rests()
    assert editor.evaluate(AT) == "translate"
    server.pause = 0.0
    editor.route("**/v1/translate", lambda route: route.abort())
    editor.press("Enter")
    editor.locator("#notice-close").focus()
    editor.press("Enter")
    assert editor.evaluate(AT) == "translate"


@pytest.mark.parametrize("back", [False, True])
def test_tab_out_of_the_popover_closes_it(editor: Any, back: bool) -> None:
    editor.translate("A dog runs.")
    editor.word("Hund").focus()
    editor.press("Enter")
    editor.locator("#popover .alternative").first.wait_for()
    if not back:
        editor.locator("#popover .alternative").last.focus()
    editor.press("Shift+Tab" if back else "Tab")
    assert editor.locator("#popover").is_hidden()
    assert editor.focused.startswith("Hund")


@pytest.mark.parametrize("size", [(600, 400), (320, 256)])
def test_enlarged_two_and_four_times_nothing_covers_the_focus(editor: Any, size: tuple[int, int]) -> None:
    editor.translate("A dog runs over the deep snow.")
    editor.set_viewport_size({"width": size[0], "height": size[1]})
    assert editor.evaluate("document.documentElement.scrollWidth") <= size[0]
    editor.locator(".skip").focus()
    covered = []
    for _ in range(14):
        editor.press("Tab")
        # The mark of a choice is smaller than its label.
        if editor.evaluate(COVERED) and editor.evaluate(AT) != "follow":
            covered.append(editor.evaluate(AT))
    assert covered == []


def test_new_words_and_gaps_without_colours_of_our_own(editor: Any) -> None:
    editor.give("A black dog runs.", "Ein Hund läuft.")
    editor.go_on()
    fresh = editor.locator(".word.fresh").first
    assert fresh.evaluate("node => getComputedStyle(node).borderBottomWidth") == "2px"
    editor.emulate_media(forced_colors="active")
    editor.locator("#source").focus()
    assert editor.gap(1).evaluate("node => getComputedStyle(node).color") == "rgba(0, 0, 0, 0)"
    editor.emulate_media(forced_colors="none")


def test_words_are_of_the_target_language_and_what_is_said_about_them_is_not(
    editor: Any, server: Any
) -> None:
    server.name = "scripted-en-de"
    editor.reload()
    editor.locator("#draft-title", has_text="German").wait_for()
    editor.translate("A dog runs.")
    language = "node => node.closest('[lang]').lang"
    assert editor.locator("#live span").evaluate(language) == "de"
    editor.locator("#term").fill("Winter")
    editor.press("Enter")
    for where, wanted in {
        "#source": "en", "#draft": "en", ".gap": "en", ".word": "de", "#term": "de", "#terms span": "de",
    }.items():  # fmt: skip
        assert editor.locator(where).first.evaluate(language) == wanted, where
    editor.word("Hund").click()
    editor.locator("#popover .alternative").first.wait_for()
    assert editor.locator("#popover .what").first.evaluate(language) == "de"
