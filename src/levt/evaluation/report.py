"""A whole comparison: the scores and counters of several systems on one corpus. Knows no file."""

from collections.abc import Mapping, Sequence

from levt.evaluation.edits import gain
from levt.evaluation.metrics import Metric
from levt.evaluation.score import Score
from levt.evaluation.surface import SIGNATURE, surface, term_use
from levt.evaluation.table import Row

DO_NOTHING = "do nothing"
"""The name of the draft as it is: what every refinement has to beat."""


def report(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    metrics: Sequence[Metric],
    *,
    sources: Sequence[str] | None = None,
    drafts: Sequence[str] | None = None,
    terms: Sequence[Sequence[str]] | None = None,
    samples: int | None = None,
) -> list[Row]:
    """A row per system, and first one for doing nothing where there are drafts.

    With a number of ``samples`` the scores have intervals, and p-values against the first row. Counters use the
    first of several references, and what became of the drafts is judged by words as the metrics find them.
    """
    compared = dict(systems) if drafts is None else {DO_NOTHING: drafts, **systems}
    scores: dict[str, list[Score]] = {name: [] for name in compared}
    for metric in metrics:
        found = (
            {name: metric.measure(texts, references) for name, texts in compared.items()}
            if samples is None
            else metric.compare(compared, references, samples=samples)
        )
        for name, score in found.items():
            scores[name].append(score)
    for name, texts in compared.items():
        scores[name] += surface(texts, references[0], sources).scores()
        if terms is not None:
            use = 100 * term_use(texts, terms)
            scores[name].append(Score(name="terms %", value=use, signature=SIGNATURE))
        if drafts is not None and name != DO_NOTHING:
            tokenize = next((metric.tokenize for metric in metrics), None)
            scores[name] += gain(texts, drafts, references[0], tokenize=tokenize).scores()
    return [Row(name=name, scores=tuple(found)) for name, found in scores.items()]
