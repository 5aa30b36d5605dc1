"""ROUGE as a metric of sacrebleu, so that it has the same kind of signature and statistics as BLEU.

The score of a corpus is the mean F1 of its sentences. The package's own way of finding words, ``ascii``, takes
runs of a-z and 0-9 in lower case and nothing else: right for English alone.
"""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from levt.errors import MissingExtra

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

NAMES = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L"}
"""What the package calls each kind, and what readers do."""


class Words:
    """A tokenizer of sacrebleu in the form that rouge-score expects, in lower case like its own."""

    def __init__(self, tokenizer: Callable[[str], str]) -> None:
        self.tokenizer = tokenizer

    def tokenize(self, text: str) -> list[str]:
        """The words of a text."""
        return self.tokenizer(text.lower()).split()


def rouge_scorer(kind: str, *, stem: bool, tokenizer: Any = None) -> "Metric":
    """ROUGE of one kind, a key of ``NAMES``; ``tokenizer`` is one of sacrebleu's, ``None`` means ``ascii``."""
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ModuleNotFoundError:
        raise MissingExtra("rouge-score", "eval") from None
    from sacrebleu.metrics.base import Metric, Score, Signature

    words = None if tokenizer is None else Words(tokenizer)
    scorer = RougeScorer([kind], use_stemmer=stem, tokenizer=words)

    class RougeSignature(Signature):
        def __init__(self, args: dict[str, Any]) -> None:
            super().__init__(args)
            tok = "ascii" if tokenizer is None else tokenizer.signature()
            self.info.update(case="lc", tok=tok, stem=stem, version=f"rouge-score-{version('rouge_score')}")

    class Rouge(Metric):
        _SIGNATURE_TYPE = RougeSignature

        def __init__(self) -> None:
            super().__init__()  # type: ignore[no-untyped-call]

        def _preprocess_segment(self, sent: str) -> str:
            return sent

        def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
            return {"refs": list(refs)}

        def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[float]:
            best = scorer.score_multi(ref_kwargs["refs"], hypothesis)[kind]
            return [float(best.fmeasure), 1.0]

        def _compute_score_from_stats(self, stats: Sequence[float]) -> Score:
            return Score(NAMES[kind], float(100 * stats[0] / stats[1]))

        def _aggregate_and_compute(self, stats: Sequence[Sequence[float]]) -> Score:
            return self._compute_score_from_stats([sum(column) for column in zip(*stats, strict=True)])

    return Rouge()
