"""Task: texts to learn from and to be judged on, and how. The paper's four, and what stands for them at each scale."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from levt.errors import ConfigError
from levt.evaluation.scorers import Tokenize
from levt.recipes.reproduce.framework.setting import Scale, Setting
from levt.recipes.reproduce.framework.step import Step
from levt.recipes.reproduce.parts.prepare import prepare_step
from levt.recipes.reproduce.parts.sizes import LEFT_TO_RIGHT, Size
from levt.recipes.reproduce.parts.toy import toy_step

Pair = tuple[str, str]
"""Source and target file, under the folder of the data."""
MeasuredBy = Literal["bleu", "rouge"]


@dataclass(frozen=True, kw_only=True)
class Task:
    """One of the paper's tasks at one scale."""

    name: str
    """The paper's: ro-en, en-de, en-ja, summarisation."""
    title: str
    """On which texts, for the page."""
    train: tuple[Pair, ...] = ()
    dev: Pair = ("", "")
    tests: dict[str, Pair] = field(default_factory=dict)
    """By name; the first is the one that tables show."""
    vocabulary: int = 8000
    separate: bool = False
    """Whether source and target have vocabularies of their own."""
    limit: int | None = None
    """Training lines of each set that are used, from the top; None: all."""
    measured_by: MeasuredBy = "bleu"
    tokenize: Tokenize | None = None
    """How BLEU finds words; None: its own way."""
    toy: str = ""
    """Kind of toy texts, where it is a toy."""
    dropout: float = 0.3
    student_dropout: float | None = None
    """Where a teacher's texts are learnt, which are easier; None: the same."""
    tokens: int | None = None
    """Target tokens of a training step; None: as the scale says."""
    steps: int | None = None
    """Steps of training where a scale's are too few for so many pairs; None: as the scale says."""
    left_to_right_steps: int | None = None
    """The same for models from left to right: they learn in fewer, yet should not stop before their students."""
    weight: float = 1.0
    """How much more a target token costs than where the source is as long as the target."""

    @property
    def selection(self) -> str:
        """The metric by which the best checkpoint is chosen."""
        return "bleu" if self.measured_by == "bleu" else "rouge-2"

    @property
    def selection_tokenize(self) -> Tokenize | None:
        """How that metric finds words: by characters where words need a package that not every machine has."""
        return "char" if self.tokenize == "ja-mecab" else self.tokenize

    @property
    def splits(self) -> list[str]:
        """The names of the test sets in the prepared corpus."""
        return [f"test{i or ''}" for i in [0, *range(2, len(self.tests) + 1)]][: len(self.tests)]

    def training(self, chosen: Size, kind: str) -> dict[str, Any]:
        """Fields of the training of that kind of model: the scale's, and what the task has of its own."""
        fields = chosen.training(kind)
        if self.tokens is not None:
            fields["tokens"] = self.tokens
        steps = self.left_to_right_steps if kind in LEFT_TO_RIGHT else self.steps
        if steps is not None:
            fields |= {"max_steps": steps, "validate_every": steps // 5}
        return fields

    def corpus(self, setting: Setting) -> Step:
        """The step that prepares it."""
        if self.toy:
            pairs = {split: ((f"{split}.src", f"{split}.tgt"),) for split in ("train", "dev", "test")}
            return self._prepared(pairs, toy_step(self.toy))
        tests = {split: (pair,) for split, pair in zip(self.splits, self.tests.values(), strict=True)}
        return self._prepared({"train": self.train, "dev": (self.dev,), **tests}, setting.data)

    def _prepared(self, splits: Mapping[str, Sequence[Pair]], where: Path | Step) -> Step:
        return prepare_step(
            self.name, splits, where, vocabulary=self.vocabulary, separate=self.separate, limit=self.limit
        )


def _toy(name: str) -> Task:
    kind = "summary" if name == "summarisation" else "translation"
    return Task(
        name=name, title=f"toy {kind}", toy=kind, vocabulary=310, dropout=0.1, tests={"toy": ("", "")},
        measured_by="rouge" if kind == "summary" else "bleu",
    )  # fmt: skip


QUICK = (
    Task(
        name="ro-en",
        title="software, everyday sentences and news, 158,000 pairs; test: the STS news and captions",
        train=tuple(
            (f"{s}-en-ro/train.ro", f"{s}-en-ro/train.en") for s in ("software", "tatoeba", "ro-sts")
        ),
        dev=("ro-sts-en-ro/dev.ro", "ro-sts-en-ro/dev.en"),
        tests={
            "ro-sts": ("ro-sts-en-ro/test.ro", "ro-sts-en-ro/test.en"),
            "newstest2016": ("newstest/newstest2016.ro-en.ro", "newstest/newstest2016.ro-en.en"),
        },
        vocabulary=12_000,
        dropout=0.2,
        student_dropout=0.1,
        steps=10_000,
    ),
    Task(
        name="en-de",
        title="Multi30k image captions, 29,000 pairs; test: test_2016_flickr",
        train=(("multi30k-en-de/train.en", "multi30k-en-de/train.de"),),
        dev=("multi30k-en-de/val.en", "multi30k-en-de/val.de"),
        tests={
            "test_2016_flickr": ("multi30k-en-de/test_2016_flickr.en", "multi30k-en-de/test_2016_flickr.de"),
            "test_2017_flickr": ("multi30k-en-de/test_2017_flickr.en", "multi30k-en-de/test_2017_flickr.de"),
        },
        student_dropout=0.2,
    ),
    Task(
        name="en-de-long",
        title="European Parliament, the first 120,000 pairs; test: its year 2012",
        train=(("europarl-en-de/train.en", "europarl-en-de/train.de"),),
        dev=("europarl-en-de/dev.en", "europarl-en-de/dev.de"),
        tests={
            "europarl": ("europarl-en-de/test.en", "europarl-en-de/test.de"),
            "newstest2014": ("newstest/newstest2014.en-de.en", "newstest/newstest2014.en-de.de"),
        },
        vocabulary=12_000,
        limit=120_000,
        dropout=0.1,
        steps=10_000,
        left_to_right_steps=10_000,
    ),
    Task(
        name="en-ja",
        title="software and everyday sentences, 142,000 pairs; test: software",
        train=tuple((f"{s}-en-ja/train.en", f"{s}-en-ja/train.ja") for s in ("software", "tatoeba")),
        dev=("software-en-ja/dev.en", "software-en-ja/dev.ja"),
        tests={
            "software": ("software-en-ja/test.en", "software-en-ja/test.ja"),
            "tatoeba": ("tatoeba-en-ja/test.en", "tatoeba-en-ja/test.ja"),
        },
        separate=True,
        limit=100_000,
        tokenize="ja-mecab",
        dropout=0.2,
        student_dropout=0.1,
        steps=10_000,
        left_to_right_steps=10_000,
    ),
    Task(
        name="summarisation",
        title="one-line synopses of software packages, 32,600 pairs",
        train=(("package-synopsis/train.src", "package-synopsis/train.tgt"),),
        dev=("package-synopsis/dev.src", "package-synopsis/dev.tgt"),
        tests={"package-synopsis": ("package-synopsis/test.src", "package-synopsis/test.tgt")},
        measured_by="rouge",
        student_dropout=0.2,
        tokens=4_096,
        weight=2.0,
    ),
)

PAPER = (
    Task(
        name="ro-en",
        title="WMT16 Romanian→English; test: newstest2016",
        train=(("wmt16-ro-en/train.ro", "wmt16-ro-en/train.en"),),
        dev=("wmt16-ro-en/dev.ro", "wmt16-ro-en/dev.en"),
        tests={"newstest2016": ("wmt16-ro-en/test.ro", "wmt16-ro-en/test.en")},
        vocabulary=34_983,
    ),
    Task(
        name="en-de",
        title="WMT14 English→German; test: newstest2014",
        train=(("wmt14-en-de/train.en", "wmt14-en-de/train.de"),),
        dev=("wmt14-en-de/dev.en", "wmt14-en-de/dev.de"),
        tests={"newstest2014": ("wmt14-en-de/test.en", "wmt14-en-de/test.de")},
        vocabulary=37_009,
    ),
    Task(
        name="en-ja",
        title="WAT17 Small-NMT English→Japanese",
        train=(("wat17-en-ja/train.en", "wat17-en-ja/train.ja"),),
        dev=("wat17-en-ja/dev.en", "wat17-en-ja/dev.ja"),
        tests={"wat17": ("wat17-en-ja/test.en", "wat17-en-ja/test.ja")},
        vocabulary=17_952,
        separate=True,
        tokenize="ja-mecab",
    ),
    Task(
        name="summarisation",
        title="English Gigaword",
        train=(("gigaword/train.article", "gigaword/train.title"),),
        dev=("gigaword/dev.article", "gigaword/dev.title"),
        tests={"gigaword": ("gigaword/test.article", "gigaword/test.title")},
        vocabulary=30_004,
        measured_by="rouge",
    ),
)

TASKS: dict[Scale, dict[str, Task]] = {
    "toy": {name: _toy(name) for name in ("ro-en", "en-de", "summarisation")},
    "quick": {task.name: task for task in QUICK},
    "paper": {task.name: task for task in PAPER},
}


def task(name: str, scale: Scale) -> Task:
    """The task of the paper at a scale.

    >>> task("en-ja", "paper").tokenize
    'ja-mecab'
    """
    known = TASKS[scale]
    if name not in known:
        raise ConfigError(f"there is no task {name!r} at scale {scale}", hint=f"one of {', '.join(known)}")
    return known[name]
