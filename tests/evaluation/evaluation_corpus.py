"""A small corpus of our own: English, German, drafts with mistakes, and what a system made of them."""

SOURCES = [
    "The baker opens her shop before the sun rises.",
    "A little bird sings a song in the early morning.",
    "The old bridge stays closed until next spring.",
    "Two children build a boat out of paper.",
    "My neighbour waters the tomatoes every evening.",
]
REFERENCES = [
    "Die Bäckerin öffnet ihren Laden, bevor die Sonne aufgeht.",
    "Ein kleiner Vogel singt am frühen Morgen ein Lied.",
    "Die alte Brücke bleibt bis zum nächsten Frühling gesperrt.",
    "Zwei Kinder bauen ein Boot aus Papier.",
    "Meine Nachbarin gießt jeden Abend die Tomaten.",
]
DRAFTS = [
    "Die Bäckerin öffnet ihr Shop bevor die Sonne geht auf.",
    "Ein kleiner kleiner Vogel singt am am Morgen ein Lied.",
    "Die alte Bridge bleibt zu bis Frühling.",
    "Zwei Kinder bauen ein Boot aus Papier.",
    "Meine Nachbarin gießt die Tomaten jeden Abend.",
]
HYPOTHESES = [
    "Die Bäckerin öffnet ihren Laden, bevor die Sonne aufgeht.",
    "Ein kleiner Vogel singt am Morgen ein Lied.",
    "Die alte Brücke bleibt zu bis zum Frühling.",
    "Zwei Kinder bauen ein Boot aus Papier.",
    "Mein Nachbar gießt Tomaten jeden jeden Abend.",
]
