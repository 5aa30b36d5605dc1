"""What of a source a model is shown: characters that look alike to a reader, alike. Knows no model.

A tab, a line break or a no-break space between two words, a soft hyphen in one, a byte-order mark before all: to a
reader they are a space, or nothing, as the ﬁ of a typeset page is f and i. A vocabulary that was learnt from plain
lines spells them in bytes, which the model has hardly ever read, and a good sentence comes out spoilt. Where a
vocabulary has a piece for one, it stays. Targets and drafts are never touched.
"""

import re
from unicodedata import normalize

from levt.text.tokenizer import Tokenizer

_UNSEEN = (
    r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
)
"""Controls, the soft hyphen, marks of direction and of byte order; not the joiners, which change letters."""
_SHAPES = r"\u2010\u2011\ufb00-\ufb06\uff01-\uff5e"
"""Hyphens, ligatures, full-width letters: plain ones in another shape."""
_ODD = re.compile(rf"[^\S ]|[{_UNSEEN}{_SHAPES}]")
_SHAPED = re.compile(f"[{_SHAPES}]")
_SPACES = re.compile(r"\s+")


def readable(text: str, tokenizer: Tokenizer) -> str:
    """The text in plain characters, as far as a reader would not notice.

    >>> tokenizer = Tokenizer.train(["a dog runs"] * 9, 300)
    >>> readable("\\ufeffa\\tﬁt \\u00a0\\ndog\\u2011ru\\u00adns \\r", tokenizer)
    'a fit dog-runs'
    """
    if tokenizer.by_pieces or (text.isascii() and text.isprintable()):
        return text
    unknown = {found for found in set(_ODD.findall(text)) if tokenizer.id_of(found) is None}
    if not unknown:
        return text
    white = {one for one in unknown if one.isspace()}
    text = text.translate({ord(one): _plain(one) for one in unknown - white})
    if white:
        # The whole run is one space: what stands around a line break is mostly more of its kind.
        text = _SPACES.sub(lambda run: run[0] if white.isdisjoint(run[0]) else " ", text).strip()
    return text


def _plain(character: str) -> str:
    """What is read instead of a character: nothing where it is not seen."""
    return normalize("NFKC", character).replace("\u2010", "-") if _SHAPED.match(character) else ""
