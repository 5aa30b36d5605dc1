"""Spans: the changes of an iteration as stretches of readable text. Knows no output format.

The text can be read both ways: without the insertions it is the state before, without the deletions the
state after. So a space must stand inside a mark exactly when it goes or comes with the marked words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from levt.edits.follow import Change, Mark
from levt.edits.words import fuse, is_blank, starts_word, visible
from levt.text.segmentation import SPACE, unmark_spaces


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word, or the part of one that a span holds."""

    space: bool
    """A space stands before it, inside the mark."""
    text: str
    """What to show, with control characters escaped, but not yet for any format."""
    changes: tuple[Change, ...]
    """The tokens it is made of."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """Neighbouring words with the same mark."""

    mark: Mark
    """Kept, deleted or inserted."""
    space: bool
    """A space stands before it, outside the mark."""
    words: tuple[Word, ...]
    """At least one."""

    @property
    def text(self) -> str:
        """The words with the spaces between them."""
        return "".join(" " * word.space + word.text for word in self.words)


def spans(changes: Sequence[Change]) -> list[Span]:
    """The changes of one iteration as spans of words.

    The space before a marked span stays outside, where it reads better, when what follows brings a space of
    its own: then one space too many is left when the span is read away, which no reader sees. It goes inside
    when the next piece attaches, as in ``over{+ there+}fore``.
    """
    runs = [list(run) for _, run in groupby(changes, key=lambda change: change.mark)]
    found = []
    for i, run in enumerate(runs):
        mark = run[0].mark
        space = starts_word(run[0].token.piece)
        outside = space and (mark is Mark.KEEP or (ends_or_starts_word(runs, i + 1) and any_text(run)))
        inside = space and not outside
        if i == 0 and any_text(run):
            outside = inside = False
        found.append(Span(mark=mark, space=outside, words=tuple(words(run, inside))))
    return found


def ends_or_starts_word(runs: Sequence[Sequence[Change]], i: int) -> bool:
    """Whether run i begins with a new word, or there is none."""
    return i == len(runs) or starts_word(runs[i][0].token.piece)


def any_text(run: Sequence[Change]) -> bool:
    """Whether there is something to see besides spaces."""
    return not all(is_blank(change.token.piece) for change in run)


def words(run: Sequence[Change], space: bool) -> Iterator[Word]:
    """A run cut before every piece that starts a word; ``space`` is that of the first."""
    start = 0
    for end in range(1, len(run) + 1):
        if end == len(run) or starts_word(run[end].token.piece):
            part = tuple(run[start:end])
            text = fuse([change.token.piece for change in part])
            # The first word start is said by `space`; unmarking takes away one, so there must be one.
            text = unmark_spaces(text if starts_word(text) else SPACE + text)
            yield Word(space=space, text=visible(text), changes=part)
            start, space = end, True
