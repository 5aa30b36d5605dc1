"""How good post-editing is: the columns of the paper's table, and what became of the drafts. Knows no model.

Triples come with their words apart, so BLEU counts what stands between spaces (``tok:none``) and so does TER, which is
case-sensitive: as the paper scores. A sentence is better or worse by its own TER.
"""

from collections.abc import Mapping, Sequence

from levt.evaluation.edits import gain
from levt.evaluation.metrics import metric
from levt.evaluation.report import DO_NOTHING
from levt.evaluation.score import Score
from levt.evaluation.surface import SIGNATURE
from levt.evaluation.table import Row
from levt.recipes.post_editing_triples import Triples

METRICS = ("bleu", "ter")


def judged(
    outputs: Mapping[str, Sequence[str]], triples: Triples, *, samples: int | None = 1000
) -> list[Row]:
    """A row for doing nothing and for every system: BLEU, TER, and the shares of sentences changed, better and worse.

    With ``samples``, scores have intervals, and p-values against doing nothing.
    """
    systems: dict[str, Sequence[str]] = {DO_NOTHING: triples.drafts, **outputs}
    columns = [compared(name, systems, triples.targets, samples) for name in METRICS]
    rows = []
    for name, texts in systems.items():
        shares = () if name == DO_NOTHING else fate(texts, triples)
        rows.append(Row(name=name, scores=(*(column[name] for column in columns), *shares)))
    return rows


def compared(
    name: str, systems: Mapping[str, Sequence[str]], references: Sequence[str], samples: int | None
) -> dict[str, Score]:
    """The scores of all systems in BLEU or TER, of words between spaces."""
    found = metric("bleu", tokenize="none") if name == "bleu" else metric("ter")
    if samples is None:
        return {system: found.measure(texts, references) for system, texts in systems.items()}
    return found.compare(systems, references, samples=samples)


def fate(texts: Sequence[str], triples: Triples) -> tuple[Score, ...]:
    """The shares of sentences that were changed, and that are better or worse for it, in percent."""
    found = gain(texts, triples.drafts, triples.targets)
    shares = {"changed %": 1 - found.unchanged, "better %": found.better, "worse %": found.worse}
    return tuple(Score(name=k, value=100 * v, signature=SIGNATURE) for k, v in shares.items())
