"""From a wish in text to a request in tokens. Knows no policy.

A kept text becomes tokens that are locked (none may go) and glued (nothing may come between): so it survives
in tokens. That it survives in the decoded text is for ``guard`` to see to, when all is done.
"""

from collections import Counter
from dataclasses import dataclass

from levt.errors import InputError
from levt.refine.places import Place, find, is_whole, spaceless, whole
from levt.refine.request import Request, Tokens
from levt.refine.wish import Span, Wish
from levt.text.parts import encode_cut, encode_inside
from levt.text.specials import UNK
from levt.text.tokenizer import Tokenizer

_SEAM = "0"
"""What no normalisation changes or joins to what stands before."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A request, and what of the wish a request cannot say."""

    request: Request
    """What is decided."""
    missing: tuple[tuple[int, Tokens], ...] = ()
    """Terms that still need a place: number and tokens of each."""
    owners: tuple[int, ...] = ()
    """One per token of the draft: the number of the term it belongs to, or -1."""
    ordered: bool = False
    """The terms must stand in the order of their numbers."""
    required: tuple[str, ...] = ()
    """Texts that must stand in the decoded result, be it inside a word: what was kept of a draft."""
    words: tuple[str, ...] = ()
    """Texts that must stand in it as whole words: the terms."""
    forbidden: tuple[str, ...] = ()
    """Texts that must not, as whole words."""
    reread: bool = False
    """Whether the result is read again as text."""
    numbers: tuple[str, ...] = ()
    """The numbers of the source, where long ones of the result are to be put right."""
    lead: str | None = None
    """White space before the result, where it follows another part of the same text."""


def plan(wish: Wish, source: Tokens, tokenizer: Tokenizer) -> Plan:
    """Locate everything in the draft, and cut the draft's tokens where something begins or ends."""
    text = wish.draft if tokenizer.by_pieces else tokenizer.normalise(wish.draft)
    look = _Look(wish.draft, text, tokenizer)
    kept = look.kept(wish)
    terms = look.terms(wish)
    crossed, forbidden = look.crossed(wish)
    wanted = [text[a:b] for a, b in kept], [look.wanted(term) for term in wish.terms], forbidden
    # A piece may be shown as nothing, as a lone mark of continuation is: nothing stands everywhere.
    required, words, must_not = (
        tuple(dict.fromkeys(filter(None, map(look.shown, parts)))) for parts in wanted
    )
    _refuse_conflicts(required + words, must_not, kept + [p for p in terms if p], crossed, text)

    asked = [(look.before_space(look.moved(at)), count) for at, count in wish.insert_at.items()]
    protected = [look.with_space(p) for p in kept + [p for p in terms if p]]
    gone = [look.with_space(p) for p in crossed]
    draft, before = encode_cut(
        tokenizer, text, [*(at for at, _ in asked), *(b for p in protected + gone for b in p)]
    )
    for at, count in asked:
        _refuse_opening(
            at, [p for p in protected if count and before[p[0]] < before[at] < before[p[1]]], text
        )
    locked, glued, drop = ([False] * len(draft) for _ in range(3))
    for start, end in protected:
        for i in range(before[start], before[end]):
            locked[i] = True
            glued[i] |= i > before[start]
            if draft[i] == UNK:
                raise InputError(
                    f"{text[start:end].strip()!r} must stay, but has a piece that is not in the vocabulary",
                    hint="the model cannot write it: let it go, or write it in pieces that it knows",
                )
    for start, end in gone:
        for i in range(before[start], before[end]):
            drop[i] = not locked[i]
    for i, token in enumerate(draft):
        # A piece that the vocabulary lacks would be passed over in the text: let it be seen to go.
        drop[i] |= token == UNK and not locked[i]
    owners = [-1] * len(draft)
    missing = []
    for number, (term, place) in enumerate(zip(wish.terms, terms, strict=True)):
        if place is None:
            missing.append((number, term_tokens(term, tokenizer)))
            continue
        start, end = look.with_space(place)
        owners[before[start] : before[end]] = [number] * (before[end] - before[start])
    # Places on both sides of a space are one gap, and so are those inside a given piece.
    opened = Counter[int]()
    for at, count in asked:
        opened[before[at]] += count
    usual = look.banned(forbidden)
    usual += [tuple(draft[before[a] : before[b]]) for a, b in gone if text[a:b].strip() in forbidden]
    request = Request(
        source=source,
        draft=tuple(draft),
        locked=tuple(locked),
        glued=tuple(glued),
        drop=tuple(drop),
        open=dict(opened),
        banned=tuple(dict.fromkeys(sequence for sequence in usual if UNK not in sequence)),
        options=wish.options,
    )
    return Plan(
        request=request,
        missing=tuple(missing),
        owners=tuple(owners),
        ordered=wish.ordered,
        required=required,
        words=words,
        forbidden=must_not,
        reread=wish.options.reread and not wish.steered,
    )


def term_tokens(term: str, tokenizer: Tokenizer) -> Tokens:
    """Tokens of a term as a word of its own; scripts without spaces get none in front."""
    text = term.strip() if tokenizer.by_pieces else tokenizer.normalise(term).strip()
    inside = text and spaceless(text[0]) and not tokenizer.by_pieces
    tokens = encode_inside(tokenizer, text) if inside else tokenizer.encode(text)
    if not tokens or UNK in tokens:
        raise InputError(
            f"the term {term!r} cannot be written with this model's vocabulary",
            hint="this model takes texts in pieces between spaces: give the term in its pieces"
            if tokenizer.by_pieces
            else "it consists of nothing that is seen",
        )
    return tuple(tokens)


