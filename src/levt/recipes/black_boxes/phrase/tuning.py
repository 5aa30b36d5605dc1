"""Weights that suit a dev set: each in turn larger and smaller, whatever gives more BLEU is kept.

The decoder is quick enough to be asked again for every trial, so nothing depends on lists of old hypotheses. The
language model's weight stays: only ratios count. Knows no training.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace

from levt.errors import InputError
from levt.evaluation.metrics import metric
from levt.recipes.black_boxes.phrase.options import Weights
from levt.recipes.black_boxes.phrase.system import PhraseSystem

FACTORS = (0.6, 1.5)
"""How far a weight moves in one trial of the first round; later rounds go half as far."""


def tune(
    system: PhraseSystem,
    sources: Sequence[str],
    references: Sequence[str],
    *,
    rounds: int = 3,
    progress: Callable[[int, int, float], None] = lambda done, total, best: None,
) -> float:
    """Set the system's weights to the best found; gives their BLEU."""
    if len(sources) != len(references) or not sources:
        raise InputError(
            f"tuning needs as many references as sources, got {len(references)} and {len(sources)}",
            hint="at least one of each, line by line",
        )
    chosen = metric("bleu")

    def worth(weights: Weights) -> float:
        system.weights = weights
        return chosen.score(system.translate(sources), references)

    best, weights = worth(system.weights), system.weights
    free = [name for name in asdict(weights) if name != "language"]
    factors = list(FACTORS)
    for round_ in range(rounds):
        for k, name in enumerate(free):
            for factor in factors:
                tried = replace(weights, **{name: getattr(weights, name) * factor})
                if (found := worth(tried)) > best:
                    best, weights = found, tried
            progress(round_ * len(free) + k + 1, rounds * len(free), best)
        factors = [factor**0.5 for factor in factors]
    system.weights = weights
    return best
