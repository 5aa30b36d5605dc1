"""The learning rate as a pure function of progress."""

import math

from levt.training.config import TrainingConfig


def learning_rate(config: TrainingConfig, step: int, progress: float) -> float:
    """The rate of step 1, 2, …; ``progress`` in [0, 1] is the share of the run that is over.

    >>> config = TrainingConfig(learning_rate=0.001, warmup=10)
    >>> [round(learning_rate(config, step, 0.0), 6) for step in (1, 10, 40)]
    [0.0001, 0.001, 0.0005]
    """
    warm = min(1.0, step / config.warmup) if config.warmup else 1.0
    if config.schedule == "inverse-sqrt":
        return config.learning_rate * warm * math.sqrt(max(config.warmup, 1) / max(step, config.warmup, 1))
    left = 1 - min(max(progress, 0.0), 1.0)
    fall = left if config.schedule == "linear" else (1 - math.cos(math.pi * left)) / 2
    return config.learning_rate * warm * fall
