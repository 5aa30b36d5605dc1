"""A toy language to translate and to summarise, for chains that take seconds: made up here, by a seeded script."""

import random
from pathlib import Path

from levt.recipes.reproduce.framework.step import Job, Step

WORDS = {
    "the": "der", "a": "ein", "red": "rote", "old": "alte", "small": "kleine", "bird": "Vogel", "tree": "Baum",
    "bear": "Bär", "sees": "sieht", "finds": "findet", "likes": "mag",
}  # fmt: skip
COUNTS = {"train": 60, "dev": 4, "test": 4}


def sentence(rng: random.Random) -> str:
    """A sentence of the toy language.

    >>> sentence(random.Random(1))
    'the small bird finds the old tree'
    """

    def phrase() -> list[str]:
        return [
            rng.choice(("the", "a")),
            rng.choice(("red", "old", "small")),
            rng.choice(("bird", "tree", "bear")),
        ]

    return " ".join([*phrase(), rng.choice(("sees", "finds", "likes")), *phrase()])


def target(source: str, kind: str) -> str:
    """Its translation, word for word, or its summary: what is seen, found or liked.

    >>> target("a red bird sees the tree", "translation"), target("a red bird sees the tree", "summary")
    ('ein rote Vogel sieht der Baum', 'sees the tree')
    """
    words = source.split()
    if kind == "translation":
        return " ".join(WORDS.get(word, word) for word in words)
    verb = next(i for i, word in enumerate(words) if word in ("sees", "finds", "likes"))
    return " ".join(words[verb:])


def write_toy(job: Job) -> None:
    """Write train, dev and test: ``SPLIT.src`` and ``SPLIT.tgt``."""
    rng = random.Random(job.config["seed"])
    for split, count in job.config["counts"].items():
        sources = [sentence(rng) for _ in range(count)]
        _lines(job.out / f"{split}.src", sources)
        _lines(job.out / f"{split}.tgt", [target(one, job.config["kind"]) for one in sources])


def _lines(path: Path, texts: list[str]) -> None:
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")


def toy_step(kind: str) -> Step:
    """The texts, by a script."""
    return Step(
        label=f"toy-{kind}",
        run=write_toy,
        config={"kind": kind, "seed": 1, "counts": COUNTS},
        seconds=0.1,
        light=True,
    )
