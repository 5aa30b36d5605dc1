"""Which texts go through the network together: those of similar length, as many as the budget allows."""

from collections.abc import Sequence
from dataclasses import dataclass

from levt.refine.ranges import Range, check_numbers


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How much goes through the network at once; changes speed and memory, never a result."""

    rows: int = 64
    """Most texts in a batch."""
    tokens: int = 8192
    """Most tokens in a batch, padding counted."""
    window: int = 4096
    """Most texts held at a time: within them texts of similar length are brought together."""

    def __post_init__(self) -> None:
        check_numbers("batch", self, dict.fromkeys(("rows", "tokens", "window"), Range(1, 1 << 31)))


def batches(lengths: Sequence[int], budget: Budget) -> list[list[int]]:
    """Numbers of the texts of each batch, longest first; one text is always allowed.

    >>> batches([3, 9, 4, 8], Budget(rows=2))
    [[1, 3], [2, 0]]
    >>> batches([3, 9, 4, 8], Budget(tokens=17))
    [[1], [3, 2], [0]]
    """
    found: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        full = (
            not found
            or len(found[-1]) >= budget.rows
            or (len(found[-1]) + 1) * lengths[found[-1][0]] > budget.tokens
        )
        if full:
            found.append([])
        found[-1].append(i)
    return found
