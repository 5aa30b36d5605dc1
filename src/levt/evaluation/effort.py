"""What help is worth to a person who edits: keystrokes with and without the model's proposals. Knows no model.

The person turns a text into the reference by the cheapest edits: a *place* is a stretch of changes between words that
stay; going there costs one keystroke, deleting a word one, and typing a word one for each character and one for
the space. Three ways to be helped, each compared with editing the draft alone:

- ``accept``: the model proposes a text; the person takes it (one keystroke) and edits the rest, or leaves it (one
  keystroke) and edits the draft, whichever is cheaper: a person who judges well.
- ``delete``: the person deletes what is wrong in the draft, paying for places and words; the model fills in (its
  proposals are refinements with the oracle's deletions); the person edits the rest.
- ``ask``: the person deletes and says how many words go where, one keystroke for each gap; the model writes them
  (proposals with the oracle's deletions and placeholders); the person edits the rest.

In the last two, help that costs more than it saves is not asked for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from levt.errors import ConfigError, raise_all
from levt.evaluation.score import Score
from levt.evaluation.surface import SIGNATURE, same_length

Help = Literal["accept", "delete", "ask"]


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Keystrokes of each action."""

    go: float = 1.0
    """Going to a place where something is to change."""
    delete: float = 1.0
    """Deleting a word."""
    type: float = 1.0
    """Typing a character; a word has one more, for its space."""
    decide: float = 1.0
    """Accepting or refusing a proposal."""
    ask: float = 1.0
    """Asking for a number of words in a gap."""

    def __post_init__(self) -> None:
        problems = [
            f"{k} must be finite and at least 0, got {v}"
            for k, v in vars(self).items()
            if not 0 <= v < math.inf
        ]
        raise_all(ConfigError, "costs", problems, hint="1 is the default of each")


@dataclass(frozen=True, kw_only=True)
class Keystrokes:
    """Means over the sentences of a corpus."""

    alone: float
    """Keystrokes from the draft to the reference without help."""
    helped: float
    """The same with help."""
    used: float
    """Share of the sentences in which help was used."""

    @property
    def saved(self) -> float:
        """Share of the keystrokes that help saved; less than 0 where it cost more."""
        return 1 - self.helped / self.alone if self.alone else 0.0

    def scores(self) -> tuple[Score, ...]:
        """The columns of a table."""
        named = {"keystrokes": self.helped, "saved %": 100 * self.saved, "used %": 100 * self.used}
        return tuple(Score(name=k, value=v, signature=SIGNATURE) for k, v in named.items())


@dataclass(frozen=True, kw_only=True)
class Edits:
    """The cheapest way from one text to another."""

    cost: float
    """Keystrokes."""
    kept: tuple[tuple[int, int], ...]
    """Places of each word that stays: in the first text and in the second."""


def by_hand(text: str, reference: str, costs: Costs | None = None) -> Edits:
    """The cheapest edits of words that turn a text into the reference.

    >>> by_hand("a dog walk", "a dog walks").cost  # go there, delete one word, type five letters and a space
    8.0
    """
    costs = costs or Costs()
    x, y = text.split(), reference.split()
    typing = [costs.type * (len(word) + 1) for word in y]
    # table[i][j]: cheapest for x[:i] → y[:j], when the last word was kept (or nothing came), and when at a place.
    table = [[(math.inf, math.inf)] * (len(y) + 1) for _ in range(len(x) + 1)]
    for i in range(len(x) + 1):
        for j in range(len(y) + 1):
            kept = 0.0 if i == j == 0 else math.inf
            if i and j and x[i - 1] == y[j - 1]:
                kept = min(table[i - 1][j - 1])
            place = math.inf
            if i:
                before, there = table[i - 1][j]
                place = min(place, min(before + costs.go, there) + costs.delete)
            if j:
                before, there = table[i][j - 1]
                place = min(place, min(before + costs.go, there) + typing[j - 1])
            table[i][j] = (kept, place)
    return Edits(cost=min(table[-1][-1]), kept=_walk(table, x, y, typing, costs))


def _walk(
    table: list[list[tuple[float, float]]], x: list[str], y: list[str], typing: list[float], costs: Costs
) -> tuple[tuple[int, int], ...]:
    """The words that stay on a cheapest way, walking back from the end."""
    i, j = len(x), len(y)
    at_place = table[i][j][1] < table[i][j][0]
    kept: list[tuple[int, int]] = []
    while i or j:
        if not at_place:
            i, j = i - 1, j - 1
            kept.append((i, j))
            at_place = table[i][j][1] < table[i][j][0]
            continue
        ways = []
        if i:
            before, there = table[i - 1][j]
            ways += [
                (before + costs.go + costs.delete, i - 1, j, False),
                (there + costs.delete, i - 1, j, True),
            ]
        if j:
            before, there = table[i][j - 1]
            more = typing[j - 1]
            ways += [(before + costs.go + more, i, j - 1, False), (there + more, i, j - 1, True)]
        _, i, j, at_place = min(ways)
    return tuple(reversed(kept))


def asking(draft: str, reference: str, costs: Costs | None = None, *, numbers: bool) -> float:
    """Keystrokes to delete what is wrong in a draft and, with ``numbers``, to say how many words go where.

    >>> asking("a big dog walk", "a dog walks home", numbers=True)  # two places, two words, one gap
    5.0
    """
    costs = costs or Costs()
    x, y = draft.split(), reference.split()
    kept = by_hand(draft, reference, costs).kept
    total = 0.0
    for (left, before), (right, after) in pairwise([(-1, -1), *kept, (len(x), len(y))]):
        deleted, inserted = right - left - 1, after - before - 1
        total += costs.delete * deleted
        if numbers and inserted:
            total += costs.ask
        if deleted or (numbers and inserted):
            total += costs.go
    return total


def simulate(
    drafts: Sequence[str],
    proposals: Sequence[str],
    references: Sequence[str],
    *,
    help: Help = "accept",
    costs: Costs | None = None,
) -> Keystrokes:
    """Keystrokes with and without help; proposals are what the model wrote under that kind of help.

    >>> simulate(["a dog walk"], ["a dog walks"], ["a dog walks"]).saved
    0.875
    """
    if help not in get_args(Help):
        raise ConfigError(
            f"help must be one of {', '.join(get_args(Help))}, got {help!r}", hint="accept is the default"
        )
    same_length(drafts, proposals=proposals, references=references)
    costs = costs or Costs()
    alone = helped = used = 0.0
    for draft, proposal, reference in zip(drafts, proposals, references, strict=True):
        without = by_hand(draft, reference, costs).cost
        rest = by_hand(proposal, reference, costs).cost
        if help == "accept":
            # Who sees no difference has nothing to decide.
            decision = 0.0 if draft.split() == proposal.split() else costs.decide
            ways = (decision + without, decision + rest)
        else:
            ways = (without, asking(draft, reference, costs, numbers=help == "ask") + rest)
        alone += without
        helped += min(ways)
        used += ways[1] < ways[0]
    count = len(drafts)
    return Keystrokes(alone=alone / count, helped=helped / count, used=used / count)
