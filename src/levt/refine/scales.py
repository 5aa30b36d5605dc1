"""Words behind a number that say what it is counted in: thousand, Mio., %. Knows no sentence.

Only those that are digits in another form: 118,800 is 118.8 thousand, 0.5 is 50 %. Of English, German, French, Spanish,
Italian, Dutch and Romanian; a word that is missing counts as a plain noun.
"""

import re

WORDS: dict[int, str] = {
    -3: "‰ promille",
    -2: "% percent pct prozent procent",
    2: "hundred hundreds hundert honderd sute",
    3: "thousand thousands k tsd tausend tausende tausenden mille mil mila duizend mii mie",
    5: "lakh lakhs",
    6: "million millions m mn mln mio mill millionen milione milioni millón millones milión miljoen milion milioane",
    7: "crore crores",
    9: "billion billions bn bln milliarde milliarden mrd mia milliard milliards miliardo miliardi miljard miliard "
    "miliarde mld",
    12: "trillion trillions tn billionen billón billones biljoen bilion bilioane",
}
"""By power of ten, in small letters."""
_POWERS = {word: power for power, words in WORDS.items() for word in words.split()} | {
    "Billion": 12,  # German, unless a heading: then two languages disagree, and nothing is done
    "Trillion": 18,
    "Trillionen": 18,
}
_GLUED = {"m", "M"}
"""Apart from the number these are metres."""
BEHIND = re.compile(r"([^\S\n]?-?)(%|‰|[^\W\d_]+)(?!\w)")


def scale_behind(text: str, end: int) -> int:
    """The power of ten that the word behind a number stands for, which ends at a character; 0 where it is another.

    >>> [scale_behind(f"12{rest}", 2) for rest in (" Tausend", "k", " %", " Mio. Euro", "-million", " dogs", " m", "")]
    [3, 3, -2, 6, 6, 0, 0, 0]
    """
    found = BEHIND.match(text, end)
    if found is None or (found[1] and found[2] in _GLUED):
        return 0
    return _POWERS.get(found[2], _POWERS.get(found[2].lower(), 0))
