"""What a user may ask of one refinement. Knows no tensor."""

from dataclasses import dataclass

from levt.errors import ConfigError, raise_all


@dataclass(frozen=True, kw_only=True)
class Options:
    """Settings of one request; those of the machine that answers it are the engine's.

    >>> Options(max_iterations=0)
    Traceback (most recent call last):
    levt.errors.ConfigError: options: max_iterations must be at least 1, got 0
    """

    max_iterations: int = 10
    """Stop after this many iterations, whatever happens (the paper's timeout)."""
    empty_gap_penalty: float = 0.0
    """γ of the paper, in [0, 3]: subtracted from the logit of opening no placeholder; larger is longer."""
    min_edit: float = 0.0
    """From 0, rewrite freely, to 1, leave alone: an edit needs a probability above (1 + min_edit) / 2."""
    max_ratio: float = 2.0
    """No state grows longer than this many times the source (boundaries counted)."""
    min_room: int = 10
    """… but always to this many tokens, boundaries counted."""
    max_count: int = 255
    """Most placeholders opened in one gap in one iteration."""
    reread: bool = True
    """Read a finished text anew, and go on where that changes it: refining a result then leaves it alone."""

    def __post_init__(self) -> None:
        problems = []
        if self.max_iterations < 1:
            problems.append(f"max_iterations must be at least 1, got {self.max_iterations}")
        if not -10 <= self.empty_gap_penalty <= 10:
            problems.append(f"empty_gap_penalty must be between -10 and 10, got {self.empty_gap_penalty}")
        if not 0 <= self.min_edit <= 1:
            problems.append(f"min_edit must be between 0 and 1, got {self.min_edit}")
        if not 0 < self.max_ratio <= 100:
            problems.append(f"max_ratio must be above 0 and at most 100, got {self.max_ratio}")
        if self.min_room < 2:
            problems.append(f"min_room must be at least 2, got {self.min_room}")
        if self.max_count < 1:
            problems.append(f"max_count must be at least 1, got {self.max_count}")
        raise_all(ConfigError, "options", problems)

    def limit(self, source: int, draft: int, positions: int) -> int:
        """Longest state allowed, boundaries counted: by the source, the model's positions, never below the draft."""
        return max(min(max(int(self.max_ratio * source), self.min_room), positions), draft)
