"""A translation system that nobody can change: it looks up every word and leaves the order as it is.

    echo "Today the old baker sells a basket." | python examples/word_for_word.py

Lines on stdin, as many on stdout: that makes it a black box (`command:python examples/word_for_word.py`).
"""

# %%
import sys

GLOSSARY = {
    "today": "Heute", "now": "Jetzt", "in": "In", "evening": "Abend", "the": "der", "a": "ein", "his": "sein",
    "our": "unser", "old": "alt", "young": "jung", "tired": "müde", "happy": "froh", "brave": "mutig",
    "clever": "klug", "baker": "Bäcker", "farmer": "Bauer", "doctor": "Arzt", "teacher": "Lehrer", "painter": "Maler",
    "gardener": "Gärtner", "captain": "Kapitän", "sees": "sieht", "buys": "kauft", "sells": "verkauft",
    "paints": "malt", "finds": "findet", "carries": "trägt", "basket": "Korb", "letter": "Brief",
    "kettle": "Kessel", "table": "Tisch", "coat": "Mantel", "key": "Schlüssel", "oven": "Ofen", "hat": "Hut",
}  # fmt: skip


# %%
def translate(line: str) -> str:
    """Word for word.

    >>> translate("Today the old baker sells a basket.")
    'Heute der alt Bäcker verkauft ein Korb.'
    """
    words = line.rstrip(".").split()
    return " ".join(GLOSSARY.get(word.lower(), word) for word in words) + "."


if __name__ == "__main__":
    for line in sys.stdin:
        print(translate(line.rstrip("\n")))
