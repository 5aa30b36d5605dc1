"""The sentences of a text, found by their punctuation. Knows no language and no model.

A sentence ends at a full stop, a question or exclamation mark, with the brackets and quotes closed there, if white
space follows and then what may begin one: anything but a small letter. In scripts without spaces it ends at the mark.
No sentence ends at an initial, an abbreviation or an ordinal. A blank line ends one, and so does a line break, unless
the lines of the paragraph are broken for width alone: one begins with a small letter, or all are long and so full that
the next word would not have fitted. Where in doubt, nothing is cut: half a sentence costs a translation more than two
sentences in one.
"""

import re
from itertools import pairwise
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


_ITEM = re.compile(r"[-+*•◦▪‣·–—]\s|(?:\d{1,3}|\w)[.)]\s")
"""How a line begins that is an item of a list."""
_STOPPED = re.compile(r"""[.!?…:؟۔।。！？｡]["'”’»«“)\]」』）】]*$""")
_WIDE = 50
"""Characters of the longest line of a paragraph that is broken for width, at least."""
_WHITE = re.compile(r"\s+")
_BREAK = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")


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
    found: list[Sentence] = []
    for line in _lines(text.strip()):
        found += _sentences(line.text)
        found[-1] = found[-1]._replace(space=line.space)
    return found


def _lines(text: str) -> list[Sentence]:
    """The parts between line breaks that end a sentence; what has no word belongs to the next of them.

    >>> [line.text for line in _lines("A title\\n* * *\\nOne thing.\\n\\nAnother,\\nwhich goes on.")]
    ['A title', '* * *\\nOne thing.', 'Another,\\nwhich goes on.']
    """
    breaks = [run for run in _WHITE.finditer(text) if _BREAK.search(run[0])]
    blank = [len(_BREAK.findall(run[0])) > 1 for run in breaks]
    small = [_first(text[run.end() : run.end() + _NEAR]).islower() for run in breaks]
    last = next((i for i in reversed(range(len(text))) if text[i].isalnum()), -1)
    found: list[Sentence] = []
    start = looked = at = 0
    words = False
    while at < len(breaks):
        end = next((i for i in range(at, len(breaks)) if blank[i]), len(breaks))
        edges = [breaks[at - 1].end() if at else 0, *(x for run in breaks[at:end] for x in run.span())]
        edges.append(breaks[end].start() if end < len(breaks) else len(text))
        lines = [text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
        cut = [] if any(small[at:end]) or _full(lines) else breaks[at:end]
        for run in (*cut, *breaks[end : end + 1]):
            words = words or any(map(str.isalpha, text[looked : run.start()]))
            looked = run.end()
            if words and looked <= last:
                found.append(Sentence(text[start : run.start()], run[0]))
                start, words = looked, False
        at = end + 1
    return [*found, Sentence(text[start:], "")] if start < len(text) else found


def _full(lines: list[str]) -> bool:
    """Whether lines are long, each too full for the first word of the next, and some end inside a sentence."""
    width = max(map(len, lines))
    return (
        width >= _WIDE
        and not all(map(_STOPPED.search, lines[:-1]))
        and all(
            len(line) + 1 + len(_WHITE.split(after, 1)[0]) > width and not _ITEM.match(after)
            for line, after in pairwise(lines)
        )
    )


def _sentences(text: str) -> list[Sentence]:
    """The sentences of a line, by their punctuation."""
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
    first = _first(behind)
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


def _first(text: str) -> str:
    """The first letter or digit; nothing where there is none."""
    return next((character for character in text if character.isalnum()), "")
