"""Settings of a distillation: how a teacher writes the targets of a corpus. Knows no model and no file."""

from collections.abc import Callable
from dataclasses import dataclass

from levt.errors import ConfigError, raise_all

Progress = Callable[[int, int], None]
"""Told the examples done, and all."""


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
    """γ of LevT and of the Insertion Transformer."""
    from_scratch: bool = False
    """Whether a LevT teacher writes from nothing even where the corpus has drafts."""
    shard: int = 1_000
    """Examples that are finished, and kept, together."""
    batch_size: int = 64
    """Sentences that go through the teacher at once, at most; a GPU wants some hundred, and larger shards."""

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be at least 1, got {getattr(self, name)}"
            for name in ("beam", "max_iterations", "shard", "batch_size")
            if getattr(self, name) < 1
        ]
        raise_all(ConfigError, "distillation", problems, hint="`levt distill --help` explains each setting")
