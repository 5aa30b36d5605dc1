"""Text to words and back without loss of a space, and the case of first words. Knows no vocabulary.

Words are runs of letters and digits, or single other characters; a word that had no space before it carries
the mark ``￭`` on the side where it sticks, so that joining words gives the text back. Text that is tokenized
already passes unchanged.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

JOINER = "￭"
_WORD = re.compile(
    r"[぀-ヿ㐀-鿿豈-﫿]"  # Chinese and Japanese characters are words each by themselves
    r"|\d+(?:[.,:]\d+)*|[^\W\d_぀-ヿ㐀-鿿豈-﫿]+(?:[-'’][^\W\d_]+)*|\S"
)


def split_words(text: str) -> list[str]:
    """The words of a text.

    >>> split_words("„Ja“, sagt sie.")
    ['„￭', 'Ja', '￭“', '￭,', 'sagt', 'sie', '￭.']
    """
    found: list[str] = []
    end = -1
    for match in _WORD.finditer(text.replace(JOINER, " ")):
        word = match[0]
        if match.start() != end:
            found.append(word)
        elif word[0].isalnum() and found and not found[-1].removeprefix(JOINER)[0].isalnum():
            # The mark goes to the sign, so that the word is the same wherever it stands.
            found[-1] += JOINER
            found.append(word)
        else:
            found.append(JOINER + word)
        end = match.end()
    return found


def join_words(words: Sequence[str]) -> str:
    """The text of the words.

    >>> join_words(["„￭", "Ja", "￭“", "￭,", "sagt", "sie", "￭."])
    '„Ja“, sagt sie.'
    """
    parts: list[str] = []
    sticks = True
    for word in words:
        if not sticks and not word.startswith(JOINER):
            parts.append(" ")
        sticks = len(word) > 1 and word.endswith(JOINER)
        parts.append(word.strip(JOINER))
    return "".join(parts)


def learn_lowered(sentences: Iterable[Sequence[str]]) -> set[str]:
    """The words that are mostly written small where they do not begin a sentence.

    >>> sorted(learn_lowered([["The", "dog"], ["See", "the", "Alps"]]))
    ['dog', 'the']
    """
    counts = Counter(word for sentence in sentences for word in sentence[1:])
    most: dict[str, int] = {}
    for word, count in counts.items():
        most[word.lower()] = max(most.get(word.lower(), 0), count)
    return {word for word, count in counts.items() if word == word.lower() and count == most[word]}


def lower_first(words: Sequence[str], lowered: set[str]) -> list[str]:
    """The words with the first one written as inside a sentence."""
    if words and words[0].lower() in lowered:
        return [words[0].lower(), *words[1:]]
    return list(words)


def raise_first(words: Sequence[str], source: Sequence[str]) -> list[str]:
    """The words with a capital at the beginning where the source has one."""
    if words and source and source[0][:1].isupper():
        return [words[0][:1].upper() + words[0][1:], *words[1:]]
    return list(words)
