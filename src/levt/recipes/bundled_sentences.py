"""Sentences of our own by which levt-en-de is shown and held to its word. Knows no model."""

SENTENCES: tuple[str, ...] = (
    "A small dog runs across the snow.",
    "Two children are building a tower out of red and yellow blocks.",
    "Mr President, I would like to thank the rapporteur for her excellent report.",
    "We must not forget that every decision has a price.",
    "I have no idea where I left my keys.",
    "Would you like a cup of tea?",
    "The train to Hamburg leaves at half past seven.",
    "She has been learning German for three years.",
    "Member States should agree on common rules for the protection of consumers.",
    "An old man in a blue jacket is reading a newspaper on a bench.",
    "If it rains tomorrow, we will stay at home.",
    "This proposal is a step in the right direction, but it does not go far enough.",
    "Nobody knew the answer to the question.",
    "The cook is cutting vegetables in a large kitchen.",
    "Please close the window before you leave.",
    "The Commission has until the end of June to present a new plan.",
    "My brother is taller than me.",
    "A woman with a camera is standing in front of a fountain.",
    "In my view, small farmers need our support more than ever.",
    "He forgot to feed the cat again.",
)
"""The first dozen is what the demonstration translates; all of them have an expected translation in the tests."""

DEMONSTRATED = 12

DRAFTS: tuple[tuple[str, str], ...] = (
    ("A small dog runs across the snow.", "Ein kleiner Hund läuft läuft über das Gras."),
    ("The train to Hamburg leaves at half past seven.", "Der Zug nach München fährt um"),
    (
        "We must not forget that every decision has a price.",
        "Wir dürfen vergessen nicht, dass jede Preis hat.",
    ),
    ("Two children are building a tower.", "Drei Kinder malen ein Bild von einem Turm."),
)
"""Sources with drafts: a word twice and one wrong; half finished; in disorder and one missing; of another source."""
