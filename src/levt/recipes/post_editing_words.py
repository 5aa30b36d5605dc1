"""Words between spaces: raw text written as post-editing data is. For languages that write spaces.

Triples of source, draft and post-edit come with punctuation marks apart, and are scored so; translation data is raw. To
teach one model with both, raw text is brought into the form of the triples, never the other way, so that nothing
that is scored was changed. The rules are the customary ones: every mark stands alone, except for hyphens, marks
inside numbers, and full stops of abbreviations.
"""

import re
import unicodedata

ABBREVIATIONS = frozenset(
    ("mr", "mrs", "ms", "dr", "prof", "st", "no", "nr", "vs", "etc", "inc", "art", "abs", "bzw", "ca", "evtl", "ggf",
     "inkl", "max", "min", "mio", "mrd", "usw", "vgl", "dl", "dna", "str", "pag")
)  # fmt: skip
"""Without their full stop, which is part of the word."""

_DOTS = re.compile(r"\.{2,}")
_MARK = re.compile(r"([^\w\s.',’-])")
_COMMA = re.compile(r"(?<!\d),|,(?!\d)")
_COLON = re.compile(r"(?<=\d) ([:/]) (?=\d)")
_APOSTROPHE = re.compile(r"(?<=\w)(['’])(?=\w)")
_QUOTE = re.compile(r"(?<!\w)'|'(?!\w)")


def words_apart(text: str) -> str:
    """The text with one space between words and marks.

    >>> words_apart('He said: "It costs 1,000.50 (or more), doesn\\'t it?"')
    'He said : " It costs 1,000.50 ( or more ) , doesn \\'t it ? "'
    >>> words_apart("Dr. Weber kam um 10:30 Uhr an, z. B. mit Ruten-Zügen... zu spät.")
    'Dr. Weber kam um 10:30 Uhr an , z. B. mit Ruten-Zügen ... zu spät .'
    """
    text = unicodedata.normalize("NFC", text)
    text = _MARK.sub(r" \1 ", text)
    text = _COLON.sub(r"\1", text)
    text = _DOTS.sub(lambda dots: f" {dots.group()} ", text)
    text = _COMMA.sub(" , ", text)
    text = _APOSTROPHE.sub(r" \1", text)
    text = _QUOTE.sub(lambda quote: f" {quote.group()} ", _guarded(text)).replace(_GUARD, "'")
    words = text.split()
    return " ".join(part for i, word in enumerate(words) for part in _full_stop(word, i + 1 == len(words)))


_GUARD = "\ue002"


def _guarded(text: str) -> str:
    """Apostrophes that begin the rest of a word are not quotation marks."""
    return re.sub(r"(?<=\w) '(?=\w)", f" {_GUARD}", text)


def _full_stop(word: str, last: bool) -> tuple[str, ...]:
    """A word, and its full stop by itself where it ends a sentence."""
    stem = word[:-1]
    if not word.endswith(".") or not stem.strip("."):
        return (word,)
    if not last and (len(stem) == 1 or "." in stem or stem.lower() in ABBREVIATIONS):
        return (word,)
    return stem, "."
