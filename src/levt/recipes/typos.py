"""Typo repair: sentences of a small grammar, with slips of the keyboard. What `levt demo --typos` learns in a minute.

The misspelt text is the source and the draft at once. The vocabulary holds whole words and letters, so a word
that is spelt right is one token and a misspelt one falls to pieces: the model learns to take the pieces out
and to write the word instead.
"""

import random
from collections.abc import Iterator
from pathlib import Path

from levt.data.preparation import Preparation
from levt.data.prepare import prepare
from levt.data.read import corpora
from levt.imitation.objective import ObjectiveConfig
from levt.policy.config import LevTConfig
from levt.recipes.experiment import UNKNOWN, Experiment
from levt.training.config import TrainingConfig

HOW = (
    "small",
    "old",
    "quiet",
    "happy",
    "tired",
    "brave",
    "clever",
    "gentle",
    "hungry",
    "lazy",
    "proud",
    "friendly",
)
WHO = (
    "baker",
    "farmer",
    "doctor",
    "teacher",
    "sailor",
    "painter",
    "gardener",
    "neighbour",
    "captain",
    "student",
)
DOES = ("opens", "paints", "repairs", "finds", "carries", "cleans", "watches", "sells", "borrows", "forgets")
WHOSE = ("a", "the", "his", "her", "our")
WHAT = (
    "window",
    "garden",
    "bicycle",
    "basket",
    "letter",
    "kettle",
    "ladder",
    "blanket",
    "lantern",
    "picture",
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"

LONGEST = 26
"""Tokens of the longest training example, boundaries counted: short rows make short steps."""


def sentence(rng: random.Random) -> str:
    """A sentence of the grammar.

    >>> sentence(random.Random(3))
    'The happy student borrows the kettle.'
    """
    how, who, does, whose, what = (rng.choice(words) for words in (HOW, WHO, DOES, WHOSE, WHAT))
    return f"The {how} {who} {does} {whose} {what}."


def misspelt(text: str, rng: random.Random, slips: int) -> str:
    """The text after so many slips: a letter dropped, doubled, swapped with the next, or another one.

    >>> misspelt("The old baker", random.Random(2), slips=2)
    'h eold baker'
    """
    letters = list(text)
    for _ in range(slips):
        at, slip = rng.randrange(len(letters) - 1), rng.randrange(4)
        if slip == 0:
            del letters[at]
        elif slip == 1:
            letters.insert(at, letters[at])
        elif slip == 2:
            letters[at], letters[at + 1] = letters[at + 1], letters[at]
        else:
            letters[at] = rng.choice(LETTERS)
    return "".join(letters)


def examples(seed: int) -> Iterator[tuple[str, str]]:
    """Misspelt and right, without end; one in six has no slip at all."""
    rng = random.Random(seed)
    while True:
        right = sentence(rng)
        yield misspelt(right, rng, rng.choice((0, 1, 1, 1, 2, 2))), right


def typo_corpus(folder: Path, *, train: int = 20_000, dev: int = 200, seed: int = 1) -> Path:
    """Write texts and prepare them; the corpus is ``folder / "corpus"``. With ``dev=0`` it has no dev set."""
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, list[Path]] = {}
    stream = examples(seed)
    for split, count in (("train", train), ("dev", dev)):
        if count == 0:
            continue
        pairs = [next(stream) for _ in range(count)]
        columns = {"draft": [wrong for wrong, _ in pairs], "target": [right for _, right in pairs]}
        paths = {name: folder / f"{split}.{name}" for name in columns}
        for name, texts in columns.items():
            paths[name].write_text("\n".join(texts) + "\n", encoding="utf-8")
        files[split] = [paths["draft"], paths["draft"], paths["target"]]
    splits = {name: corpora(three, draft=True) for name, three in files.items()}
    prepare(folder / "corpus", splits, Preparation(vocabulary=600, max_length=LONGEST))
    return folder / "corpus"


def typo_repair() -> Experiment:
    """A tiny LevT that repairs typing errors; `levt demo --typos` makes its corpus and trains it, in a minute."""
    return Experiment(
        corpus=Path("corpora/typos"),
        out=Path("runs/typo-repair"),
        model=LevTConfig(
            source_vocabulary=UNKNOWN, target_vocabulary=UNKNOWN, width=64, hidden=128, heads=2, encoder_layers=1,
            decoder_layers=2, max_length=128, max_count=15, dropout=0.0, norm="pre",
        ),
        objective=ObjectiveConfig(label_smoothing=0.0, decision_smoothing=0.0),
        training=TrainingConfig(
            tokens=1_536, max_steps=300, warmup=50, learning_rate=3e-3, schedule="cosine", ema=0.98,
            validate_every=1_000, save_every=1_000, log_every=25,
        ),
        name="typo-repair",
    )  # fmt: skip
