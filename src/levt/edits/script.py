"""EditScript: the edits of one iteration for one sequence, as plain Python. Knows no tensor and no network.

What ``state.py`` does to a batch of tensors, this does to one list of tokens, slowly and obviously: the two
are compared in the tests. Sequences here are without their boundaries, so n tokens have n + 1 gaps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, TypeVar

from levt.edits.oracle_reference import Tie, align_reference
from levt.edits.read_json import build, read_bools, read_ints, read_object
from levt.errors import InputError, raise_all
from levt.text.specials import BOS, EOS, PAD, PLH, SPECIALS

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class EditScript:
    """Delete, open placeholders, fill them: one iteration.

    >>> script = EditScript(drop=(False, True), counts=(0, 2), fill=(8, 9))
    >>> script.deleted([6, 7])
    (6,)
    >>> script.inserted([6, 7])
    (6, 4, 4)
    >>> script.apply([6, 7])
    (6, 8, 9)
    """

    drop: tuple[bool, ...]
    """One per token, True = delete."""
    counts: tuple[int, ...]
    """Placeholders to open, one per gap of the state after deletion: one more than the tokens kept."""
    fill: tuple[int, ...]
    """One token per placeholder, from left to right."""

    def __post_init__(self) -> None:
        problems = []
        gaps = self.drop.count(False) + 1
        if len(self.counts) != gaps:
            problems.append(
                f"counts must have one number per gap after deletion, {gaps} here, got {len(self.counts)}"
            )
        problems += [
            f"counts must be at least 0, got {count} in gap {gap}"
            for gap, count in enumerate(self.counts)
            if count < 0
        ]
        opened = sum(max(count, 0) for count in self.counts)
        if len(self.fill) != opened:
            problems.append(f"fill must have one token per placeholder, {opened} here, got {len(self.fill)}")
        problems += token_problems(self.fill, "fill")
        raise_all(InputError, "edit script", problems)

    @property
    def is_identity(self) -> bool:
        """True when nothing is deleted and nothing inserted: the iteration only confirms."""
        return not any(self.drop) and not self.fill

    def splice(self, items: Sequence[T], new: Sequence[T]) -> tuple[T, ...]:
        """The same edits on whatever goes with the tokens: drop items, put ``new`` where ``fill`` would go.

        >>> EditScript(drop=(True, False), counts=(0, 1), fill=(9,)).splice(["a", "b"], ["c"])
        ('b', 'c')
        """
        if len(items) != len(self.drop):
            raise InputError(f"the edit script is for {len(self.drop)} tokens, got {len(items)}")
        if len(new) != len(self.fill):
            raise InputError(
                f"the edit script opens {len(self.fill)} placeholders, got {len(new)} to put there"
            )
        kept = [item for item, drop in zip(items, self.drop, strict=True) if not drop]
        source = iter(new)
        spliced = list(islice(source, self.counts[0]))
        for item, count in zip(kept, self.counts[1:], strict=True):
            spliced += [item, *islice(source, count)]
        return tuple(spliced)

    def deleted(self, tokens: Sequence[int]) -> tuple[int, ...]:
        """𝓔(y, d): the state after deletion."""
        return tuple(token for token in self.inserted(tokens) if token != PLH)

    def inserted(self, tokens: Sequence[int]) -> tuple[int, ...]:
        """𝓔(y', p): the state after deletion with its placeholders opened, not yet filled."""
        raise_all(InputError, "edit script", token_problems(tokens, "the state"))
        return self.splice(tokens, [PLH] * len(self.fill))

    def apply(self, tokens: Sequence[int]) -> tuple[int, ...]:
        """𝓔(y'', t): the state after the whole iteration."""
        raise_all(InputError, "edit script", token_problems(tokens, "the state"))
        return self.splice(tokens, self.fill)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"drop": list(self.drop), "counts": list(self.counts), "fill": list(self.fill)}

    @classmethod
    def from_json(cls, value: Any, where: str = "script") -> "EditScript":
        """The script that ``to_json`` wrote; anything else is an InputError."""
        fields = read_object(value, where, {"drop", "counts", "fill"})
        return build(
            cls,
            where,
            drop=read_bools(fields["drop"], f"{where}.drop"),
            counts=read_ints(fields["counts"], f"{where}.counts"),
            fill=read_ints(fields["fill"], f"{where}.fill"),
        )


def token_problems(tokens: Sequence[int], what: str) -> list[str]:
    """What keeps these from being inner tokens of a state: negative ids, boundaries, padding, ``<plh>``."""
    problems = []
    for i, token in enumerate(tokens):
        if token < 0:
            problems.append(f"{what} must hold token ids of at least 0, got {token} at position {i}")
        elif token in (PAD, BOS, EOS, PLH):
            problems.append(f"{what} must not hold {SPECIALS[token]}, got it at position {i}")
    return problems


def between(tokens: Sequence[int], target: Sequence[int], tie: Tie = "leftmost") -> EditScript:
    """The script with the fewest edits that turns ``tokens`` into ``target``: the oracle for one pair.

    Keeps a longest common subsequence; which one, where there are several, is for ``oracle_reference``.

    >>> between([7, 7], [7]).drop
    (False, True)
    >>> between([5, 6], [6, 5])
    EditScript(drop=(False, True), counts=(1, 0), fill=(6,))
    """
    match = align_reference(tokens, target, tie)
    kept = [j for j in match if j >= 0]
    there = set(kept)
    return EditScript(
        drop=tuple(j < 0 for j in match),
        counts=tuple(right - left - 1 for left, right in pairwise((-1, *kept, len(target)))),
        fill=tuple(token for j, token in enumerate(target) if j not in there),
    )
