"""The phrase-based system as a whole: what it learns from a toy language, saving, loading, odd inputs."""

import random
from pathlib import Path

import pytest

from levt.errors import InputError, ModelError
from levt.recipes.black_boxes import open_black_box
from levt.recipes.black_boxes.phrase.options import Weights
from levt.recipes.black_boxes.phrase.system import PhraseSystem, PhraseTraining
from levt.recipes.black_boxes.phrase.tuning import tune

NOUNS = {"dog": "Hund", "bird": "Vogel", "tree": "Baum", "stone": "Stein", "man": "Mann", "fish": "Fisch"}
COLOURS = {"red": "rote", "green": "grüne", "old": "alte", "small": "kleine", "quiet": "stille"}
VERBS = {"sees": "sieht", "finds": "findet", "likes": "mag", "draws": "malt"}


def sentence(random_: random.Random) -> tuple[str, str]:
    """English order, and a German that puts the verb last: the system has to reorder."""
    one, two = random_.choice(list(NOUNS)), random_.choice(list(NOUNS))
    colour, verb = random_.choice(list(COLOURS)), random_.choice(list(VERBS))
    source = f"Today the {colour} {one} {verb} the {two}."
    return source, f"Heute der {COLOURS[colour]} {NOUNS[one]} den {NOUNS[two]} {VERBS[verb]}."


def pairs(count: int, seed: int) -> tuple[list[str], list[str]]:
    random_ = random.Random(seed)
    sources, targets = zip(*(sentence(random_) for _ in range(count)), strict=True)
    return list(sources), list(targets)


@pytest.fixture(scope="module")
def system() -> PhraseSystem:
    return PhraseSystem.train(*pairs(300, 1), PhraseTraining(longest=4))


def test_learns_words_and_order(system: PhraseSystem) -> None:
    sources, targets = pairs(60, 2)
    written = system.translate(sources)
    assert sum(a == b for a, b in zip(written, targets, strict=True)) >= 54


def test_one_line_for_each_whatever_it_holds(system: PhraseSystem) -> None:
    odd = ["", "   ", "xyzzy", "xyzzy " * 120, "¿…? \t 犬", "The dog\u2028sees", "a￭b", "DOG", "."]
    written = system.translate(odd)
    assert len(written) == len(odd)
    assert written[0] == written[1] == ""
    assert written[2] == "xyzzy"
    assert written[3].split() == ["xyzzy"] * 120
    assert not any("\n" in text for text in written)
    # Neighbours in a batch change nothing.
    assert [system.translate([text])[0] for text in odd] == written
    assert system.translate([]) == []


def test_saved_and_loaded(system: PhraseSystem, tmp_path: Path) -> None:
    system.save(tmp_path / "phrases")
    names = sorted(path.name for path in (tmp_path / "phrases").iterdir())
    assert names == [
        "config.json",
        "language_model.npz",
        "phrases.npz",
        "source_lowered.txt",
        "source_words.txt",
        "target_words.txt",
    ]
    sources, _ = pairs(20, 3)
    box = open_black_box(f"phrase:{tmp_path / 'phrases'}")
    assert box.translate(sources) == system.translate(sources)


def test_training_twice_gives_the_same(system: PhraseSystem) -> None:
    again = PhraseSystem.train(*pairs(300, 1), PhraseTraining(longest=4))
    sources, _ = pairs(20, 3)
    assert again.translate(sources) == system.translate(sources)


def test_damage_is_named(system: PhraseSystem, tmp_path: Path) -> None:
    folder = tmp_path / "phrases"
    with pytest.raises(ModelError, match="holds no phrase-based system"):
        PhraseSystem.load(folder)
    system.save(folder)
    config = (folder / "config.json").read_text("utf-8")
    (folder / "config.json").write_text(config.replace('"version": 1', '"version": 99'), encoding="utf-8")
    with pytest.raises(ModelError, match="version 99"):
        PhraseSystem.load(folder)
    (folder / "config.json").write_text(config.replace('"beam"', '"bean"'), encoding="utf-8")
    with pytest.raises(ModelError, match="settings of Search"):
        PhraseSystem.load(folder)
    (folder / "config.json").write_text(config.replace('"beam": 16', '"beam": "16"'), encoding="utf-8")
    with pytest.raises(ModelError, match="beam must be a number, got '16'"):
        PhraseSystem.load(folder)
    (folder / "config.json").write_text(config, encoding="utf-8")
    (folder / "phrases.npz").write_bytes(b"PK nothing")
    with pytest.raises(ModelError, match="damaged"):
        PhraseSystem.load(folder)


def test_nothing_to_learn_from() -> None:
    with pytest.raises(InputError, match="no pair"):
        PhraseSystem.train(["", "a " * 99], ["b", "b"])
    with pytest.raises(InputError, match="one target for each source"):
        PhraseSystem.train(["a"], [])


def test_one_pair_is_enough() -> None:
    system = PhraseSystem.train(["a dog"], ["ein Hund"])
    assert system.translate(["a dog"]) == ["ein Hund"]


def test_tuning_never_loses(system: PhraseSystem) -> None:
    pytest.importorskip("sacrebleu")
    from levt.evaluation.metrics import bleu

    sources, targets = pairs(12, 5)
    system.weights = Weights(word=-2.0)
    before = bleu(system.translate(sources), targets).value
    found = tune(system, sources, targets, rounds=1)
    assert found >= before
    assert bleu(system.translate(sources), targets).value == pytest.approx(found)
    system.weights = Weights()
