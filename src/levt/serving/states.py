"""From a state in tokens, as an editor sends it, to a job. Knows no HTTP and no tensor."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from levt.engine.engine import Engine
from levt.engine.parting import source_parts
from levt.engine.refining import Job, job_of
from levt.errors import InputError
from levt.refine.options import Options
from levt.refine.places import Place, find, is_whole, whole
from levt.refine.request import Request, Tokens
from levt.refine.steering import Plan, term_tokens
from levt.serving.whole_words import whole_words
from levt.text.parts import byte_value, characters_of, is_text
from levt.text.specials import SPECIALS, UNK
from levt.text.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class Marked:
    """A state with what the person has decided about it; marks may be empty."""

    tokens: Tokens
    locked: tuple[bool, ...] = ()
    glued: tuple[bool, ...] = ()
    drop: tuple[bool, ...] = ()
    counts: tuple[int | None, ...] = ()
    """Placeholders asked for in each gap; None leaves it to the model."""
    words: tuple[int | None, ...] = ()
    """Whole words asked for in each gap, which stay."""
    banned: tuple[Tokens, ...] = ()


def state_job(
    source: str,
    state: Marked,
    terms: Sequence[str],
    options: Options,
    engine: Engine,
    *,
    ordered: bool = False,
) -> list[Job]:
    """The job of a state, or none where there is nothing to do."""
    if not (source.strip() or state.tokens or terms):
        return []
    tokenizer, positions = engine.tokenizers.target, engine.config.max_length
    check_tokens(state.tokens, tokenizer, "tokens")
    for sequence in state.banned:
        check_tokens(sequence, tokenizer, "banned")
    n = len(state.tokens)
    asked = {name: asked_for(name, getattr(state, name), n) for name in ("counts", "words")}
    if both := asked["counts"].keys() & asked["words"].keys():
        raise InputError(f"gap {min(both)} must have counts or words, not both", hint="null for the other")
    [(text, read)] = source_parts(source, engine.tokenizers.source, positions, whole=True)
    request = Request(
        source=read,
        draft=state.tokens,
        locked=state.locked,
        glued=state.glued,
        drop=state.drop,
        open=asked["counts"] | asked["words"],
        only={gap: whole_words(tokenizer) for gap, count in asked["words"].items() if count},
        banned=state.banned,
        options=options,
    )
    if any(token == UNK and lock for token, lock in zip(request.draft, request.locked, strict=True)):
        raise InputError(
            "a piece that is not in the vocabulary cannot be locked",
            hint="the model cannot write it: let it go",
        )
    if terms and (part := broken(request, tokenizer)):
        raise InputError(
            f"beside a locked part of a character, {' '.join(part)}, a term could not be read",
            hint="lock whole characters",
        )
    plan = with_terms(request, terms, tokenizer, ordered=ordered)
    needed = n + sum(len(tokens) for _, tokens in plan.missing) + 2
    if needed > positions:
        raise InputError(
            f"the state has {needed} tokens with its terms and boundaries, the model can hold {positions}",
            hint="edit it sentence by sentence",
        )
    return [job_of(text, plan)]


def asked_for(name: str, given: tuple[int | None, ...], tokens: int) -> dict[int, int]:
    """The gaps where somebody asked for something.

    >>> asked_for("counts", (None, 2, 0), 2)
    {1: 2, 2: 0}
    """
    if given and len(given) != tokens + 1:
        raise InputError(
            f"{name} must have one value per gap ({tokens + 1}), got {len(given)}",
            hint="null leaves a gap to the model",
        )
    return {gap: count for gap, count in enumerate(given) if count is not None}


def check_tokens(tokens: Tokens, tokenizer: Tokenizer, name: str) -> None:
    """Refuse ids that no text has."""
    for i, token in enumerate(tokens):
        if not (len(SPECIALS) <= token < tokenizer.size or token == UNK):
            raise InputError(
                f"{name} must be ids from {len(SPECIALS)} to {tokenizer.size - 1}, got {token} at position {i}",
                hint="/v1/tokenize gives the tokens of a text",
            )


def broken(request: Request, tokenizer: Tokenizer) -> list[str]:
    """The first locked bytes that are no whole characters, none where there are no such bytes."""
    marked = zip(tokenizer.pieces(request.draft), request.locked, strict=True)
    for are_bytes, run in groupby(marked, key=lambda pair: pair[1] and byte_value(pair[0]) is not None):
        pieces = [piece for piece, _ in run]
        if are_bytes and not is_text(bytes(byte_value(piece) or 0 for piece in pieces)):
            return pieces
    return []


def characters_together(request: Request, tokenizer: Tokenizer) -> list[bool]:
    """What is glued, with the bytes of every locked character: nothing may come between them."""
    pieces = tokenizer.pieces(request.draft)
    found = list(request.glued)
    for i in range(1, len(pieces)):
        goes_on = byte_value(pieces[i]) in range(0x80, 0xC0)
        found[i] |= goes_on and request.locked[i - 1] and request.locked[i]
    return found


def with_terms(request: Request, terms: Sequence[str], tokenizer: Tokenizer, *, ordered: bool) -> Plan:
    """The plan of a request: terms that stand in the state are locked, the others still need a place."""
    text = tokenizer.decode(request.draft)
    spans = characters_of(tokenizer, request.draft)
    locked, glued = list(request.locked), characters_together(request, tokenizer)
    # As in a draft of text, a piece that the vocabulary lacks is seen to go.
    drop = [gone or token == UNK for gone, token in zip(request.drop, request.draft, strict=True)]
    owners = [-1] * len(request.draft)
    missing: list[tuple[int, Tokens]] = []
    wanted = [_wanted(term, tokenizer) for term in terms]
    end = 0
    for number, (term, shown) in enumerate(zip(terms, wanted, strict=True)):
        for a, b in whole(text, shown):
            at = [i for i, (start, stop) in enumerate(spans) if start < b and a < stop]
            if not at or any(drop[i] or owners[i] >= 0 for i in at) or (ordered and at[0] < end):
                continue
            for i in at:
                locked[i], owners[i] = True, number
                glued[i] |= i > at[0]
            end = at[-1] + 1
            break
        else:
            missing.append((number, term_tokens(term, tokenizer)))
    placed = Request(
        source=request.source,
        draft=request.draft,
        locked=tuple(locked),
        glued=tuple(glued),
        drop=tuple(drop),
        open=request.open,
        only=request.only,
        banned=request.banned,
        options=request.options,
    )
    held = [held_inside(shown, text, spans, request.locked) for shown in wanted]
    return Plan(
        request=placed,
        missing=tuple(missing),
        owners=tuple(owners),
        ordered=ordered,
        required=tuple(dict.fromkeys(shown for shown, inside in zip(wanted, held, strict=True) if inside)),
        words=tuple(dict.fromkeys(shown for shown, inside in zip(wanted, held, strict=True) if not inside)),
    )


def held_inside(word: str, text: str, spans: Sequence[Place], locked: Sequence[bool]) -> bool:
    """Whether the person has locked a longer word that holds this one: it would be torn to make this one whole."""
    cut = [place for place in find(text, word) if not is_whole(text, place)]
    return any(
        all(lock for (start, stop), lock in zip(spans, locked, strict=True) if start < b and a < stop)
        for a, b in cut
    )


def _wanted(term: str, tokenizer: Tokenizer) -> str:
    wanted = tokenizer.normalise(term).strip()
    if not wanted:
        raise InputError(f"terms: a text must not be blank, got {term!r}", hint="texts that are to appear")
    return wanted
