"""A toy language pair that every example can learn in a minute: sentences of a small grammar and their German.

    python examples/toy_pair.py toy           writes toy/train.en, toy/train.de, toy/dev.en, …

English and German differ in more than words here: after "Today" or "In the evening" the German verb comes before its
subject, and the article of an object depends on nothing but is still to be learnt. No sentence is anybody else's.
"""

# %%
import argparse
import random
from pathlib import Path

from levt.imitation.objective import ObjectiveConfig
from levt.policy.config import AutoregressiveConfig, LevTConfig
from levt.recipes.experiment import UNKNOWN, Experiment
from levt.training.config import TrainingConfig

WHEN = {"Today": "Heute", "In the evening": "Am Abend", "Now": "Jetzt", "": ""}
HOW = {
    "old": "alte",
    "young": "junge",
    "tired": "müde",
    "happy": "frohe",
    "brave": "mutige",
    "clever": "kluge",
}
WHO = {
    "baker": "Bäcker", "farmer": "Bauer", "doctor": "Arzt", "teacher": "Lehrer", "painter": "Maler",
    "gardener": "Gärtner", "captain": "Kapitän",
}  # fmt: skip
DOES = {
    "sees": "sieht",
    "buys": "kauft",
    "sells": "verkauft",
    "paints": "malt",
    "finds": "findet",
    "carries": "trägt",
}
WHOSE = {"a": "einen", "the": "den", "his": "seinen", "our": "unseren"}
WHAT = {
    "basket": "Korb", "letter": "Brief", "kettle": "Kessel", "table": "Tisch", "coat": "Mantel", "key": "Schlüssel",
    "oven": "Ofen", "hat": "Hut",
}  # fmt: skip


# %%
def pair(rng: random.Random) -> tuple[str, str]:
    """A sentence and its translation.

    >>> pair(random.Random(1))
    ('In the evening the tired teacher sees a letter.', 'Am Abend sieht der müde Lehrer einen Brief.')
    """
    when, how, who, does, whose, what = (
        rng.choice(list(words.items())) for words in (WHEN, HOW, WHO, DOES, WHOSE, WHAT)
    )
    english = f"{when[0]} the {how[0]} {who[0]} {does[0]} {whose[0]} {what[0]}."
    subject, rest = f"der {how[1]} {who[1]}", f"{whose[1]} {what[1]}."
    german = f"{when[1]} {does[1]} {subject} {rest}" if when[1] else f"{subject} {does[1]} {rest}"
    return _sentence(english), _sentence(german)


def _sentence(text: str) -> str:
    text = text.strip()
    return text[0].upper() + text[1:]


def write(folder: Path, *, train: int = 4_000, seed: int = 1) -> None:
    """Text files of all three sets."""
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for split, count in (("train", train), ("dev", 100), ("test", 100)):
        pairs = [pair(rng) for _ in range(count)]
        for side, suffix in enumerate(("en", "de")):
            lines = "".join(f"{one[side]}\n" for one in pairs)
            (folder / f"{split}.{suffix}").write_text(lines, encoding="utf-8")


# %% Recipes: `levt train examples/toy_pair.py:student`
SIZE = {
    "source_vocabulary": UNKNOWN, "target_vocabulary": UNKNOWN, "width": 64, "hidden": 128, "heads": 2,
    "encoder_layers": 2, "decoder_layers": 2, "max_length": 64, "dropout": 0.0, "norm": "pre",
}  # fmt: skip
TRAINING = TrainingConfig(
    tokens=1_024, max_steps=400, warmup=50, learning_rate=3e-3, schedule="cosine", ema=0.98,
    validate_every=400, save_every=400, log_every=50,
)  # fmt: skip


def teacher() -> Experiment:
    """A tiny autoregressive model for the toy pair."""
    return Experiment(
        corpus=Path("corpora/toy"), out=Path("runs/toy-teacher"), model=AutoregressiveConfig(**SIZE),
        training=TRAINING, name="toy-teacher",
    )  # fmt: skip


def student() -> Experiment:
    """A tiny LevT for the toy pair."""
    return Experiment(
        corpus=Path("corpora/toy"), out=Path("runs/toy-student"), model=LevTConfig(**SIZE, max_count=20),
        objective=ObjectiveConfig(label_smoothing=0.0, decision_smoothing=0.0),
        training=TRAINING, name="toy-student",
    )  # fmt: skip


# %%
if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    write(parser.parse_args().folder)
