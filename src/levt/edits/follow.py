"""Following single tokens through a refinement: who they are, when they come, when they go.

Every token of the draft and every insertion has an identity that no other token of the refinement has, so
an animation can move the word that stayed and fade the one that went, even where their texts are equal.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from levt.edits.iteration import Iteration
from levt.text.specials import PLH, SPECIALS


@dataclass(frozen=True, kw_only=True)
class Token:
    """One token, the same in every state that holds it."""

    identity: int
    """0 … for the tokens of the draft, then on in order of insertion; never used twice."""
    token: int
    """Its id."""
    piece: str
    """Its text."""
    born: int
    """The iteration that inserted it, counted from 1; 0 for the draft."""


class Mark(StrEnum):
    """What an iteration did with a token."""

    KEEP = "keep"
    DELETE = "delete"
    INSERT = "insert"


@dataclass(frozen=True, kw_only=True)
class Change:
    """One token of the state before or after an iteration, or of both, and what happened to it."""

    mark: Mark
    """Kept, deleted or inserted."""
    token: Token
    """Which one."""
    before: int | None
    """Its position in the state before the iteration; None when inserted."""
    after: int | None
    """Its position in the state after the iteration; None when deleted."""
    probability: float | None
    """Of keeping, of deleting, or of this token being filled in."""
    count_probability: float | None = None
    """Of the number of placeholders of its gap, for an insertion."""


class Op(NamedTuple):
    """One edit. Positions count from 0, without boundaries."""

    iteration: int
    """Counted from 1."""
    op: str
    """``delete``, ``insert`` (a placeholder) or ``fill``."""
    position: int
    """Where: for a deletion in the state before the iteration, else in the state after it."""
    token: int
    """The token deleted or filled in; ``<plh>`` for ``insert``."""
    piece: str
    """Its text."""
    probability: float | None
    """Of deleting it; of the count of its gap; of this token there."""
    identity: int
    """Which token; an ``insert`` and the ``fill`` of the same placeholder have the same."""


def states(draft: Sequence[Token], iterations: Sequence[Iteration]) -> list[tuple[Token, ...]]:
    """The draft, then the state after each iteration."""
    found = [tuple(draft)]
    used = len(draft)
    for number, iteration in enumerate(iterations, 1):
        pairs = list(zip(iteration.script.fill, iteration.pieces, strict=True))
        new = [
            Token(identity=used + i, token=token, piece=piece, born=number)
            for i, (token, piece) in enumerate(pairs)
        ]
        used += len(new)
        found.append(iteration.script.splice(found[-1], new))
    return found


def changes(draft: Sequence[Token], iterations: Sequence[Iteration]) -> list[tuple[Change, ...]]:
    """What each iteration did, in reading order; between kept tokens, deletions come before insertions."""
    reached = states(draft, iterations)
    return [
        tuple(changes_of(before, after, iteration))
        for before, after, iteration in zip(reached, reached[1:], iterations, strict=False)
    ]


def changes_of(before: Sequence[Token], after: Sequence[Token], iteration: Iteration) -> Iterator[Change]:
    """Both states of one iteration, merged."""
    script = iteration.script
    drop_probs = iteration.drop_probs or (None,) * len(script.drop)
    fill_probs = iter(iteration.fill_probs or (None,) * len(script.fill))
    counts_probs = iteration.counts_probs or (None,) * len(script.counts)
    i = 0
    gap = 0
    # Deletions go out as soon as they are met, so in every gap they come before its insertions.
    for position, token in enumerate((*after, None)):
        while i < len(before) and script.drop[i]:
            yield Change(mark=Mark.DELETE, token=before[i], before=i, after=None, probability=drop_probs[i])
            i += 1
        if token is None:
            return
        if i < len(before) and token.identity == before[i].identity:
            yield Change(mark=Mark.KEEP, token=token, before=i, after=position, probability=drop_probs[i])
            i += 1
            gap += 1
        else:
            yield Change(
                mark=Mark.INSERT,
                token=token,
                before=None,
                after=position,
                probability=next(fill_probs),
                count_probability=counts_probs[gap],
            )


def ops(found: Sequence[Sequence[Change]]) -> Iterator[Op]:
    """Every single edit: per iteration the deletions, then the placeholders, then what fills them."""
    for number, line in enumerate(found, 1):
        for change in line:
            if change.mark is Mark.DELETE and change.before is not None:
                token = change.token
                yield Op(
                    number,
                    "delete",
                    change.before,
                    token.token,
                    token.piece,
                    change.probability,
                    token.identity,
                )
        inserted = [(change.after, change) for change in line if change.mark is Mark.INSERT]
        for position, change in inserted:
            assert position is not None
            yield Op(
                number,
                "insert",
                position,
                PLH,
                SPECIALS[PLH],
                change.count_probability,
                change.token.identity,
            )
        for position, change in inserted:
            assert position is not None
            token = change.token
            yield Op(number, "fill", position, token.token, token.piece, change.probability, token.identity)
