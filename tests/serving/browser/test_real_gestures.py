"""Every gesture with which a person steers, against `levt serve` and its model.

What is asserted holds for any model that has learnt to translate. Where none is bundled, a tiny one that knows nothing
takes its place, and the tests that it cannot pass are skipped by name.
"""

from typing import Any

import pytest

from browser.real_editor import DOGS, KNOWS_GERMAN, common, in_order

pytestmark = pytest.mark.browser
trained = pytest.mark.skipif(not KNOWS_GERMAN, reason="no model is bundled")


def test_translate_writes_what_the_server_writes(real: Any, real_address: str) -> None:
    import httpx

    real.translate(DOGS.text)
    answer = httpx.post(f"{real_address}/v1/translate", json={"text": DOGS.text}, timeout=60).json()
    assert real.text == answer["results"][0]["text"] != ""
    assert real.said.startswith(f"{answer['results'][0]['iterations']} iteration")


@trained
def test_translate_writes_german(real: Any) -> None:
    real.translate("A dog runs over the snow.")
    assert "Hund" in real.words
    assert "Schnee" in real.words


def test_kept_words_stay_whatever_the_source(real: Any) -> None:
    real.give(DOGS.text, DOGS.draft)
    for word in ("Hunde", "Schnee"):
        real.word(word).click()
        real.choose("Keep")
    real.locator("#follow").uncheck()
    real.locator("#source").fill("A man reads a newspaper in the kitchen.")
    real.go_on()
    assert in_order(["Hunde", "Schnee"], real.locator(".word.locked").all_text_contents())
    # Let go, and they may be anything.
    real.word("Hunde").click()
    real.choose("Let go")
    assert "Hunde" not in real.locator(".word.locked").all_text_contents()


def test_crossed_out_words_go(real: Any) -> None:
    real.give(DOGS.text, DOGS.draft)
    real.word("laufen").click()
    real.choose("Cross out")
    assert real.locator("#draft s").all_text_contents() == ["laufen"]
    real.go_on()
    assert "laufen" not in real.words
    real.locator("#scrubber").focus()
    real.press("Home", "ArrowRight")
    assert "laufen" in real.locator("#frame del").all_text_contents()


@trained
def test_an_alternative_is_taken_and_stays(real: Any) -> None:
    real.give(DOGS.text, DOGS.draft)
    real.word("Hunde").click()
    rows = real.locator("#popover .alternative")
    rows.first.wait_for()
    shown = [row.split("\n") for row in rows.all_inner_texts()]
    assert 1 <= len(shown) <= 8
    assert all(parts[-1].endswith("%") for parts in shown)
    wanted = rows.first.locator(".what").text_content()
    assert wanted != "Hunde"
    rows.first.click()
    assert wanted in real.text
    assert "Hunde" not in real.words
    real.go_on()
    assert wanted in real.text


def between_kept(editor: Any) -> list[str]:
    """The words between the first word that is kept and the next."""
    words, kept = (
        editor.words,
        editor.locator("#draft .word").evaluate_all("nodes => nodes.map((node) => node.matches('.locked'))"),
    )
    first = kept.index(True)
    found: list[str] = words[first + 1 : kept.index(True, first + 1)]
    return found


@trained
@pytest.mark.parametrize(("choice", "count"), [("One", 1), ("Two", 2), ("Ask for so many", 4)])
def test_a_gap_gets_as_many_words_as_were_asked_for(real: Any, choice: str, count: int) -> None:
    real.give(DOGS.text, DOGS.draft)
    for word in ("Hunde", "laufen"):
        real.word(word).click()
        real.choose("Keep")
    real.gap(2).click()
    real.choose(choice)
    assert f"{count} word" in real.focused
    # One iteration, and nothing else can have come there meanwhile; they are still there after more.
    real.locator("#step").click()
    real.rests()
    asked = between_kept(real)
    assert len(asked) == count
    real.press("Control+z")
    real.go_on()
    # Beginnings of words may have been finished meanwhile.
    rest = iter(between_kept(real))
    assert all(any(word.startswith(beginning) for word in rest) for beginning in asked)


def test_typing_over_a_word_and_into_a_gap(real: Any) -> None:
    real.give(DOGS.text, DOGS.draft)
    real.word("laufen").focus()
    real.keyboard.type("rennen")
    real.press("Enter")
    real.locator(".word.locked", has_text="rennen").wait_for()
    real.gap(1).focus()
    real.keyboard.type("große")
    real.press("Enter")
    real.locator(".word.locked", has_text="große").wait_for()
    assert real.text == "Zwei große Hunde rennen über den Schnee."
    real.go_on()
    assert in_order(["große", "rennen"], real.words)


def test_continue_repairs_the_rest_and_can_be_undone(real: Any) -> None:
    real.give(DOGS.text, DOGS.draft)
    real.word("Schnee").focus()
    real.press("Space", "Alt+Enter")
    real.rests()
    real.go_on()
    after = real.text
    assert "Schnee" in after
    for _ in range(3):
        real.locator("#undo").click()
    assert real.text == DOGS.draft
    assert real.locator(".word.locked").count() == 0
    for _ in range(3):
        real.press("Control+Shift+z")
    assert real.text == after


@trained
def test_a_changed_source_is_followed_and_what_is_kept_stays(real: Any) -> None:
    real.translate(DOGS.text)
    first = real.words[0]
    real.press("Alt+w", "ArrowRight", "Space")
    real.locator("#source").fill(DOGS.other)
    assert "The source has changed" in real.locator("#source-note").text_content()
    real.locator("#source-note", has_not_text="changed").wait_for(state="attached")
    real.rests()
    assert first in real.locator(".word.locked").all_text_contents()


@trained
@pytest.mark.parametrize(
    ("source", "other", "wanted"),
    [
        ("A dog runs over the snow.", "A black dog runs over the snow.", "schwarz"),
        ("A man is eating an apple in the park.", "A woman is eating an apple in the park.", "Frau"),
        ("Two children are playing in the garden.", "Three children are playing in the garden.", "Drei"),
    ],
)
def test_few_edits_follow_a_changed_source(real: Any, source: str, other: str, wanted: str) -> None:
    real.translate(source)
    before = real.words
    assert wanted not in real.text
    real.locator("#source").fill(other)
    real.locator("#draft .word", has_text=wanted).wait_for()
    real.rests()
    assert common(before, real.words) >= 0.5 * len(before)
    assert len(real.words) <= len(before) + 3


def test_terms_appear_and_banned_words_do_not(real: Any) -> None:
    for term in ("heute", "Stein"):
        real.locator("#term").fill(term)
        real.press("Enter")
    real.locator("#ban").fill("Hunde")
    real.press("Enter")
    real.locator("#bans li").wait_for()
    real.translate(DOGS.text)
    for _ in range(2):
        assert {"heute", "Stein"} <= set(real.words)
        assert "Hunde" not in real.words
        assert real.locator(".missing").count() == 0
        real.go_on()


def test_the_dial_at_its_end_leaves_everything_alone(real: Any) -> None:
    real.give(DOGS.text, DOGS.draft)
    real.locator("#follow").uncheck()
    real.locator("#source").fill("A man reads a newspaper.")
    real.locator("#dial").focus()
    real.press("End")
    real.go_on()
    assert real.text == DOGS.draft
    assert "0 deleted, 0 inserted" in real.said
    assert real.locator("#dial").get_attribute("aria-valuetext") == "edit nothing"
