"""What the paper claims, beside our numbers: does it hold? Knows no claim.

Systems are compared over the seeds that both have, so that one that was trained once is not set against the mean of
three. Whether a difference may be chance is said by its deviation over seeds, and by a paired test between what the two
wrote, seed by seed.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from levt.evaluation.metrics import Metric
from levt.recipes.reproduce.framework.report import Cell, Table
from levt.recipes.reproduce.parts.averages import Average
from levt.recipes.reproduce.parts.decoding import read_outputs
from levt.recipes.reproduce.parts.models import Made
from levt.recipes.reproduce.parts.prepare import CORPUS
from levt.recipes.reproduce.parts.texts import texts_of

COLUMNS = ("claim", "paper", "ours", "difference", "p", "holds")
READ = (
    "The mean decides whether a claim holds, over the seeds that both systems have; ± is the standard deviation of "
    "their difference over seeds. p is of a paired randomisation test between their outputs, one for each seed: above "
    "0.05 the difference may be chance. A question mark stands where that is so of half of the seeds or more, and the "
    "claim is about the sign of the difference."
)
CHANCE = 0.05
"""A difference with a larger p may be chance."""
Row = list[Cell]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How much better one system is than another."""

    one: float
    """Mean over the seeds that both have."""
    other: float
    by_seed: Sequence[float]
    p_values: Sequence[float] = ()

    @classmethod
    def between(cls, one: float, other: float) -> "Difference":
        """Of two numbers of one seed."""
        return cls(one=one, other=other, by_seed=[one - other])

    @property
    def mean(self) -> float:
        """Over seeds."""
        return self.one - self.other

    def __str__(self) -> str:
        """Its mean and deviation.

        >>> print(Difference(one=28.0, other=27.0, by_seed=[0.5, 1.5]), Difference.between(1.0, 2.0))
        +1.00 ± 0.71 -1.00
        """
        spread = f" ± {statistics.stdev(self.by_seed):.2f}" if len(self.by_seed) > 1 else ""
        return f"{self.mean:+.2f}{spread}"

    @property
    def by_chance(self) -> bool:
        """Whether its sign may be chance: not for most of the seeds a test finds a difference of that sign.

        >>> Difference(one=28.0, other=27.0, by_seed=[2.0, 0.0], p_values=[0.01, 0.9]).by_chance
        True
        """
        sure = [p <= CHANCE and d * self.mean > 0 for d, p in zip(self.by_seed, self.p_values, strict=False)]
        return bool(sure) and 2 * sum(sure) <= len(sure)

    @property
    def p(self) -> str | None:
        """The p-value of each seed."""
        return ", ".join(f"{p:.3f}" for p in self.p_values) or None


@dataclass(frozen=True, kw_only=True)
class Judge:
    """Compares systems on one test set."""

    metric: Metric
    references: Sequence[str]
    trials: int

    @classmethod
    def of(cls, corpus: Path, known: Mapping[str, Any]) -> "Judge":
        """By what ``judged`` says, on the test set of a corpus."""
        _, references = texts_of(corpus / CORPUS, "test")
        return cls(
            metric=Metric(name=known["metric"], tokenize=known["tokenize"]),
            references=references,
            trials=known["trials"],
        )

    def difference(self, one: Average, other: Average) -> Difference:
        """Of two systems, by the metric."""
        name = self.metric.name
        seeds = [seed for seed in one.seeds if seed in other.seeds]
        theirs = [(one.of_seed(name, seed), other.of_seed(name, seed)) for seed in seeds]
        return Difference(
            one=statistics.fmean(a for a, _ in theirs),
            other=statistics.fmean(b for _, b in theirs),
            by_seed=[a - b for a, b in theirs],
            p_values=[self.p_value(one.texts[seed], other.texts[seed]) for seed in seeds],
        )

    def p_value(self, one: Path, other: Path) -> float:
        """How often chance alone makes as large a difference."""
        systems = {name: read_outputs(path)["texts"] for name, path in (("other", other), ("one", one))}
        found = self.metric.compare(systems, self.references, samples=self.trials)["one"].p_value
        assert found is not None
        return found


def judged(made: Made) -> dict[str, Any]:
    """How the systems of a task are compared, as JSON values."""
    return {
        "metric": made.task.selection,
        "tokenize": made.task.tokenize,
        "trials": 40 if made.task.toy else 1_000,
    }


def compared(claim: str, paper: str | None, found: Difference, *, holds: bool, bound: float = 0.0) -> Row:
    """The row of a claim about two systems; the tests, which ask for the sign, say nothing of another ``bound``."""
    verdict = yes(holds) + ("?" if bound == 0 and found.by_chance else "")
    return [claim, paper, f"{found.one:.2f} against {found.other:.2f}", str(found), found.p, verdict]


def stated(claim: str, paper: str | None, ours: str, *, holds: bool) -> Row:
    """The row of a claim about a number."""
    return [claim, paper, ours, None, None, yes(holds)]


def about_two(iterations: float, paper: str | None) -> Row:
    """Whether the mean of our iterations is about two, in the count of the reference, which several pages claim.

    The reference reports the index of the last iteration, from zero: the one that confirms is not counted.
    """
    counted = iterations - 1
    return stated(
        "about 2 iterations (1.5 to 2.5), the confirming one not counted",
        paper,
        f"{counted:.2f}",
        holds=1.5 <= counted <= 2.5,
    )


def yes(holds: bool) -> str:
    """Whether a claim holds, in a word."""
    return "yes" if holds else "no"


def against(paper: Mapping[Any, float], one: Any, other: Any) -> str | None:
    """Two numbers of the paper, where it has both.

    >>> against({"LevT": 27.27, "MaskT": 26.56}, "LevT", "MaskT")
    '27.27 against 26.56'
    """
    return f"{paper[one]:.2f} against {paper[other]:.2f}" if one in paper and other in paper else None


def claims_table(rows: Sequence[Row]) -> Table:
    """Rows of claims as a table, without columns that say nothing."""
    told = [i for i in range(len(COLUMNS)) if any(row[i] is not None for row in rows)]
    return Table(columns=[COLUMNS[i] for i in told], rows=[[row[i] for i in told] for row in rows])
