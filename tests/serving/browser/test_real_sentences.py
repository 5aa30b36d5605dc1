"""A text of several sentences, one by one, against `levt serve` and its model."""

import json
from typing import Any

import pytest

from browser.axe import serious
from levt.edits.trace import Trace

pytestmark = pytest.mark.browser

SENTENCES = ["A dog runs over the snow.", "Mr. Smith reads a newspaper.", "Two children play in the garden."]
TEXT = f"{SENTENCES[0]} {SENTENCES[1]}\n\n{SENTENCES[2]}"


def split(editor: Any) -> None:
    editor.locator("#source").fill(TEXT)
    editor.get_by_role("button", name="Translate 3 sentences one by one").click()
    editor.locator("#status", has_text="3 sentences translated").wait_for()
    editor.rests()


def test_each_has_a_draft_of_its_own(real: Any) -> None:
    split(real)
    names = real.locator("#sentence-list button").all_text_contents()
    assert names == [f"{i}. {sentence}" for i, sentence in enumerate(SENTENCES, 1)]
    assert serious(real) == {}
    texts = []
    for sentence in SENTENCES:
        assert real.locator("#source").input_value() == sentence
        texts.append(real.text)
        real.press("Alt+PageDown")
    assert all(texts)
    # In the last one something is changed, and the others know nothing of it.
    real.press("Alt+w", "ArrowRight", "Space")
    assert real.locator(".word.locked").count() == 1
    real.locator("#sentence-list button").first.click()
    assert real.locator(".word.locked").count() == 0
    assert real.locator("#sentence-list [aria-current]").text_content() == names[0]
    # What was done last is undone first, where it was done.
    real.locator("#undo").click()
    assert (real.locator(".word.locked").count(), real.text) == (0, texts[2])
    real.locator("#sentence-list button").first.click()
    real.locator("#redo").click()
    assert (real.locator(".word.locked").count(), real.text) == (1, texts[2])
    # A reload loses nothing.
    real.reload()
    real.locator(".word.locked").wait_for()
    assert real.locator("#sentence-list button").all_text_contents() == names
    assert real.locator("#source").input_value() == SENTENCES[2]


def test_they_are_taken_away_together_and_joined(real: Any) -> None:
    split(real)
    found = json.loads(real.saved("Trace"))
    assert found["source"] == TEXT
    parts = [one["text"] for one in found["sentences"]]
    for one in found["sentences"]:
        assert Trace.from_json(one["turns"][0]["trace"]).text == one["text"]
    whole = f"{parts[0]} {parts[1]}\n\n{parts[2]}"
    assert found["text"] == whole == real.saved("Text").removesuffix("\n")
    real.locator("#copy").click()
    real.locator("#status", has_text="Copied").wait_for()
    assert real.evaluate("navigator.clipboard.readText()") == whole
    assert real.saved("Session").count("<table>") == 3
    real.locator("#join").click()
    assert real.locator("#sentences").is_hidden()
    assert real.locator("#source").input_value() == TEXT
    assert real.words
    # Letters that a model has not finished may run together.
    assert "".join(real.text.split()) == "".join(whole.split())


def test_translating_several_paragraphs_keeps_them(real: Any) -> None:
    real.locator("#source").fill(TEXT)
    real.locator("#translate").click()
    real.locator("#status", has_text="3 sentences translated").wait_for()
    real.rests()
    one, two, three = (part["text"] for part in json.loads(real.saved("Trace"))["sentences"])
    assert real.saved("Text") == f"{one} {two}\n\n{three}\n"
    # A sentence that has become two is translated as one: the others are there to stay.
    real.locator("#source").fill("A dog runs.\n\nIt barks.")
    assert real.locator("#split").is_hidden()
    real.locator("#translate").click()
    real.locator("#status", has_text="iteration").wait_for()
    assert real.saved("Text").endswith(f" {two}\n\n{three}\n")


def test_one_sentence_is_none_to_cut(real: Any) -> None:
    real.locator("#source").fill(SENTENCES[1])
    assert real.locator("#split").is_hidden()
    real.locator("#source").fill(TEXT)
    assert real.locator("#split").is_visible()
