"""Post-editing tasks: triples that people or black boxes made, and the translation data of their languages.

Table 3 of the paper has synthetic tasks (a phrase-based and a recurrent system, each trained on one half of the data,
write the drafts of the other) and a real one; here is what stands for them at each scale. All texts have their words
apart (``levt.recipes.post_editing_words``), those of Japanese by MeCab; En-Ja is a task at the paper's scale alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from levt.errors import ConfigError
from levt.recipes.reproduce.framework.setting import Scale, Setting
from levt.recipes.reproduce.parts.post_editing_language import (
    EN_DE,
    RO_EN,
    TOY,
    WAT17_EN_JA,
    WMT14_EN_DE,
    WMT16_RO_EN,
    WMT17_APE,
    Language,
)

TOY_BOX = "command:" + "sed " + " ".join(
    f"-e 's/{word}/{other}/g'"
    for word, other in (("the", "der"), ("red", "rote"), ("bird", "Vogel"), ("sees", "sieht"), ("likes", "findet"))
)  # fmt: skip
"""A shell command that knows a few words of the toy language, one of them wrongly."""


SECONDS = {"toy": 0.5, "quick": 8.0, "paper": 60.0}
"""How long it takes to refine a test set."""
TRANSFORMER, SCRATCH, ZERO_SHOT, FINE_TUNED = "Transformer", "scratch", "zero-shot", "fine-tuned"
"""The trained systems of the paper's table."""


@dataclass(frozen=True, kw_only=True)
class Try:
    """A way to train a system on the triples of a task; where there are several, the dev set chooses."""

    name: str = ""
    more: tuple[Literal["synthetic", "redrafted", "round-trip"], ...] = ("synthetic",)
    """What is mixed in, where the task has it."""
    alpha: float = 0.5
    """Share of the states that deletion learns from which are the draft; for LevT."""
    beta: float = 0.5
    """The same for insertion."""
    own_deletions: float = 0.0
    """Weight of insertion learnt after the model's own deletions; for LevT."""


NEAR = Try(name="near", more=("redrafted",))
ALL = Try(name="all", more=("redrafted", "round-trip"))
TRIP = Try(name="trip", more=("round-trip",))
TRIES: dict[str, tuple[Try, ...]] = {
    TRANSFORMER: (ALL,),
    SCRATCH: (ALL,),
    FINE_TUNED: (
        NEAR,
        ALL,
        Try(name="drafts", more=("redrafted", "round-trip"), alpha=0.8, beta=0.8),
        Try(name="own", more=("redrafted", "round-trip"), alpha=0.8, beta=0.8, own_deletions=0.5),
    ),
}
"""Where few real triples must do: which others are mixed in, and how often the states are drafts."""
FEW_TRIES: dict[str, tuple[Try, ...]] = {
    TRANSFORMER: (TRIP,),
    SCRATCH: (TRIP,),
    FINE_TUNED: (TRIP, Try(name="alone", more=())),
}
"""Where there are even fewer, of a system that is none of ours."""


@dataclass(frozen=True, kw_only=True)
class PostEditingTask:
    """A line of the table."""

    name: str
    title: str
    """On which texts, for the page."""
    system: str
    """Who wrote the drafts, for the page."""
    language: Language
    triples: str = ""
    """Folder of real triples, under that of the data; where there is none, a black box writes the drafts."""
    black_box: str = ""
    """phrase, recurrent, or a black box by its name."""
    mixed_with: str = ""
    """Name of the synthetic task whose triples are mixed in."""
    extra: str = ""
    """Folder of artificial triples that come with the data (train.src, train.mt, train.pe), instead."""
    redrafts: int = 0
    """How often all real triples get four other drafts, by phrase-based systems of the others (``redrafting``)."""
    times: int = 10
    """How often each real triple counts for one that is mixed in."""
    tries: Mapping[str, tuple[Try, ...]] = field(default_factory=dict)
    """By system, the ways that are tried; those not named are trained in the usual one."""
    keystrokes: str = ""
    """Folder with recordings of people's edits, under that of the data."""
    dropout: float = 0.3

    @property
    def real(self) -> bool:
        """Whether people corrected the drafts."""
        return not self.black_box


def _synthetic(language: Language, title: str, *boxes: str) -> tuple[PostEditingTask, ...]:
    """The model of a task has the training conditions of its translation model (the paper's appendix C.2)."""
    systems = {"phrase": "phrase-based", "recurrent": "LSTM"}
    return tuple(
        PostEditingTask(
            name=f"{language.name}-{box}", title=title, system=systems[box], language=language, black_box=box,
            dropout=language.dropout,
        )
        for box in boxes
    )  # fmt: skip


