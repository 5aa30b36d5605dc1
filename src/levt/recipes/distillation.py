"""Settings of a distillation: how a teacher writes the targets of a corpus. Knows no model and no file."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from levt.refine.ranges import GAMMA, MANY, Range, check_numbers

Progress = Callable[[int, int], None]
"""Told the examples done, and all."""
RANGES = {
    "beam": Range(1, MANY),
    "length_penalty": Range(0, 10),
    "max_iterations": Range(1, MANY),
    "empty_gap_penalty": GAMMA,
    "shard": Range(1, math.inf),
    "batch_size": Range(1, math.inf),
}


@dataclass(frozen=True, kw_only=True)
class Distillation:
    """How a teacher writes."""

    beam: int = 4
    """Hypotheses of a teacher that writes from left to right, 1 is greedy; lengths that a masked one tries."""
    length_penalty: float = 1.0
    """α of one that writes from left to right: the log-probability is divided by length^α."""
    max_iterations: int = 10
    """Most iterations of any other teacher."""
    empty_gap_penalty: float = 0.0
    """γ of the paper, for LevT and the Insertion Transformer: larger makes longer texts."""
    from_scratch: bool = False
    """A LevT teacher writes from nothing even where the corpus has drafts."""
    shard: int = 1_000
    """Examples that are finished, and kept, together."""
    batch_size: int = 64
    """Sentences that go through the teacher at once, at most; a GPU wants some hundred, and larger shards."""

    def __post_init__(self) -> None:
        check_numbers("distillation", self, RANGES)
