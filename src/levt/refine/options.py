"""What a user may ask of one refinement. Knows no tensor."""

from dataclasses import dataclass

from levt.refine.ranges import GAMMA, MANY, RATIO, Range, check_numbers

RANGES = {
    "max_iterations": Range(1, MANY),
    "empty_gap_penalty": GAMMA,
    "min_edit": Range(0, 1),
    "max_ratio": RATIO,
    "min_room": Range(2, MANY),
    "max_count": Range(1, MANY),
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """Settings of one request; those of the machine that answers it are the engine's.

    >>> Options(max_iterations=0)
    Traceback (most recent call last):
    levt.errors.ConfigError: options: max_iterations must be at least 1, got 0
    hint: max_iterations is 10 by default
    """

    max_iterations: int = 10
    """Stop after this many iterations, whatever happens (the paper's timeout)."""
    empty_gap_penalty: float = 0.0
    """γ, which the paper takes from [0, 3]: subtracted from the logit of opening no placeholder; larger is longer."""
    min_edit: float = 0.0
    """From 0, rewrite freely, to 1, leave alone: an edit needs a probability above (1 + min_edit) / 2."""
    max_ratio: float = 2.0
    """No state grows longer than this many times the source (boundaries counted)."""
    min_room: int = 10
    """… but always to this many tokens, boundaries counted."""
    max_count: int = 255
    """Most placeholders opened in one gap in one iteration."""
    by_sentence: bool = False
    """Translate each sentence of a text by itself; where something must appear or stay, the text stays whole."""
    reread: bool = True
    """Read a finished text anew, and go on where that changes it: refining a result then leaves it alone.

    Lone bytes that make up no character are taken out of it, and long numbers of the source are put right. False is
    Algorithm 2 and nothing else."""

    def __post_init__(self) -> None:
        check_numbers("options", self, RANGES)

    def limit(self, source: int, draft: int, positions: int) -> int:
        """Longest state allowed, boundaries counted: by the source, the model's positions, never below the draft."""
        return max(min(max(int(self.max_ratio * source), self.min_room), positions), draft)
