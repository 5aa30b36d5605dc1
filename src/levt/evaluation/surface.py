"""Counters for what BLEU hides: repetition, brevity, emptiness, words left untranslated. Knows no metric.

A word is a run of letters, marks and digits; punctuation marks and Chinese and Japanese characters are words each by
themselves. Case does not count, except in terms.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from levt import __version__
from levt.errors import InputError
from levt.evaluation.score import Score

SIGNATURE = f"counted by levt {__version__}"
SHORT = 0.7
"""A hypothesis with fewer than this share of its reference's words has probably left something out."""
COPIED = 4
"""Letters that a word must have to count as copied: shorter ones are often the same in two languages."""


@lru_cache(maxsize=65536)
def _kind(character: str) -> str:
    """How a character takes part in words: ``w`` within one, ``1`` by itself, a space between them."""
    if unicodedata.name(character, "").startswith(("CJK UNIFIED", "CJK COMPAT", "HIRAGANA", "KATAKANA")):
        return "1"
    category = unicodedata.category(character)
    return "w" if category[0] in "LMN" or category == "Cf" else "1" if category[0] in "PS" else " "


def words(text: str) -> list[str]:
    """The words of a text.

    >>> words("Ein Hund, 3 Hühner: 犬と猫")
    ['Ein', 'Hund', ',', '3', 'Hühner', ':', '犬', 'と', '猫']
    """
    spaced = "".join(c if _kind(c) == "w" else f" {c} " if _kind(c) == "1" else " " for c in text)
    return spaced.split()


def repetitions(text: str) -> int:
    """How many words repeat the word before.

    >>> repetitions("Ein ein kleiner Vogel singt singt singt.")
    3
    """
    return sum(a == b for a, b in pairwise(words(text.casefold())))


@dataclass(frozen=True, kw_only=True)
class Surface:
    """Counters over a corpus."""

    length: float
    """Words per word of the reference."""
    short: float
    """Share of sentences with fewer than 0.7 words per word of the reference; empty ones count."""
    empty: float
    """Share of sentences with nothing where the reference has something."""
    repeated: float
    """Share of words that repeat the word before, beyond those that the sentence's reference has."""
    copied: float | None = None
    """Share of words of four letters or more that stand in the source and not in the reference."""

    def scores(self) -> tuple[Score, ...]:
        """The counters as columns of a table, in percent."""
        named = {
            "length %": 100 * self.length,
            "short %": 100 * self.short,
            "empty %": 100 * self.empty,
            "repeated %": 100 * self.repeated,
        }
        if self.copied is not None:
            named["copied %"] = 100 * self.copied
        return tuple(Score(name=name, value=value, signature=SIGNATURE) for name, value in named.items())


def surface(
    hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None = None
) -> Surface:
    """Count over a corpus; copied words only where the sources are given."""
    same_length(hypotheses, references=references, sources=sources)
    lengths = [(len(words(h)), len(words(r))) for h, r in zip(hypotheses, references, strict=True)]
    written, wanted = (sum(column) for column in zip(*lengths, strict=True))
    repeated = sum(
        max(0, repetitions(h) - repetitions(r)) for h, r in zip(hypotheses, references, strict=True)
    )
    return Surface(
        length=share(written, wanted),
        short=share(sum(h < SHORT * r for h, r in lengths), len(lengths)),
        empty=share(sum(h == 0 < r for h, r in lengths), len(lengths)),
        repeated=share(repeated, written),
        copied=None if sources is None else _copied(hypotheses, references, sources),
    )


def _copied(hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str]) -> float:
    """The share of long words that stand in the source and not in the reference."""
    total = copied = 0
    for hypothesis, reference, source in zip(hypotheses, references, sources, strict=True):
        long = [word for word in words(hypothesis.casefold()) if len(word) >= COPIED]
        suspects = set(words(source.casefold())) - set(words(reference.casefold()))
        total += len(long)
        copied += sum(word in suspects for word in long)
    return share(copied, total)


def term_use(hypotheses: Sequence[str], terms: Sequence[Sequence[str]]) -> float:
    """The share of wanted terms, a list per sentence, that the hypotheses use as they are written.

    A term that is wanted twice must stand there twice; with no terms at all the share is 1.

    >>> term_use(["Der rote Ball rollt."], [["rote Ball", "Tor"]])
    0.5
    """
    same_length(hypotheses, terms=terms)
    wanted = used = 0
    for hypothesis, listed in zip(hypotheses, terms, strict=True):
        text = f" {' '.join(words(hypothesis))} "
        listed_words = [found for term in listed if (found := " ".join(words(term)))]
        for term, times in Counter(listed_words).items():
            wanted += times
            # Neighbours share the space between them, so it is doubled before counting.
            used += min(times, text.replace(" ", "  ").count(f" {term.replace(' ', '  ')} "))
    return share(used, wanted) if wanted else 1.0


def share(part: int, whole: int) -> float:
    """Part of the whole; 0 of nothing is 0."""
    return part / whole if whole else 0.0


def same_length(hypotheses: Sequence[str], **others: Sequence[object] | None) -> None:
    """Raise an InputError where there is nothing, or not as much of everything."""
    if not hypotheses:
        raise InputError("there is nothing to count: no hypotheses", hint="give at least one text")
    for name, texts in others.items():
        if texts is not None and len(texts) != len(hypotheses):
            raise InputError(
                f"there must be as many {name} as hypotheses, got {len(texts)} and {len(hypotheses)}",
                hint="one per hypothesis, in the same order",
            )
