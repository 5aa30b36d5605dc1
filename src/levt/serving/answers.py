"""From outcomes to what goes over the wire. Knows no HTTP."""

from collections.abc import Sequence
from math import exp
from typing import Any

from levt.edits.words import starts_word
from levt.engine.alternatives import Found, Place
from levt.engine.refining import to_result
from levt.engine.result import Result
from levt.engine.story import Story
from levt.refine.loop import Outcome
from levt.refine.phases import Round
from levt.refine.request import Tokens
from levt.text.parts import characters_of
from levt.text.tokenizer import Tokenizer

SOME = 256
"""Tokens whose characters are found together."""


def result_json(outcomes: Sequence[Outcome], tokenizer: Tokenizer, *, trace: bool) -> dict[str, Any]:
    """The result of a text, from the outcomes of its parts."""
    result = joined(outcomes, tokenizer)
    found = result.to_json() if trace else result.summary()
    del found["alternatives"]
    empty: dict[str, Any] = {"spans": None, "locked": None, "glued": None, "trace": None}
    if not trace:
        return found | empty
    return found | {
        "spans": spans_of(result.tokens, tokenizer),
        "locked": [lock for outcome in outcomes for lock in outcome.locks()],
        "glued": [glue for outcome in outcomes for glue in outcome.glue()],
    }


def joined(outcomes: Sequence[Outcome], tokenizer: Tokenizer) -> Result:
    """One result."""
    if not outcomes:
        return Result.empty(tokenizer)
    return Result.joined([to_result(outcome, tokenizer) for outcome in outcomes])


def tokens_json(tokens: Tokens, tokenizer: Tokenizer) -> dict[str, Any]:
    """Tokens with their text."""
    return {
        "text": tokenizer.decode(tokens),
        "tokens": list(tokens),
        "pieces": tokenizer.pieces(tokens),
    }


def spans_of(tokens: Tokens, tokenizer: Tokenizer) -> list[tuple[int, int]]:
    """For each token the characters that it makes up; of a long text some words at a time, or it would take long.

    >>> tokenizer = Tokenizer.train(["a dog runs"] * 9, 300)
    >>> spans_of(tuple(tokenizer.encode("a dog")), tokenizer)
    [(0, 1), (1, 5)]
    """
    pieces = tokenizer.pieces(tokens)
    found: list[tuple[int, int]] = []
    start = base = 0
    while start < len(tokens):
        end = start + SOME
        while end < len(tokens) and not (starts_word(pieces[end]) or tokenizer.by_pieces):
            end += 1
        # Alone, some words lack the space before the first of them.
        lost = int(start > 0 and _apart(tokens[start - 1 : start + 1], pieces[start], tokenizer))
        part = [(base + lost + a, base + lost + b) for a, b in characters_of(tokenizer, tokens[start:end])]
        found += [(base, part[0][1]), *part[1:]]
        base, start = part[-1][1], end
    return found


def _apart(pair: Tokens, second: str, tokenizer: Tokenizer) -> bool:
    """Whether there is a space between two tokens."""
    if not tokenizer.by_pieces:
        return starts_word(second)
    together, *alone = tokenizer.decode_batch([pair, pair[:1], pair[1:]])
    return len(together) > sum(map(len, alone))


def iteration_event(
    index: int, number: int, before: Tokens, round_: Round, tokenizer: Tokenizer
) -> dict[str, Any]:
    """What is told of one round."""
    story = Story(draft=before, rounds=(round_,), stopped=None, tokenizer=tokenizer)
    [iteration] = story.trace().iterations
    after = round_.script.apply(before)
    return {
        "index": index,
        "number": number,
        "iteration": iteration.to_json(),
        **tokens_json(after, tokenizer),
    }


def alternatives_json(place: Place, found: Found, tokenizer: Tokenizer) -> dict[str, Any]:
    """The alternatives of a place."""
    return {
        "current": None if found.current is None else _probability(found.current),
        "alternatives": [
            {
                **tokens_json(tokens, tokenizer),
                "text": tokenizer.decode((*place.before, *tokens, *place.after)),
                "probability": _probability(logp),
            }
            for tokens, logp in found.alternatives
        ],
    }


def _probability(logp: float) -> float:
    """A probability, whatever a broken policy may have given."""
    return round(exp(min(logp, 0.0)), 6) if logp == logp else 0.0
