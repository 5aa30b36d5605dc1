"""The edits of a person, in the order in which they were made. Knows no model.

A file of actions has one sentence a line and actions between tabs, ``D:3:auf``, ``I:5:zu``, at last ``S:0:None``:
delete, or insert, at that position of the text as it is then (Góis, Cho and Martins, 2020).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from levt.data.lines import Lines
from levt.errors import InputError
from levt.evaluation.edit_order import Place

FORMAT = "actions of a line stand between tabs, such as D:3:auf, I:5:zu and at last S:0:None"


class Action(NamedTuple):
    """One edit of a word, at a position of the text as it is at that moment."""

    kind: Literal["delete", "insert"]
    position: int
    word: str


def parse_actions(line: str) -> list[Action]:
    """The actions of a line.

    >>> parse_actions("D:3:auf\\tI:5::\\tS:0:None")
    [Action(kind='delete', position=3, word='auf'), Action(kind='insert', position=5, word=':')]
    """
    found: list[Action] = []
    *actions, stop = line.split("\t")
    if not stop.startswith("S:"):
        raise InputError(f"actions must end with S:0:None, got {stop!r}", hint=FORMAT)
    for text in actions:
        kind, _, rest = text.partition(":")
        position, colon, word = rest.partition(":")
        if kind not in ("D", "I") or not colon or not position.isdecimal():
            raise InputError(
                f"an action must be D:POSITION:WORD or I:POSITION:WORD, got {text!r}", hint=FORMAT
            )
        found.append(Action("delete" if kind == "D" else "insert", int(position), word))
    return found


def read_actions(path: Path) -> list[list[Action]]:
    """The actions of each line of a file."""
    found = []
    for line in Lines(path, max_bytes=1 << 20):
        try:
            if line.problem is not None:
                raise InputError(line.problem, hint=FORMAT)
            found.append(parse_actions(line.text))
        except InputError as error:
            raise InputError(f"{path}, line {line.number}: {error.message}", hint=error.hint) from error
    return found


def replay(draft: Sequence[str], actions: Sequence[Action]) -> tuple[list[str], dict[Place, float]]:
    """What the actions make of a draft, and when each place was first edited, counted from 0.

    >>> text, times = replay(["er", "geht", "Haus"], parse_actions("D:1:geht\\tI:1:läuft\\tI:2:nach\\tS:0:None"))
    >>> " ".join(text)
    'er läuft nach Haus'
    >>> [f"{place.kind} {place.at}: {time}" for place, time in times.items()]
    ['word 1: 0.0', 'gap 2: 1.0']
    """
    # Each word with its place: the number of a word of the draft, or the gap of an inserted one.
    text = [(word, Place("word", i)) for i, word in enumerate(draft)]
    times: dict[Place, float] = {}
    for number, action in enumerate(actions):
        if action.kind == "delete":
            if action.position >= len(text) or text[action.position][0] != action.word:
                raise InputError(
                    f"action {number + 1} deletes {action.word!r} at {action.position}, where it does not stand"
                )
            _, place = text.pop(action.position)
        else:
            if action.position > len(text):
                raise InputError(f"action {number + 1} inserts at {action.position} of {len(text)} words")
            right = text[action.position][1] if action.position < len(text) else Place("gap", len(draft))
            place = Place("gap", right.at)
            text.insert(action.position, (action.word, place))
        times.setdefault(place, float(number))
    return [word for word, _ in text], times
