"""A phrase-based system: trained on pairs of lines, saved as a folder, asked to translate lines.

    FOLDER/config.json            version, settings, weights
    FOLDER/source_words.txt       one word a line, and the same for the target
    FOLDER/source_lowered.txt     words that are written small inside a sentence
    FOLDER/phrases.npz            the phrase table
    FOLDER/language_model.npz     n-grams of the target

Nothing in it is executed when it is loaded.
"""

import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from levt.data.folder import new_folder
from levt.errors import InputError, ModelError, raise_all
from levt.recipes.black_boxes.phrase.alignment import Aligner
from levt.recipes.black_boxes.phrase.corpus import FIRST, Side, Vocabulary, blocks
from levt.recipes.black_boxes.phrase.decoder import LONGEST, Search, decode
from levt.recipes.black_boxes.phrase.extraction import phrase_pairs
from levt.recipes.black_boxes.phrase.language_model import LanguageModel
from levt.recipes.black_boxes.phrase.options import PhraseTable, Weights
from levt.recipes.black_boxes.phrase.words import (
    join_words,
    learn_lowered,
    lower_first,
    raise_first,
    split_words,
)
from levt.refine.ranges import MANY, Range, check_numbers

T = TypeVar("T", Weights, Search, "PhraseTraining")
VERSION = 1
BATCH = 64
"""Sentences decoded together."""


RANGES = {
    "longest": Range(1, 60),
    "options": Range(1, MANY),
    "order": Range(2, 20),
    "independent": Range(1, MANY),
    "chained": Range(0, MANY),
}


@dataclass(frozen=True, kw_only=True)
class PhraseTraining:
    """How a system is trained."""

    longest: int = 5
    """Words of the longest phrase, on either side."""
    options: int = 10
    """Translations kept for each source phrase."""
    order: int = 3
    """Words of the longest n-gram of the language model."""
    independent: int = 4
    """Rounds of IBM model 1."""
    chained: int = 3
    """Rounds of the hidden Markov model."""
    max_words: int = 60
    """Pairs with a longer side are left out of the alignment and the phrases."""

    def __post_init__(self) -> None:
        check_numbers("phrase training", self, RANGES)