@dataclass(frozen=True)
class _Look:
    """Looks things up in a draft."""

    raw: str
    """The draft as it was given; spans count its characters."""
    text: str
    """The draft as the tokenizer sees it; places count its characters."""
    tokenizer: Tokenizer

    def wanted(self, text: str) -> str:
        return (text if self.tokenizer.by_pieces else self.tokenizer.normalise(text)).strip()

    def shown(self, text: str) -> str:
        """A text as it will be decoded."""
        return self.tokenizer.normalise(text) if self.tokenizer.by_pieces else text

    def moved(self, at: int) -> int:
        """A place in the raw draft as a place in the text (inexact only where normalising changed it before)."""
        if self.raw == self.text:
            return at
        # White space at an end may be taken away: here it stands before something.
        return min(len(self.tokenizer.normalise(self.raw[:at] + _SEAM)) - len(_SEAM), len(self.text))

    def nearest(self, span: Span) -> Place:
        """The place of a span of the raw draft."""
        wanted = self.wanted(self.raw[span[0] : span[1]])
        places = find(self.text, wanted, by_pieces=self.tokenizer.by_pieces)
        skipped = len(self.raw[span[0] : span[1]]) - len(self.raw[span[0] : span[1]].lstrip())
        at = self.moved(span[0] + skipped)
        if not wanted or not places:
            raise InputError(
                f"the span {span[0]} … {span[1]} of the draft, {self.raw[span[0] : span[1]]!r}, cannot be cut out",
                hint="choose whole pieces"
                if self.tokenizer.by_pieces
                else "choose whole characters, with their accents",
            )
        return min(places, key=lambda place: abs(place[0] - at))

    def kept(self, wish: Wish) -> list[Place]:
        found: list[Place] = []
        for item in wish.keep:
            if isinstance(item, str):
                places = find(self.text, self.wanted(item), by_pieces=self.tokenizer.by_pieces)
                if not places or not self.wanted(item):
                    raise InputError(
                        f"keep: the draft does not hold {item!r}",
                        hint="to have a text in the result that the draft lacks, give it as a term",
                    )
                found.append(next((place for place in places if place not in found), places[0]))
            else:
                found.append(self.nearest(item))
        return found

    def terms(self, wish: Wish) -> list[Place | None]:
        """For each term a place of its own in the draft, or None."""
        found: list[Place | None] = []
        end = 0
        for term in wish.terms:
            places = find(self.text, self.wanted(term), by_pieces=self.tokenizer.by_pieces)
            free = [
                place
                for place in sorted(places)
                if (self.tokenizer.by_pieces or is_whole(self.text, place))
                and place not in found
                and (not wish.ordered or place[0] >= end)
            ]
            found.append(free[0] if free else None)
            end = free[0][1] if free else end
        return found

    def crossed(self, wish: Wish) -> tuple[list[Place], list[str]]:
        """Places to cross out, and texts that must not come back."""
        places: list[Place] = []
        forbidden: list[str] = []
        for item in wish.drop:
            if isinstance(item, str):
                forbidden.append(self.wanted(item))
                places += self.whole(forbidden[-1])
            else:
                places.append(self.nearest(item))
        for start, end in places:
            # The word crossed out in one place may stay in another; then it may be written again, too.
            wanted = self.text[start:end]
            if is_whole(self.text, (start, end)) and all(place in places for place in self.whole(wanted)):
                forbidden.append(wanted)
        return list(dict.fromkeys(places)), list(dict.fromkeys(forbidden))

    def whole(self, wanted: str) -> list[Place]:
        by_pieces = self.tokenizer.by_pieces
        return find(self.text, wanted, by_pieces=True) if by_pieces else whole(self.text, wanted)

    def banned(self, forbidden: list[str]) -> list[Tokens]:
        """The usual tokens of texts that must not come back."""
        how = [
            (encode_inside if spaceless(text[0]) else Tokenizer.encode, text) for text in forbidden if text
        ]
        return [tuple(encode(self.tokenizer, text)) for encode, text in how]

    def before_space(self, at: int) -> int:
        """A place without the space before it, which belongs to the word behind it."""
        return at - 1 if at and self.text[at - 1] == " " else at

    def with_space(self, place: Place) -> Place:
        """A place with the space before it: that is where its first token begins."""
        return self.before_space(place[0]), place[1]


def _refuse_opening(at: int, torn: list[Place], text: str) -> None:
    for start, end in torn:
        raise InputError(
            f"insert_at: {text[start:end].strip()!r} must stay whole, got a place inside it, "
            f"behind {text[start:at].strip()!r}",
            hint="open placeholders before or behind what must stay",
        )


def _refuse_conflicts(
    required: tuple[str, ...],
    forbidden: tuple[str, ...],
    protected: list[Place],
    crossed: list[Place],
    text: str,
) -> None:
    for gone in forbidden:
        for kept in required:
            if whole(kept, gone):
                raise InputError(
                    f"{kept!r} must stay or appear, but {gone!r} must go", hint="drop one of the two"
                )
    for a, b in crossed:
        for c, d in protected:
            if a < d and c < b:
                raise InputError(
                    f"{text[a:b]!r} is crossed out, but overlaps {text[c:d]!r}, which must stay",
                    hint="drop one of the two",
                )
