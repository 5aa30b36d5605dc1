"""How text becomes pieces and back, in the language of ``tokenizers``. Knows no vocabulary and no training.

Two kinds of segmentation. *BPE with byte fallback* takes any text: a space is written ``▁`` and begins a
word, a ``▁`` in the text itself is escaped, a rare character becomes its UTF-8 bytes; every text comes
back exactly. *Given pieces* takes text that was segmented elsewhere, pieces between spaces.
"""

from collections.abc import Sequence

from tokenizers import Regex, decoders, normalizers, pre_tokenizers

from levt.text.specials import SPECIALS, UNK

SPACE = "▁"
"""How a space is written inside a piece."""
ESCAPE = "\ue000"
"""Begins an escape: itself is written ESCAPE 0, a literal ``▁`` is written ESCAPE 1."""
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""The pieces of single bytes, ids 5 … 260."""
BYTE_VALUES = {piece: value for value, piece in enumerate(BYTES)}
"""``<0x41>`` to 65."""

# No piece crosses from letters to punctuation, so no piece can read "<s>" or "<0x41>": what a user types
# is never mistaken for a symbol. ー belongs to both kana; digits stand alone, so no number is a rare piece.
_JAPANESE = r"\p{Han}\p{Hiragana}\p{Katakana}ー"
_UNITS = "|".join(
    [
        rf"{SPACE}?{ESCAPE}[01]",
        rf"{SPACE}?[\p{{L}}\p{{M}}&&[^{_JAPANESE}]]+",
        rf"{SPACE}?\p{{Han}}+",
        rf"{SPACE}?[\p{{Hiragana}}ー]+",
        rf"{SPACE}?[\p{{Katakana}}ー]+",
        rf"{SPACE}?\p{{N}}",
        rf"{SPACE}?[\p{{P}}\p{{S}}&&[^{SPACE}]]+",
        rf"{SPACE}+(?={SPACE}[^{SPACE}])",
        rf"{SPACE}+",
    ]
)


def mark_spaces(normalisation: Sequence[normalizers.Normalizer]) -> normalizers.Normalizer:
    """The text normalisation followed by the escape and the marking of spaces, one more in front."""
    return normalizers.Sequence(
        [
            *normalisation,
            normalizers.Replace(ESCAPE, ESCAPE + "0"),
            normalizers.Replace(SPACE, ESCAPE + "1"),
            normalizers.Replace(" ", SPACE),
            normalizers.Prepend(SPACE),
        ]
    )


def unmark_spaces(text: str) -> str:
    """Undo the escape and the marking of spaces.

    >>> unmark_spaces("▁a▁\\ue0001")
    'a ▁'
    """
    text = text.replace(SPACE, " ").removeprefix(" ")
    return text.replace(ESCAPE + "1", SPACE).replace(ESCAPE + "0", ESCAPE)


def units() -> pre_tokenizers.PreTokenizer:
    """The borders no piece crosses: words, scripts, single digits, punctuation."""
    return pre_tokenizers.Split(Regex(_UNITS), "isolated")


def joined_bpe() -> decoders.Decoder:
    """From pieces back to text: the inverse of ``mark_spaces`` after bytes are put together."""
    return decoders.Sequence(
        [
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Replace(SPACE, " "),
            decoders.Strip(" ", 1, 0),
            decoders.Replace(ESCAPE + "1", SPACE),
            decoders.Replace(ESCAPE + "0", ESCAPE),
        ]
    )


def typed_symbols_unknown() -> normalizers.Normalizer:
    """A piece that reads like a symbol is an unknown piece, never the symbol."""
    names = "|".join(name for name in SPECIALS if name != SPECIALS[UNK])
    return normalizers.Replace(Regex(f"(?<![^ ])(?:{names})(?![^ ])"), SPECIALS[UNK])


def between_spaces() -> pre_tokenizers.PreTokenizer:
    """Pieces stand between spaces."""
    return pre_tokenizers.Split(" ", "removed")


def joined_pieces(continuation: str | None) -> decoders.Decoder:
    """Join pieces by spaces, and where a piece ends in ``continuation`` without one."""
    # WordPiece puts a space before each piece but the first and those with the prefix; none has a space.
    steps: list[decoders.Decoder] = [decoders.WordPiece(prefix=" ", cleanup=False), decoders.Fuse()]
    if continuation is not None:
        steps += [decoders.Replace(continuation + " ", "")]
        steps += [decoders.Replace(Regex(_quoted(continuation) + r"\z"), "")]
    return decoders.Sequence(steps)


def _quoted(text: str) -> str:
    return "".join(f"\\x{{{ord(character):x}}}" for character in text)
