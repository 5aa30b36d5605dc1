"""Scores of one system over several seeds. Knows no table."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from levt.recipes.reproduce.parts.scoring import read_scores


@dataclass(frozen=True, kw_only=True)
class Average:
    """One system on one test set."""

    runs: Sequence[Mapping[str, Any]]
    """What the step of each seed has left."""

    @classmethod
    def of(cls, inputs: Mapping[str, Path], prefix: str) -> "Average":
        """Of all inputs ``prefix/SEED``."""
        return cls(
            runs=[read_scores(path) for name, path in sorted(inputs.items()) if _system(name) == prefix]
        )

    def mean(self, name: str) -> float:
        """The mean over seeds of a metric, of iterations or of passes."""
        return statistics.fmean(float(run[name]) for run in self.runs)

    def surface(self, name: str) -> float:
        """The mean over seeds of a counter."""
        return statistics.fmean(float(run["surface"][name]) for run in self.runs)

    def shown(self, name: str) -> str:
        """The mean of a metric with its deviation over seeds, or with the 95 % interval where there is one seed.

        >>> score = {"metric": "bleu", "value": 27.0, "interval": [26.0, 28.0]}
        >>> Average(runs=[{"bleu": 27.0, "scores": [score]}]).shown("bleu")
        '27.00 (26.00–28.00)'
        >>> Average(runs=[{"bleu": 27.0}, {"bleu": 28.0}]).shown("bleu")
        '27.50 ± 0.71'
        """
        if len(self.runs) > 1:
            return f"{self.mean(name):.2f} ± {statistics.stdev(float(run[name]) for run in self.runs):.2f}"
        low, high = next(one["interval"] for one in self.runs[0]["scores"] if one["metric"] == name)
        return f"{self.mean(name):.2f} ({low:.2f}–{high:.2f})"


def _system(name: str) -> str:
    return name.rpartition("/")[0]


def verdict(claim: str, ours: str, holds: bool) -> list[str]:
    """A row of a table of claims."""
    return [claim, ours, "yes" if holds else "no"]
