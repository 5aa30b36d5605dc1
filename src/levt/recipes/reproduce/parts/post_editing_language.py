"""Translation data of post-editing: what vocabularies, translation models and black boxes are learnt from."""

from dataclasses import dataclass
from typing import Literal

Pair = tuple[str, str]
"""Source and target file, under the folder of the data."""


@dataclass(frozen=True, kw_only=True)
class Language:
    """Translation data: what the vocabulary, the translation model and the black boxes are learnt from."""

    name: str
    train: tuple[Pair, ...] = ()
    """The first of them is the one that is halved for black boxes."""
    dev: Pair = ("", "")
    test: Pair = ("", "")
    vocabulary: int = 16_000
    limit: int | None = None
    """Lines of each training set that are used, from the top; None: all."""
    dropout: float = 0.1
    """Of the models that translate it."""
    expert: Literal["oracle", "distilled"] = "oracle"
    """Whom its LevT learn from: the references, or a teacher who read the same pairs."""
    with_real: bool = True
    """Whether sources and post-edits of real triples are translation data too, for no other is of their domain."""
    separate: bool = False
    """Whether source and target have vocabularies, and embeddings, of their own."""
    tokenize: Literal["none", "ja-mecab"] | None = None
    """How words are set apart; None: by our rules, none: they are already, ja-mecab: those of the target by MeCab."""
    toy: bool = False


TOY = Language(name="toy", vocabulary=330, toy=True)

EN_DE = Language(
    name="en-de",
    train=(
        ("europarl-en-de/train.en", "europarl-en-de/train.de"),
        ("tatoeba-en-de/train.en", "tatoeba-en-de/train.de"),
    ),
    dev=("europarl-en-de/dev.en", "europarl-en-de/dev.de"),
    test=("europarl-en-de/test.en", "europarl-en-de/test.de"),
    limit=200_000,
)
RO_EN = Language(
    name="ro-en",
    train=tuple((f"{s}-en-ro/train.ro", f"{s}-en-ro/train.en") for s in ("software", "tatoeba", "ro-sts")),
    dev=("software-en-ro/dev.ro", "software-en-ro/dev.en"),
    test=("software-en-ro/test.ro", "software-en-ro/test.en"),
    vocabulary=12_000,
)
WMT16_RO_EN = Language(
    name="wmt16-ro-en",
    train=(("wmt16-ro-en/train.ro", "wmt16-ro-en/train.en"),),
    dev=("wmt16-ro-en/dev.ro", "wmt16-ro-en/dev.en"),
    test=("wmt16-ro-en/test.ro", "wmt16-ro-en/test.en"),
    vocabulary=34_983,
    dropout=0.3,
)
WMT14_EN_DE = Language(
    name="wmt14-en-de",
    train=(("wmt14-en-de/train.en", "wmt14-en-de/train.de"),),
    dev=("wmt14-en-de/dev.en", "wmt14-en-de/dev.de"),
    test=("wmt14-en-de/test.en", "wmt14-en-de/test.de"),
    vocabulary=37_009,
    dropout=0.3,
    expert="distilled",
)
WAT17_EN_JA = Language(
    name="wat17-en-ja",
    train=(("wat17-en-ja/train.en", "wat17-en-ja/train.ja"),),
    dev=("wat17-en-ja/dev.en", "wat17-en-ja/dev.ja"),
    test=("wat17-en-ja/test.en", "wat17-en-ja/test.ja"),
    vocabulary=17_952,
    dropout=0.3,
    expert="distilled",
    separate=True,
    tokenize="ja-mecab",
)
WMT17_APE = Language(
    name="wmt17-ape-4m",
    train=(("wmt17-ape-4m/train.src", "wmt17-ape-4m/train.pe"),),
    dev=("wmt17-ape-en-de/dev.src", "wmt17-ape-en-de/dev.pe"),
    test=("wmt17-ape-en-de/test.src", "wmt17-ape-en-de/test.pe"),
    vocabulary=40_349,
    dropout=0.3,
    with_real=False,
    tokenize="none",
)
"""What the paper's model learns to translate before it post-edits: sources and targets of the 4M artificial triples."""
