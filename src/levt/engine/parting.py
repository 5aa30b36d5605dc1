"""Texts in parts: by their sentences where that is wished, and what is too long for the model. Knows no network."""

from collections.abc import Callable
from typing import NamedTuple

from levt.engine.split import split
from levt.errors import InputError
from levt.refine.request import Tokens
from levt.text.readable import readable
from levt.text.sentences import sentences
from levt.text.tokenizer import Tokenizer


class Part(NamedTuple):
    """A part of a text that goes through the model by itself."""

    source: str
    draft: str = ""
    lead: str | None = None
    """White space before its result; None for the first part."""


def by_sentence(source: str, draft: str) -> list[Part]:
    """The sentences of a source, each with that of its draft; one part where the draft has not as many.

    Between results stands what stands between the drafts, or else the sources; a space, where that is nothing.

    >>> by_sentence("One. Two.", "Eins.  Zwei.")
    [Part(source='One.', draft='Eins.', lead=None), Part(source='Two.', draft='Zwei.', lead='  ')]
    >>> by_sentence("One. Two.", "Eins, zwei.")
    [Part(source='One. Two.', draft='Eins, zwei.', lead=None)]
    """
    sources = sentences(source)
    drafts = sentences(draft)
    if len(sources) < 2 or (drafts and len(drafts) != len(sources)):
        return [Part(source, draft)]
    spaces = [one.space or " " for one in drafts or sources]
    texts = [one.text for one in drafts] or [""] * len(sources)
    return [
        Part(one.text, text, spaces[i - 1] if i else None)
        for i, (one, text) in enumerate(zip(sources, texts, strict=True))
    ]


def source_parts(text: str, tokenizer: Tokenizer, positions: int, *, whole: bool) -> list[tuple[str, Tokens]]:
    """A source, if the model can read it; else in parts of at most half that length; none where it is blank.

    A word that is longer than half is a part by itself. What a reader does not see, the model is not shown.
    """
    text = readable(text, tokenizer)
    if not (whole or text.strip()):
        return []
    tokens = tuple(tokenizer.encode(text))
    if len(tokens) + 2 <= positions:
        return [(text, tokens)]
    if whole:
        raise InputError(
            f"the source has {len(tokens) + 2} tokens with its boundaries, the model can read {positions}",
            hint="a text with a draft or with terms is not cut: give it sentence by sentence",
        )

    def within(room: int) -> Callable[[str], bool]:
        return lambda part: len(tokenizer.encode(part)) + 2 <= room

    parts = split(text, within(max(positions // 2, 3)), within(positions))
    return [(part, tuple(tokenizer.encode(part))) for part in parts]
