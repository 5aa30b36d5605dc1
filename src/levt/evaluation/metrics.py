"""The score of a whole corpus: BLEU, chrF, TER and ROUGE, with confidence and significance. Knows no file.

Hypotheses are one text per sentence; references the same, or several such lists. Texts are plain: neither
tokenized nor lower-cased.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from levt.errors import ConfigError, InputError
from levt.evaluation.score import Score
from levt.evaluation.scorers import MetricName, Tokenize, scorer
from levt.evaluation.significance import SEED, interval, p_value

MOST = 1_000_000
"""Random trials beyond which nothing is learnt."""

References = Sequence[str] | Sequence[Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric that can be asked for a number, for a Score, or to compare systems."""

    name: str
    """One of ``MetricName``."""
    tokenize: str | None = None
    """One of ``Tokenize``; ``None`` is the metric's own."""
    stem: bool = False
    """Whether ROUGE compares the stems of English words."""

    def __post_init__(self) -> None:
        # Fails now, not after an hour of training, where a name is wrong or a package missing.
        scorer(self.name, self.tokenize, stem=self.stem)

    @property
    def higher_is_better(self) -> bool:
        """False for TER alone, which counts errors."""
        return self.name != "ter"

    def score(self, hypotheses: Sequence[str], references: References) -> float:
        """The bare number, in percent."""
        return self.measure(hypotheses, references).value

    def measure(
        self, hypotheses: Sequence[str], references: References, *, samples: int | None = None
    ) -> Score:
        """The score; with a number of bootstrap ``samples`` also its confidence interval."""
        if samples is not None:
            return self.compare({"": hypotheses}, references, samples=samples)[""]
        streams = aligned({"": hypotheses}, references)
        found = scorer(self.name, self.tokenize, stem=self.stem)
        result = found.corpus_score(hypotheses, streams)
        return Score(name=result.name, value=float(result.score), signature=str(found.get_signature()))

    def compare(
        self, systems: Mapping[str, Sequence[str]], references: References, *, samples: int = 1000
    ) -> dict[str, Score]:
        """The scores of all systems with their intervals, and p-values against the first.

        Intervals are from that many bootstrap resamples, p-values from as many paired randomizations.
        """
        if not 40 <= samples <= MOST:
            bound = "at least 40 for a 95 % interval" if samples < 40 else f"at most {MOST:,}"
            raise ConfigError(f"samples must be {bound}, got {samples}", hint="1000 is the default")
        streams = aligned(systems, references)
        found = scorer(self.name, self.tokenize, stem=self.stem)

        def from_sums(sums: NDArray[np.float64]) -> float:
            return float(found._compute_score_from_stats(sums.tolist()).score)

        baseline: NDArray[np.float64] | None = None
        scores = {}
        counted: dict[tuple[int, str], list[float]] = {}  # once, where systems agree: TER takes its time
        for name, hypotheses in systems.items():
            fresh = [one for one in enumerate(hypotheses) if one not in counted]
            if fresh:
                places, texts = zip(*fresh, strict=True)
                theirs = [[stream[place] for place in places] for stream in streams]
                counted |= zip(fresh, found._extract_corpus_statistics(texts, theirs), strict=True)
            rows = [counted[one] for one in enumerate(hypotheses)]
            result = found._aggregate_and_compute(rows)
            statistics = np.array(rows, dtype=np.float64)
            signature = found.get_signature()
            signature.update("bs", samples)
            signature.update("ar", None if len(systems) == 1 else samples)
            signature.update("seed", SEED)
            scores[name] = Score(
                name=result.name,
                value=float(result.score),
                signature=str(signature),
                interval=interval(statistics, from_sums, samples),
                p_value=None if baseline is None else p_value(statistics, baseline, from_sums, samples),
            )
            baseline = statistics if baseline is None else baseline
        return scores


def aligned(systems: Mapping[str, Sequence[str]], references: References) -> list[list[str]]:
    """The references as lists, each as long as what every system wrote; anything else is an InputError.

    (sacrebleu itself stops at the end of the shortest, without a word.)
    """
    if isinstance(references, str) or any(isinstance(texts, str) for texts in systems.values()):
        raise InputError("a corpus is a list of texts, got one string", hint="put it into a list: [text]")
    streams = [list(stream) for stream in references if not isinstance(stream, str)]
    if not streams:
        streams = [[text for text in references if isinstance(text, str)]]
    counts = [len(stream) for stream in streams]
    for name, texts in systems.items():
        if any(count != len(texts) for count in counts):
            what = "hypotheses" if name == "" else f"texts of {name!r}"
            raise InputError(
                f"there must be as many {what} as references, got {len(texts)} and "
                f"{', '.join(map(str, counts))}",
                hint="one text per reference, in the same order",
            )
    if not systems or not streams[0]:
        raise InputError(
            "there is nothing to score: no hypotheses", hint="give at least one text and its reference"
        )
    return streams


def metric(name: MetricName, *, tokenize: Tokenize | None = None, stem: bool = False) -> Metric:
    """The metric of that name, ready to be handed to a training loop.

    >>> metric("ter").higher_is_better
    False
    """
    return Metric(name=name, tokenize=tokenize, stem=stem)


def bleu(
    hypotheses: Sequence[str],
    references: References,
    *,
    tokenize: Tokenize = "13a",
    samples: int | None = None,
) -> Score:
    """BLEU: n-grams up to four words that the references have too, with a penalty for brevity.

    >>> round(bleu(["The dog sleeps by the old door."], ["The dog sleeps at the old door."]).value, 2)
    50.0
    """
    return metric("bleu", tokenize=tokenize).measure(hypotheses, references, samples=samples)


def chrf(
    hypotheses: Sequence[str], references: References, *, words: bool = False, samples: int | None = None
) -> Score:
    """chrF: F-score of n-grams of characters; with ``words`` of words too (chrF++)."""
    return metric("chrf++" if words else "chrf").measure(hypotheses, references, samples=samples)


def ter(
    hypotheses: Sequence[str],
    references: References,
    *,
    tokenize: Tokenize | None = None,
    samples: int | None = None,
) -> Score:
    """TER: edits of words and shifts of phrases that are left to do, per word of the reference."""
    return metric("ter", tokenize=tokenize).measure(hypotheses, references, samples=samples)