class PhraseSystem:
    """Everything that decoding needs."""

    def __init__(
        self,
        source: Vocabulary,
        target: Vocabulary,
        lowered: set[str],
        table: PhraseTable,
        model: LanguageModel,
        *,
        weights: Weights | None = None,
        search: Search | None = None,
        training: PhraseTraining | None = None,
    ) -> None:
        self.source, self.target, self.lowered = source, target, lowered
        self.table, self.model = table, model
        self.weights, self.search = weights or Weights(), search or Search()
        self.training = training or PhraseTraining()

    @classmethod
    def train(
        cls, sources: Sequence[str], targets: Sequence[str], settings: PhraseTraining | None = None
    ) -> "PhraseSystem":
        """Learn from pairs of lines."""
        settings = settings or PhraseTraining()
        if len(sources) != len(targets):
            raise InputError(
                f"there must be one target for each source, got {len(targets)} and {len(sources)}",
                hint="line i of each must belong to line i of the other",
            )
        x, y = ([split_words(text) for text in texts] for texts in (sources, targets))
        lowered, lowered_y = learn_lowered(x), learn_lowered(y)
        most = settings.max_words
        kept = [i for i in range(len(x)) if 0 < len(x[i]) <= most and 0 < len(y[i]) <= most]
        if not kept:
            raise InputError(
                f"there is no pair of lines of 1 to {most} words to learn from",
                hint="one sentence per line, in both files",
            )
        x = [lower_first(x[i], lowered) for i in kept]
        y = [lower_first(y[i], lowered_y) for i in kept]
        source, target = Vocabulary.of(x), Vocabulary.of(y)
        left, right = Side.of([source.encode(s) for s in x]), Side.of([target.encode(s) for s in y])
        forward, backward = Aligner(left, right, len(target)), Aligner(right, left, len(source))
        rounds = {"independent": settings.independent, "chained": settings.chained}
        forward.fit(blocks(left, right), **rounds)
        backward.fit(blocks(right, left), **rounds)
        pairs = phrase_pairs(
            forward, backward, blocks(left, right), most=settings.longest, options=settings.options
        )
        column = np.arange(settings.longest)
        place = np.minimum(pairs.target[:, None] + column, len(right.words) - 1)
        words = np.where(column < pairs.target_length[:, None], right.words[place], -1)
        table = PhraseTable(keys=pairs.keys, starts=pairs.starts, scores=pairs.scores, words=words)
        model = LanguageModel.train(right, len(target), order=settings.order)
        return cls(source, target, lowered, table, model, training=settings)

    def translate(self, lines: Sequence[str]) -> list[str]:
        """One translation for each line."""
        whole = [split_words(line) for line in lines]
        # A part of a line is (line, words); parts of similar lengths are decoded together.
        parts = [(i, part) for i, words in enumerate(whole) for part in self._parts(words)]
        order = sorted(range(len(parts)), key=lambda k: len(parts[k][1]))
        done: dict[int, list[str]] = {}
        for begin in range(0, len(order), BATCH):
            batch = order[begin : begin + BATCH]
            done |= zip(batch, self._decode([parts[k][1] for k in batch]), strict=True)
        written: list[list[str]] = [[] for _ in whole]
        for k, (i, _) in enumerate(parts):
            written[i] += done[k]
        return [join_words(raise_first(out, words)) for out, words in zip(written, whole, strict=True)]

    def _parts(self, words: list[str]) -> list[list[str]]:
        words = lower_first(words, self.lowered)
        return [words[i : i + LONGEST] for i in range(0, len(words), LONGEST)]

    def _decode(self, sentences: Sequence[list[str]]) -> list[list[str]]:
        """The target words of sentences of similar lengths."""
        side = Side.of([self.source.encode(sentence) for sentence in sentences])
        known = len(self.target)
        strange = [word for sentence in sentences for word in sentence]
        own = [self.target.numbers.get(word, known + k) for k, word in enumerate(strange)]
        copies = np.full((len(sentences), int(side.lengths.max())), known)
        copies[np.arange(copies.shape[1]) < side.lengths[:, None]] = own
        sources = side.padded(np.arange(len(sentences)))
        texts = decode(sources, side.lengths, self.table, self.model, self.weights, self.search, copies)
        names = self.target.words
        return [[strange[w - known] if w >= known else names[w - FIRST] for w in text] for text in texts]

    def save(self, folder: Path) -> None:
        """Write the new folder, whole or not at all."""
        config = {
            "format": "levt-phrase",
            "version": VERSION,
            "training": asdict(self.training),
            "weights": asdict(self.weights),
            "search": asdict(self.search),
        }
        with new_folder(folder) as partial:
            (partial / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
            lists = {
                "source_words": self.source.words,
                "target_words": self.target.words,
                "source_lowered": sorted(self.lowered),
            }
            for name, words in lists.items():
                (partial / f"{name}.txt").write_bytes("".join(f"{word}\n" for word in words).encode())
            table = self.table
            np.savez(
                partial / "phrases.npz",
                keys=table.keys,
                starts=table.starts.astype(np.int32),
                scores=table.scores,
                words=table.words.astype(np.int32),
            )
            np.savez(partial / "language_model.npz", **self.model.arrays())  # type: ignore[arg-type]

    @classmethod
    def load(cls, folder: Path) -> "PhraseSystem":
        """The system of a folder; another version, or a damaged file, is a ModelError."""
        if not (folder / "config.json").is_file():
            raise ModelError(
                f"{folder} holds no phrase-based system", hint="`levt blackbox train-phrase` writes one"
            )
        try:
            config = json.loads((folder / "config.json").read_text("utf-8"))
            if not isinstance(config, dict) or config.get("format") != "levt-phrase":
                raise ModelError(
                    f"{folder} is not the folder of a phrase-based system",
                    hint="`levt blackbox train-phrase` writes one",
                )
            if config.get("version") != VERSION:
                raise ModelError(
                    f"{folder} has version {config.get('version')!r}, this levt reads {VERSION}",
                    hint="train it again",
                )
            lists = {
                name: (folder / f"{name}.txt").read_bytes().decode("utf-8").split("\n")[:-1]
                for name in ("source_words", "target_words", "source_lowered")
            }
            with np.load(folder / "phrases.npz", allow_pickle=False) as file:
                table = PhraseTable(
                    keys=file["keys"],
                    starts=file["starts"].astype(np.int64),
                    scores=file["scores"],
                    words=file["words"].astype(np.int64),
                )
            with np.load(folder / "language_model.npz", allow_pickle=False) as file:
                model = LanguageModel.of(dict(file))
        except (OSError, ValueError, KeyError, RecursionError, zipfile.BadZipFile) as error:
            raise ModelError(f"{folder} is damaged: {error}", hint="train it again") from error
        return cls(
            Vocabulary(lists["source_words"]),
            Vocabulary(lists["target_words"]),
            set(lists["source_lowered"]),
            table,
            model,
            weights=_read(Weights, config.get("weights"), folder),
            search=_read(Search, config.get("search"), folder),
            training=_read(PhraseTraining, config.get("training"), folder),
        )


def _read(kind: type[T], value: Any, folder: Path) -> T:
    """Settings from JSON; what is missing or unknown is an error."""
    known = {field.name: field.type for field in fields(kind)}
    if not isinstance(value, dict) or value.keys() != known.keys():
        raise ModelError(
            f"{folder / 'config.json'}: the settings of {kind.__name__} must be {sorted(known)}",
            hint="train it again",
        )
    wrong = [
        f"{name} must be a number, got {value[name]!r}"
        for name in known
        if not _fits(value[name], known[name])
    ]
    raise_all(ModelError, str(folder / "config.json"), wrong, hint="train it again")
    return kind(**value)


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value of JSON is of a field's type; a whole number will do for any."""
    return type(value) is int or (type(value) is float and hint is float)
