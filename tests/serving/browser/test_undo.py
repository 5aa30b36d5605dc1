"""Everything that is done can be undone, in the order in which it was done, and done again."""

import json
from typing import Any

import pytest

pytestmark = pytest.mark.browser

TWO = "A dog runs. A cat sleeps."


def split(editor: Any) -> None:
    editor.locator("#follow").uncheck()
    editor.locator("#source").fill(TWO)
    editor.locator("#split").click()
    editor.locator("#status", has_text="2 sentences translated.").wait_for()


def seen(editor: Any) -> tuple[Any, ...]:
    """All that a person can change."""
    return (
        editor.locator("#source").input_value(),
        editor.locator("#draft .word, #draft .asked").all_text_contents(),
        editor.locator(".word.locked").all_text_contents(),
        editor.locator(".word.crossed").all_text_contents(),
        editor.locator("#terms li span:first-child").all_text_contents(),
        editor.locator("#bans li span:first-child").all_text_contents(),
        editor.locator("#sentence-list button").all_text_contents()
        if editor.locator("#sentences").is_visible()
        else [],
    )


def undo(editor: Any) -> str:
    editor.locator("#undo").click()
    return str(editor.locator("#status").text_content())


def test_joining(editor: Any) -> None:
    split(editor)
    editor.press("Alt+PageDown")
    editor.word("Katze").focus()
    editor.press("Space")
    before = seen(editor)
    editor.locator("#join").click()
    editor.word("Hund").focus()
    editor.press("Space")
    after = seen(editor)
    undo(editor)
    assert undo(editor) == "Undone: joined the sentences."
    assert seen(editor) == before
    editor.locator("#redo").click()
    editor.locator("#redo").click()
    assert seen(editor) == after
    assert editor.locator("#redo").is_disabled()


def test_cutting_into_sentences(editor: Any) -> None:
    split(editor)
    after = seen(editor)
    assert undo(editor) == "Undone: translated the sentences one by one."
    assert editor.locator("#source").input_value() == TWO
    assert editor.locator("#sentences").is_hidden()
    assert editor.text == ""
    editor.locator("#redo").click()
    assert seen(editor) == after


def test_every_gesture_in_the_order_of_all_sentences(editor: Any) -> None:
    states = [seen(editor)]

    def done() -> None:
        assert seen(editor) != states[-1]
        states.append(seen(editor))

    editor.locator("#follow").uncheck()
    editor.locator("#source").fill(TWO)
    done()
    editor.locator("#split").click()
    editor.locator("#status", has_text="2 sentences translated.").wait_for()
    done()
    editor.word("Hund").focus()
    editor.press("Space")
    done()
    editor.press("Alt+PageDown")
    # Undoing goes to where something was done, and this was the sentence before it.
    states[-1] = seen(editor)
    editor.word("Katze").focus()
    editor.press("Delete")
    done()
    editor.gap(0).focus()
    editor.press("ArrowUp")
    done()
    editor.locator("#source").fill("A black cat sleeps.")
    done()
    editor.locator("#term").fill("Haus")
    editor.press("Enter")
    done()
    editor.locator("#ban").fill("Wolf")
    editor.press("Enter")
    editor.locator("#bans li").wait_for()
    done()
    editor.word("schläft").focus()
    editor.keyboard.type("ruht")
    editor.press("Enter")
    editor.word("ruht").wait_for()
    done()
    editor.word("Ein").click()
    editor.choose("Never use")
    done()
    editor.go_on()
    done()
    editor.locator("#join").click()
    done()
    editor.press("Alt+t")
    editor.locator("#whole").fill("Etwas anderes.")
    editor.press("Alt+t")
    editor.word("anderes").wait_for()
    done()
    editor.locator("#translate").click()
    editor.locator("#status", has_text="iteration").wait_for()
    done()
    for state in reversed(states[:-1]):
        undo(editor)
        assert seen(editor) == state
    assert editor.locator("#undo").is_disabled()
    for _ in states[1:]:
        editor.locator("#redo").click()
    assert seen(editor) == states[-1]


def test_what_is_typed_into_the_source_is_a_step_of_its_own(editor: Any) -> None:
    editor.locator("#follow").uncheck()
    editor.translate("A dog runs.")
    editor.word("Hund").focus()
    editor.press("Space")
    editor.locator("#source").press_sequentially(" Two cats.")
    editor.locator("#undo").click()
    assert editor.locator("#source").input_value() == "A dog runs."
    assert editor.locator(".word.locked").all_text_contents() == ["Hund"]
    editor.locator("#redo").click()
    assert editor.locator("#source").input_value() == "A dog runs. Two cats."


def test_the_story_of_joined_sentences_can_still_be_saved(editor: Any) -> None:
    split(editor)
    editor.word("Hund").focus()
    editor.press("Space")
    editor.locator("#join").click()
    found = json.loads(editor.saved("Trace"))
    assert [turn["source"] for turn in found["turns"]] == ["A dog runs.", "A cat sleeps."]
    assert found["gestures"] == ["kept “Hund”"]
