"""The scorers of sacrebleu, by the names used here. Knows no corpus.

Everything is case-sensitive except ROUGE. ``tokenize`` is how words are found:

    13a               what is customary for languages with spaces (BLEU)
    intl              the same with every punctuation mark of Unicode
    none              at spaces alone, for text that is tokenized already
    char              characters: for any language, and the fallback for Japanese without MeCab
    zh, ja-mecab      Chinese; Japanese (needs the extra ``ja``)

Without one, each metric has its own: BLEU 13a, TER ``tercom`` (at spaces alone), ROUGE ``ascii``. TER and ROUGE
take a given one only where the language has no spaces, because 13a is not what their published numbers use.
"""

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from levt.errors import ConfigError, MissingExtra
from levt.evaluation.rouge import rouge_scorer

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

MetricName = Literal["bleu", "chrf", "chrf++", "ter", "rouge-1", "rouge-2", "rouge-l"]
Tokenize = Literal["13a", "intl", "none", "char", "zh", "ja-mecab"]
SPACELESS = ("char", "zh", "ja-mecab")
"""For languages that write no spaces, where TER and ROUGE too must be told what a word is."""


def check(what: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise a ConfigError where a value is not one of the allowed."""
    if value not in allowed:
        near = difflib.get_close_matches(value.lower(), allowed, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"{allowed[0]!r} is the usual one"
        raise ConfigError(f"{what} must be one of {', '.join(allowed)}, got {value!r}", hint=hint)


def refuse_unheeded(tokenize: str | None, metrics: Sequence[str]) -> None:
    """Raise a ConfigError where a way to find words is given, and none of the metrics would take it.

    >>> refuse_unheeded("intl", ["bleu", "ter"])
    >>> refuse_unheeded("intl", ["chrf", "ter"])
    Traceback (most recent call last):
    levt.errors.ConfigError: tokenize 'intl' is heeded by none of chrf, ter
    hint: leave it out; BLEU takes every one, TER and ROUGE take char, zh, ja-mecab
    """
    spaceless = tokenize in SPACELESS
    if tokenize is None or any(
        one == "bleu" or (spaceless and not one.startswith("chrf")) for one in metrics
    ):
        return
    raise ConfigError(
        f"tokenize {tokenize!r} is heeded by none of {', '.join(metrics) or 'the counters'}",
        hint=f"leave it out; BLEU takes every one, TER and ROUGE take {', '.join(SPACELESS)}",
    )


def scorer(name: str, tokenize: str | None = None, *, stem: bool = False) -> "Metric":
    """The scorer of a metric; a MissingExtra where its packages are not installed."""
    check("metric", name, get_args(MetricName))
    if tokenize is not None:
        check("tokenize", tokenize, get_args(Tokenize))
    if stem and (not name.startswith("rouge") or tokenize in SPACELESS):
        raise ConfigError(
            f"stem is for ROUGE of English words, got metric {name!r} with tokenize {tokenize!r}",
            hint="leave it out",
        )
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
        from sacrebleu.metrics.ter import TER
    except ModuleNotFoundError:
        raise MissingExtra("sacrebleu", "eval") from None
    spaceless = tokenizer_named(tokenize) if tokenize in SPACELESS else None
    if name == "bleu":
        # Text that is said to be tokenized may look like it; sacrebleu would warn.
        return BLEU(tokenize=tokenize or "13a", force=tokenize == "none")
    if name in ("chrf", "chrf++"):
        return CHRF(word_order=2 if name == "chrf++" else 0)
    if name == "ter":
        ter = TER(case_sensitive=True)
        if spaceless is not None:
            ter.tokenizer, ter.tokenizer_signature = spaceless, spaceless.signature()
        return ter
    kind = name.replace("-", "").replace("l", "L")
    return rouge_scorer(kind, stem=stem, tokenizer=spaceless)


def tokenizer_named(name: str | None) -> Any:
    """A tokenizer of sacrebleu: from a text to the same with its words apart."""
    from sacrebleu.metrics.bleu import BLEU

    try:
        return BLEU(tokenize=name).tokenizer
    except RuntimeError:
        # This is how sacrebleu says that MeCab or its dictionary is not there.
        missing = MissingExtra("mecab-python3", "ja")
        missing.hint = f"{missing.hint}, or count characters instead: tokenize 'char'"
        raise missing from None
