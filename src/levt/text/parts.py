"""Encoding a text so that pieces end at given places, and finding those places again. Knows no vocabulary.

Whoever locks a part of a text needs tokens that are that part and nothing else. Where the tokenizer's pieces
cross a border, only the words it runs through are segmented anew: everything else keeps its usual pieces.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from levt.text.segmentation import BYTE_VALUES, BYTES, ESCAPE, SPACE
from levt.text.specials import SPECIALS
from levt.text.tokenizer import Tokenizer

_UNKNOWN = tuple(len(SPECIALS) + value for value in "\ufffd".encode())
_SEAM = "0"
"""A digit is always a unit of its own, so what follows it is encoded as if it stood inside a text."""


def encode_inside(tokenizer: Tokenizer, text: str) -> list[int]:
    """Tokens of a text that continues another: no space is put in front.

    >>> tokenizer = Tokenizer.train(["a dog runs", "a cat runs"] * 9, 300)
    >>> tokenizer.pieces(encode_inside(tokenizer, "dog"))
    ['do', 'g']
    """
    if tokenizer.by_pieces:
        return tokenizer.encode(text)
    seam = tokenizer.encode(_SEAM)
    tokens = tokenizer.encode(_SEAM + text)
    assert tokens[: len(seam)] == seam, "a digit must be a unit of its own"
    return tokens[len(seam) :]


def encode_cut(tokenizer: Tokenizer, text: str, borders: Iterable[int]) -> tuple[list[int], dict[int, int]]:
    """Tokens of a normalised text, none of which crosses a border, and how many stand before each border.

    A border is a number of characters. Texts given in pieces can be cut between pieces only; where the tokenizer
    collapses white space, no border may stand behind a space.

    >>> tokenizer = Tokenizer.train(["a dog runs", "a cat runs"] * 9, 300)
    >>> tokens, before = encode_cut(tokenizer, "a dog", [1, 4])
    >>> tokenizer.pieces(tokens), before
    (['▁a', '▁do', 'g'], {1: 1, 4: 2})
    """
    wanted = sorted(set(borders))
    if tokenizer.by_pieces:
        before = {border: len([p for p in text[:border].split(" ") if p]) for border in wanted}
        return tokenizer.encode(text), before
    cuts = [0, len(text)]
    while True:
        tokens, before = _joined(tokenizer, text, cuts)
        # In a text with U+FFFD a broken character looks like a whole one, so there only cuts are trusted.
        known = before if "\ufffd" in text else {**_prefixes(tokenizer, tokens, text), **before}
        missing = [border for border in wanted if border not in known]
        if not missing:
            return tokens, {border: known[border] for border in wanted}
        cuts = sorted({*cuts, *missing})


def _joined(tokenizer: Tokenizer, text: str, cuts: Sequence[int]) -> tuple[list[int], dict[int, int]]:
    """The parts between the cuts encoded one by one."""
    tokens: list[int] = []
    before = {0: 0}
    for start, end in pairwise(cuts):
        part = text[start:end]
        tokens += encode_inside(tokenizer, part) if start else tokenizer.encode(part)
        before[end] = len(tokens)
    return tokens, before


def _prefixes(tokenizer: Tokenizer, tokens: Sequence[int], text: str) -> dict[int, int]:
    """How many tokens make up each prefix of the text that is made up of whole tokens."""
    found: dict[int, int] = {}
    for count, prefix in enumerate(tokenizer.decode_batch(tokens[:i] for i in range(len(tokens) + 1))):
        if text.startswith(prefix):
            # The second half of an escape shows nothing of its own: it belongs to the first, so the last one counts.
            found[len(prefix)] = count
    return found


def characters_of(tokenizer: Tokenizer, tokens: Sequence[int]) -> list[tuple[int, int]]:
    """For each token, the characters of the decoded text that it makes up; bytes of one character share it.

    >>> tokenizer = Tokenizer.train(["a dog runs", "a cat runs"] * 9, 300)
    >>> characters_of(tokenizer, tokenizer.encode("a dög"))
    [(0, 1), (1, 2), (2, 3), (3, 4), (3, 4), (4, 5)]
    """
    groups = shown_together(tokenizer.pieces(tokens))
    ends = [0]
    # Lengths may shrink only inside a character, and groups do not end there.
    for prefix in tokenizer.decode_batch(tokens[:end] for _, end in groups):
        ends.append(max(ends[-1], len(prefix)))
    spans: list[tuple[int, int]] = []
    for (first, last), span in zip(groups, pairwise(ends), strict=True):
        spans += [span] * (last - first)
    return spans


def shown_together(pieces: Sequence[str]) -> list[tuple[int, int]]:
    """Tokens that are shown together: the bytes of one character; broken bytes and all else stand alone."""
    groups: list[tuple[int, int]] = []
    i = 0
    while i < len(pieces):
        end = i
        while end < len(pieces) and pieces[end] in BYTE_VALUES:
            end += 1
        if end == i:
            groups.append((i, i + 1))
            i += 1
            continue
        raw = bytes(BYTE_VALUES[piece] for piece in pieces[i:end])
        try:
            sizes = [len(character.encode()) for character in raw.decode()]
        except UnicodeDecodeError:
            sizes = [1] * len(raw)
        for size in sizes:
            groups.append((i, i + size))
            i += size
    return groups


def broken_bytes(tokenizer: Tokenizer, tokens: Sequence[int]) -> list[int]:
    """Where in a text bytes stand that make up no character; without them the others do.

    >>> tokenizer = Tokenizer.train(["a dog runs"] * 9, 300)
    >>> tokens = tokenizer.encode("a dög")
    >>> broken_bytes(tokenizer, tokens), broken_bytes(tokenizer, [*tokens[:3], *tokens[4:]])
    ([], [3])
    """
    if tokenizer.by_pieces:
        return []
    found: list[int] = []
    i = 0
    while i < len(tokens):
        run = i
        while run < len(tokens) and 0 <= tokens[run] - len(SPECIALS) < len(BYTES):
            run += 1
        raw = bytes(token - len(SPECIALS) for token in tokens[i:run])
        start = 0
        while start < len(raw):
            size = _character(raw[start : start + 4])
            if not size:
                found.append(i + start)
            start += max(size, 1)
        i = run + 1
    return found


def written_in_error(tokenizer: Tokenizer, tokens: Sequence[int], *given: Sequence[int]) -> list[int]:
    """Where bytes stand that nobody meant: those of no character, and those of U+FFFD unless a given text has one.

    >>> tokenizer = Tokenizer.train(["a dog runs"] * 9, 300)
    >>> tokens = tokenizer.encode("a \ufffd dog")
    >>> written_in_error(tokenizer, tokens), written_in_error(tokenizer, tokens, tokenizer.encode("\ufffd"))
    ([2, 3, 4], [])
    """
    found = broken_bytes(tokenizer, tokens)
    if not tokenizer.by_pieces and not any(_unknown(text) for text in given):
        found = sorted({*found, *(i + j for i in _unknown(tokens) for j in range(len(_UNKNOWN)))})
    return found


def _unknown(tokens: Sequence[int]) -> list[int]:
    """Where U+FFFD stands; bytes have the same tokens in every vocabulary."""
    return [i for i in range(len(tokens)) if tuple(tokens[i : i + len(_UNKNOWN)]) == _UNKNOWN]


def _character(raw: bytes) -> int:
    """How many bytes the first character takes, 0 where there is none.

    >>> _character("é!".encode()), _character(b"\\xa9!")
    (2, 0)
    """
    return next((size for size in range(1, len(raw) + 1) if is_text(raw[:size])), 0)


def is_text(raw: bytes) -> bool:
    """Whether bytes make up whole characters.

    >>> is_text("é".encode()), is_text(b"\\xc3")
    (True, False)
    """
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def led_by(tokenizer: Tokenizer, tokens: Sequence[int], space: str) -> list[int]:
    """Tokens of a text that follows another one with this white space between them; the text begins with none.

    >>> tokenizer = Tokenizer.train(["a dog runs", "a cat runs"] * 9, 300)
    >>> dog = tokenizer.encode("dog")
    >>> tokenizer.pieces(led_by(tokenizer, dog, "\\t")), led_by(tokenizer, dog, " ") == dog
    (['<0x09>', 'do', 'g'], True)
    """
    if tokenizer.by_pieces or not tokens:
        return list(tokens)
    # Where the tokenizer collapses white space, all of it is one space.
    space = tokenizer.normalise(_SEAM + space + _SEAM)[len(_SEAM) : -len(_SEAM)]
    [first] = tokenizer.pieces(tokens[:1])
    if first.startswith(SPACE):
        if space == " ":
            return list(tokens)
        end = 1 + first.endswith(ESCAPE)
        return [*encode_inside(tokenizer, space + tokenizer.decode(tokens[:end])), *tokens[end:]]
    one = tokenizer.id_of(SPACE) if space == " " else None
    return [*(encode_inside(tokenizer, space) if one is None else [one]), *tokens]


def byte_value(piece: str) -> int | None:
    """The value of a piece that is a single byte, which its neighbours may complete or break; else None.

    >>> byte_value("<0x41>"), byte_value("A")
    (65, None)
    """
    return BYTE_VALUES.get(piece)