QUICK = (
    *_synthetic(RO_EN, "Ro-En, software texts, synthetic", "phrase", "recurrent"),
    *_synthetic(EN_DE, "En-De, European Parliament, synthetic", "phrase", "recurrent"),
    PostEditingTask(
        name="ape-it-en-de", title="En-De, information technology, real", system="phrase-based", language=EN_DE,
        triples="ape-it-en-de", keystrokes="ape-keystrokes-en-de", redrafts=2, tries=TRIES,
    ),
    PostEditingTask(
        name="ape-wiki-en-de", title="En-De, Wikipedia, real", system="NMT", language=EN_DE,
        triples="ape-wiki-en-de", tries=FEW_TRIES,
    ),
    PostEditingTask(
        name="ape-wiki-ro-en", title="Ro-En, Wikipedia, real", system="NMT", language=RO_EN,
        triples="ape-wiki-ro-en", tries=FEW_TRIES,
    ),
)  # fmt: skip

PAPER = (
    *_synthetic(WMT16_RO_EN, "Ro-En, WMT16, synthetic", "phrase", "recurrent"),
    *_synthetic(WMT14_EN_DE, "En-De, WMT14, synthetic", "phrase"),
    *_synthetic(WAT17_EN_JA, "En-Ja, WAT17, synthetic", "recurrent"),
    PostEditingTask(
        name="wmt17-ape-en-de", title="En-De, WMT17 post-editing, real", system="phrase-based", language=WMT17_APE,
        triples="wmt17-ape-en-de", extra="wmt17-ape-500k", keystrokes="ape-keystrokes-en-de",
    ),
)  # fmt: skip

TASKS: dict[Scale, tuple[PostEditingTask, ...]] = {
    "toy": (
        PostEditingTask(
            name="toy-synthetic", title="toy, synthetic", system="a shell command", language=TOY, black_box=TOY_BOX,
            dropout=0.1,
        ),
        PostEditingTask(
            name="toy-real", title="toy, real", system="a script", language=TOY, triples="toy",
            mixed_with="toy-synthetic", times=2, keystrokes="toy", dropout=0.1, redrafts=1,
            tries={FINE_TUNED: (NEAR, Try(name="own", more=("round-trip", "synthetic"), own_deletions=0.5))},
        ),
    ),
    "quick": QUICK,
    "paper": PAPER,
}  # fmt: skip

PUBLISHED = {
    "ro-en-phrase": (27.5, 52.6, 28.9, 52.8, 29.1, 50.4, 30.1, 51.7),
    "ro-en-recurrent": (26.2, 56.5, 26.9, 55.6, 28.3, 53.6, 28.0, 55.8),
    "en-de-phrase": (15.4, 69.4, 22.8, 61.0, 25.8, 56.6, 16.5, 69.6),
    "en-ja-recurrent": (37.7, 48.0, 41.0, 44.9, 42.2, 44.3, 39.4, 47.5),
    "ape-en-de": (62.5, 24.5, 67.2, 22.1, 66.9, 21.9, 59.6, 28.7, 70.1, 19.2),
}
"""BLEU and TER in the paper: do nothing, Transformer, LevT from scratch, zero-shot, fine-tuned."""


def tasks_of(setting: Setting, *, real: bool = False) -> list[PostEditingTask]:
    """The tasks that a setting asks for, or those of them that have real triples.

    >>> [task.name for task in tasks_of(Setting(tasks=("ape-it-en-de", "en-de-phrase")))]
    ['en-de-phrase', 'ape-it-en-de']
    """
    known = TASKS[setting.scale]
    if unknown := [name for name in setting.tasks if name not in [task.name for task in known]]:
        raise ConfigError(
            f"there is no task {unknown[0]!r} of post-editing",
            hint=f"one of {', '.join(task.name for task in known)}",
        )
    chosen = [task for task in known if task.name in (setting.tasks or [one.name for one in known])]
    if real and not any(task.real for task in chosen):
        raise ConfigError(
            f"{', '.join(setting.tasks)}: none of these tasks has real triples",
            hint=f"one of {', '.join(task.name for task in known if task.real)}",
        )
    return [task for task in chosen if task.real or not real]


def real_tasks(language: Language, scale: Scale) -> list[PostEditingTask]:
    """The real tasks of a language, whose sources and post-edits are translation data too."""
    return [task for task in TASKS[scale] if task.real and task.language == language]


def main_task(scale: Scale) -> PostEditingTask:
    """The real task that the figures are about: the first with recordings of people's edits.

    >>> main_task("quick").name
    'ape-it-en-de'
    """
    return next(task for task in TASKS[scale] if task.keystrokes)


def triple_files(data: Path, task: PostEditingTask, split: str) -> dict[str, Path]:
    """The files of a split of real triples, by their names in a step."""
    return {f"{split}.{end}": data / task.triples / f"{split}.{end}" for end in ("src", "mt", "pe")}
