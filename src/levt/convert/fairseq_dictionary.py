"""fairseq's dict.txt, one ``piece count`` a line, and the order of its ids in ours. Knows no tensor.

fairseq counts ``<s>`` 0, ``<pad>`` 1, ``</s>`` 2, ``<unk>`` 3 and then the file; ours are in
``levt.text.specials``. Its ``<unk>`` is also its placeholder, so that row serves ``<unk>`` and ``<plh>``.
"""

from pathlib import Path

from levt.errors import InputError, raise_all, reason
from levt.text.specials import BOS, EOS, PAD, PLH, UNK

FAIRSEQ_SPECIALS = 4
"""Number of symbols before the first piece of the file."""
THEIRS = {PAD: 1, BOS: 0, EOS: 2, UNK: 3, PLH: 3}
"""fairseq's row for each of our symbols."""


def read_dictionary(path: Path) -> list[str]:
    """The pieces of a dictionary in the order of their ids, padding words and all.

    A word that a later line overwrites keeps its row but can never be read or written, so its old row gets
    a name that no text holds.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the dictionary {path} cannot be read: {reason(error)}",
            hint="name the dict.txt that fairseq made of the training data",
        ) from error
    pieces: list[str] = []
    places: dict[str, int] = {}
    problems = []
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        fields = line.rstrip().rsplit(" ", 2 if line.rstrip().endswith(" #fairseq:overwrite") else 1)
        if len(fields) < 2 or not fields[1].isdecimal() or not fields[0]:
            problems.append(f"line {number} must be a piece and its count, got {line[:40]!r}")
            continue
        piece = fields[0]
        if piece in places:
            if len(fields) == 2:
                problems.append(f"line {number} repeats {piece!r} of line {places[piece] + 1}")
            else:
                pieces[places[piece]] = f"<overwritten:{places[piece]}>"
        places[piece] = len(pieces)
        pieces.append(piece)
    raise_all(
        InputError,
        f"the dictionary {path}",
        problems[:10],
        hint="give the dict.txt that `fairseq-preprocess` wrote beside the data",
    )
    return pieces


def rows_in_our_order(pieces: int) -> list[int]:
    """For each of our ids fairseq's row.

    >>> rows_in_our_order(2)
    [1, 0, 2, 3, 3, 4, 5]
    """
    return [THEIRS[symbol] for symbol in sorted(THEIRS)] + list(
        range(FAIRSEQ_SPECIALS, FAIRSEQ_SPECIALS + pieces)
    )


def columns_in_their_order(pieces: int) -> list[int]:
    """For each of fairseq's ids ours; our ``<plh>``, which is no class of its own there, is left out.

    >>> columns_in_their_order(2)
    [1, 0, 2, 3, 5, 6]
    """
    first = len(THEIRS)
    return [BOS, PAD, EOS, UNK, *range(first, first + pieces)]
