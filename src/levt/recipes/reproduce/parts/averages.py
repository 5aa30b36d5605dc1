"""Scores of one system over several seeds. Knows no table."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from levt.recipes.reproduce.framework.step import Step
from levt.recipes.reproduce.parts.scoring import read_scores
from levt.recipes.reproduce.parts.tuning import penalty_of

TEXTS, TUNED = "texts ", "tuned "
"""What the inputs of a report are called that lie behind a score, before the name of the score."""
SHOWN = "± is the standard deviation over seeds; brackets, where there is one seed, are its 95 % bootstrap interval."


@dataclass(frozen=True, kw_only=True)
class Average:
    """One system on one test set."""

    runs: Mapping[str, Mapping[str, Any]]
    """What the step of each seed has left."""
    texts: Mapping[str, Path]
    """By seed, the step that wrote what was scored; those that are known."""
    penalties: Mapping[str, float]
    """By seed, γ; empty for a system that has none."""

    @classmethod
    def of(cls, inputs: Mapping[str, Path], prefix: str) -> "Average":
        """Of all inputs ``prefix/SEED``."""
        return cls(
            runs={seed: read_scores(path) for seed, path in _by_seed(inputs, prefix).items()},
            texts=_by_seed(inputs, f"{TEXTS}{prefix}"),
            penalties={s: penalty_of(path) for s, path in _by_seed(inputs, f"{TUNED}{prefix}").items()},
        )

    @property
    def seeds(self) -> list[str]:
        """Of which seeds there are scores."""
        return list(self.runs)

    def of_seed(self, name: str, seed: str) -> float:
        """A metric, iterations or passes, of one seed."""
        return float(self.runs[seed][name])

    def mean(self, name: str) -> float:
        """The mean over seeds of a metric, of iterations or of passes."""
        return statistics.fmean(self.of_seed(name, seed) for seed in self.runs)

    def surface(self, name: str) -> float:
        """The mean over seeds of a counter."""
        return statistics.fmean(float(run["surface"][name]) for run in self.runs.values())

    def shown(self, name: str) -> str:
        """The mean of a metric with its deviation over seeds, or with the 95 % interval where there is one seed.

        >>> score = {"metric": "bleu", "value": 27.0, "interval": [26.0, 28.0]}
        >>> Average(runs={"1": {"bleu": 27.0, "scores": [score]}}, texts={}, penalties={}).shown("bleu")
        '27.00 (26.00–28.00)'
        >>> Average(runs={"1": {"bleu": 27.0}, "2": {"bleu": 28.0}}, texts={}, penalties={}).shown("bleu")
        '27.50 ± 0.71'
        """
        if len(self.runs) > 1:
            return f"{self.mean(name):.2f} ± {statistics.stdev(self.of_seed(name, s) for s in self.runs):.2f}"
        (run,) = self.runs.values()
        low, high = next(one["interval"] for one in run["scores"] if one["metric"] == name)
        return f"{self.mean(name):.2f} ({low:.2f}–{high:.2f})"

    @property
    def gamma(self) -> str | None:
        """γ of every seed, in their order.

        >>> Average(runs={}, texts={}, penalties={"1": 0.5, "2": 1.0}).gamma
        '0.5, 1'
        """
        return ", ".join(f"{penalty:g}" for penalty in self.penalties.values()) or None


def with_grounds(scores: Mapping[str, Step]) -> dict[str, Step | Path]:
    """Steps of scores, and beside each what was scored and how γ was chosen."""
    found: dict[str, Step | Path] = dict(scores)
    for name, step in scores.items():
        outputs = step.inputs["outputs"]
        assert isinstance(outputs, Step)
        found[f"{TEXTS}{name}"] = outputs
        if "tuned" in outputs.inputs:
            found[f"{TUNED}{name}"] = outputs.inputs["tuned"]
    return found


def _by_seed(inputs: Mapping[str, Path], prefix: str) -> dict[str, Path]:
    """The inputs ``prefix/SEED`` by seed, in order."""
    found = {
        name.rpartition("/")[2]: path for name, path in inputs.items() if name.rpartition("/")[0] == prefix
    }
    return dict(sorted(found.items(), key=lambda item: int(item[0])))
