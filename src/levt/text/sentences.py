"""The sentences of a text, found by their punctuation. Knows no language and no model.

A sentence ends at a full stop, a question or exclamation mark, with the brackets and quotes closed there, if white
space follows and then what may begin one: anything but a small letter. In scripts without spaces it ends at the mark.
No sentence ends at an initial, an abbreviation or an ordinal. Where in doubt, nothing is cut: half a sentence costs a
translation more than two sentences in one.
"""

import re
from typing import NamedTuple

# From the first mark of a run on and never back, so that a line of a million marks takes no longer than any other.
_END = re.compile(
    r"""(?<![.!?…؟۔।])[.!?…؟۔।]++["'”’»«“)\]]*+(?P<space>\s++)|[。！？｡]++(?![」』”’）】])(?P<none>\s*+)"""
)
_NEAR = 32
"""So many characters before and behind a mark are looked at."""
_ABBREVIATED = re.compile(
    r"""\b(?:Mrs?|Ms|Dr|Prof|Rev|Hon|Gov|Sen|Rep|Gen|Maj|Col|Capt|Lt|Sgt|St|Mt|Ft|[JS]r|vs|etc|cf|ca|al|est|approx
    |Inc|Ltd|Co|Corp|Dept|Univ|eds?|Str|bzw|usw|evtl|ggf|inkl|Hr|Fr|Mio|Mrd|dt|engl|vgl)\.$""",
    re.VERBOSE,
)
_NUMBERED = re.compile(
    r"""\b(?:Nos?|Nr|Figs?|Eqs?|Sec|Vols?|pp?|Abs|Art|Bd|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.$""",
    re.VERBOSE,
)
"""What is shortened before a number, and a word or a sentence before anything else."""
_DOTTED = re.compile(r"(?:^|[^\w])(?:\w{1,3}\.)*\w{1,3}\.\w{1,3}\.$|(?:^|[^\w])[^\W\d_]\.$")
"""Letters with a stop each, as in U.S. or z.B., and a single letter, as in J."""
_COUNTED = re.compile(r"(?:^|\s)\d{1,2}\.$|^\W*\d+\.$")
"""An ordinal, as in the German 3. Oktober, and the number of an item."""


class Sentence(NamedTuple):
    """A sentence, and the white space behind it."""

    text: str
    space: str


def sentences(text: str) -> list[Sentence]:
    """The sentences in order; what stands before the first and behind the last in white space is left out.

    >>> [one.text for one in sentences('Dr. No met J. Doe in the U.S. Senate. "Why?" she asked. Nobody knew…  Well.')]
    ['Dr. No met J. Doe in the U.S. Senate.', '"Why?" she asked.', 'Nobody knew…', 'Well.']
    >>> sentences("One.  Two.")
    [Sentence(text='One.', space='  '), Sentence(text='Two.', space='')]
    """
    text = text.strip()
    found: list[Sentence] = []
    start = looked = 0
    words = False
    for end in _END.finditer(text):
        name = "space" if end["space"] is not None else "none"
        stop = end.start(name)
        # What has no word is no sentence: it belongs to the next.
        words = words or any(map(str.isalpha, text[looked:stop]))
        looked = end.end()
        before, behind = text[max(start, stop - _NEAR) : stop], text[end.end() : end.end() + _NEAR]
        if words and _closes(before, behind, wide=name == "none"):
            found.append(Sentence(text[start:stop], end[name]))
            start, words = looked, False
    if start < len(text):
        found.append(Sentence(text[start:], ""))
    return found


def _closes(before: str, behind: str, *, wide: bool) -> bool:
    """Whether a sentence may end between these, and another begin."""
    first = next((character for character in behind if character.isalnum()), "")
    if not first or first.islower():
        return False
    if wide:
        return True
    bare = before.rstrip("\"'”’»«“)]")
    if bare.endswith((*"?!", "..", "…")):
        return not (bare.endswith(("..", "…")) and first.isdigit())
    if _NUMBERED.search(bare) and first.isdigit():
        return False
    return not (_DOTTED.search(bare) or _COUNTED.search(bare) or _ABBREVIATED.search(bare))
