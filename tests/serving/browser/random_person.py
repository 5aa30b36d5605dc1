"""A person who does things at random, one after the other, and looks at nothing before: what is pressed may be gone."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

KEYS = {
    "Ctrl+Enter": "Control+Enter", "Alt+Enter": "Alt+Enter", "Alt+T": "Alt+t", "Alt+C": "Alt+c", "Alt+W": "Alt+w",
    "Alt+PageDown": "Alt+PageDown", "Alt+PageUp": "Alt+PageUp", "Alt+Left": "Alt+ArrowLeft",
    "Alt+Right": "Alt+ArrowRight", "Escape": "Escape", "Enter": "Enter", "Right": "ArrowRight", "Down": "ArrowDown",
    "F1": "F1", "Ctrl+Z": "Control+z", "Ctrl+Shift+Z": "Control+Shift+z", "Ctrl+Shift+Enter": "Control+Shift+Enter",
}  # fmt: skip
ON_WORDS = {"keep": "Space", "cross": "Delete", "menu": "Enter"}
IN_GAPS = {"ask": "ArrowUp", "ask less": "ArrowDown", "cross before": "Backspace", "gap menu": "Enter"}
PRESSED = {
    "Continue": "#continue", "One step": "#step", "Stop": "#stop", "Copy": "#copy", "Edit as text": "#as-text",
    "Try again": "#notice-retry", "Close": "#notice-close", "Play": "#play",
    "another sentence": "#sentence-list button",
    "a word": "#draft .word", "a gap": "#draft .gap", "a choice": "#popover button", "Save": "#save-open",
    "Undo": "#undo", "Redo": "#redo", "Translate": "#translate", "Join": "#join", "one by one": "#split",
    "Go on from here": "#take", "a chip": ".chips button",
}  # fmt: skip
OFTEN = [
    "type in the source", "type over a word", "type over a word", "type into a gap", "type on", "keep", "cross", "ask",
    "Ctrl+Enter", "Alt+T", "Alt+PageDown", "Alt+PageUp", "Continue", "a word", "a choice", "hold a word", "wait",
]  # fmt: skip
SELDOM = [
    "demand", "ban", "menu", "gap menu", "ask less", "cross before", "Alt+Enter", "Alt+C", "Alt+W", "Alt+Left",
    "Alt+Right", "Escape", "Enter", "Right", "Down", "F1", "One step", "Stop", "Copy", "Edit as text", "Try again",
    "Close", "Play", "another sentence", "a gap", "Save", "let go", "write over", "reload", "wait",
]  # fmt: skip
UNDOING = [
    "Ctrl+Z", "Ctrl+Shift+Z", "Ctrl+Shift+Enter", "Undo", "Redo", "Translate", "Join", "one by one", "Go on from here",
    "a chip",
]  # fmt: skip
"""What may take away what was typed."""
ENDS = ["Enter", "Enter", "Tab", "Escape", None, None, None]

FIND = """([selector, at]) => {
  const all = [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  const one = all[Math.floor(at * all.length)];
"""
FOCUS = FIND + "one?.focus(); }"
PLACE = (
    FIND
    + """if (!one) return null;
  one.scrollIntoView({ block: "nearest" });
  const { left, top, width, height } = one.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}"""
)


@dataclass(frozen=True)
class Gesture:
    name: str
    at: float
    """Which of the words or buttons that are there, from 0 to 1."""
    marker: str
    """What is typed, if something is: no two are the same, and none is part of another."""
    end: str | None
    """The key that ends the typing."""
    pause: int
    """Milliseconds to the next gesture."""

    @property
    def by_keyboard(self) -> bool:
        return self.name not in PRESSED and self.name not in (
            "hold a word",
            "let go",
            "write over",
            "reload",
            "wait",
        )


def gestures(seed: int, count: int, *, undoing: bool) -> list[Gesture]:
    """What a person does; with ``undoing`` also what takes away what was typed."""
    dice = random.Random(seed)
    names = OFTEN * 3 + SELDOM + (UNDOING * 2 if undoing else [])
    some = []
    for number in range(count):
        first, second = divmod(number, 26)
        letters = ascii_lowercase[first] + ascii_lowercase[second]
        # Some have two pieces.
        marker = f"Q{letters}" + dice.choice(["", f"lich{letters}"])
        pause = dice.choice([0, 0, 0, 10, 60])
        some.append(Gesture(dice.choice(names), dice.random(), marker, dice.choice(ENDS), pause))
    return some


class Person:
    """Does gestures, with a real keyboard and a real pointer."""

    def __init__(self, editor: Any) -> None:
        self.editor = editor
        self.press: Callable[..., None] = editor.press

    def do(self, one: Gesture) -> None:
        name = one.name
        if name in KEYS:
            self.press(KEYS[name])
        elif name in ON_WORDS:
            self.focus("#draft .word", one.at)
            self.press(ON_WORDS[name])
        elif name in IN_GAPS:
            self.focus("#draft .gap", one.at)
            self.press(IN_GAPS[name])
        elif name in PRESSED:
            self.click(PRESSED[name], one.at)
        elif name == "type in the source":
            self.press("Alt+s", "Control+End")
            self.type(one)
        elif name == "type on":
            self.press("End")
            self.type(one)
        elif name in ("type over a word", "type into a gap"):
            self.focus("#draft .gap" if "gap" in name else "#draft .word", one.at)
            self.press("F2")
            self.type(one, one.end)
        elif name in ("demand", "ban"):
            self.focus("#term" if name == "demand" else "#ban", 0)
            self.type(one, one.end)
        elif name == "write over":
            self.click("#draft .word", one.at, times=2)
            self.type(one, one.end)
        elif name == "hold a word":
            self.hold(one.at)
        elif name == "let go":
            self.editor.mouse.up()
        elif name == "reload":
            self.editor.mouse.up()
            self.editor.reload()
        else:
            assert name == "wait", name
            self.editor.wait_for_timeout(150 * one.at)
        if one.pause:
            self.editor.wait_for_timeout(one.pause)

    def focus(self, selector: str, at: float) -> None:
        self.editor.evaluate(FOCUS, [selector, at])

    def type(self, one: Gesture, end: str | None = None) -> None:
        """All letters at once, as an input method gives them: they are not for two sentences."""
        self.editor.keyboard.insert_text(f" {one.marker}")
        if end:
            self.press(end)

    def click(self, selector: str, at: float, times: int = 1) -> None:
        place = self.editor.evaluate(PLACE, [selector, at])
        if place:
            self.editor.mouse.up()
            self.editor.mouse.click(*place, click_count=times)

    def hold(self, at: float) -> None:
        place = self.editor.evaluate(PLACE, ["#draft .word", at])
        if place:
            self.editor.mouse.up()
            self.editor.mouse.move(*place)
            self.editor.mouse.down()
