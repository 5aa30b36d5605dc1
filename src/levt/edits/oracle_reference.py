"""The oracle's alignment in its obvious form: a table of longest common subsequences and a walk back.

Slow on purpose. The fast versions are compared with it; the tie rule is defined here.
"""

from collections.abc import Sequence
from typing import Literal

Tie = Literal["leftmost", "rightmost"]
"""Which of several longest common subsequences is kept."""


def lcs_table(a: Sequence[int], b: Sequence[int]) -> list[list[int]]:
    """L[i][j]: length of the longest common subsequence of ``a[:i]`` and ``b[:j]``."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a, 1):
        for j, z in enumerate(b, 1):
            table[i][j] = table[i - 1][j - 1] + 1 if x == z else max(table[i - 1][j], table[i][j - 1])
    return table


def align_reference(tokens: Sequence[int], target: Sequence[int], tie: Tie = "leftmost") -> list[int]:
    """For each token the index of the target token it is kept as, or -1 where it must go.

    The rule for ties, ``leftmost``: walk back from the right ends; drop the state's token if nothing is
    lost by it, else skip the target's token if nothing is lost by it, else keep. ``rightmost`` is the
    same rule on the mirrored sequences.

    >>> align_reference([5, 9, 5], [8, 5])
    [1, -1, -1]
    >>> align_reference([5, 9, 5], [8, 5], "rightmost")
    [-1, -1, 1]
    """
    if tie == "rightmost":
        mirrored = align_reference(tokens[::-1], target[::-1])
        return [-1 if j < 0 else len(target) - 1 - j for j in mirrored[::-1]]
    table = lcs_table(tokens, target)
    match = [-1] * len(tokens)
    i, j = len(tokens), len(target)
    while i and j:
        if table[i - 1][j] == table[i][j]:
            i -= 1
        elif table[i][j - 1] == table[i][j]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            match[i] = j
    return match
