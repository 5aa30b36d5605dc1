"""A result read again as text: where its usual tokens are others, refinement goes on from those. Knows no engine.

A model may spell a word in pieces that the tokenizer would not choose. It is content with these tokens, but whoever
gives the text back as a draft shows it others, and it may change what it has just written. So before a text is
given out, its usual tokens are refined too; mostly that confirms it. What was steered is left as it is.
"""

from dataclasses import dataclass, replace

from levt.refine.loop import Asking, Outcome
from levt.refine.mend import mend
from levt.refine.numbers import respell
from levt.refine.record import Rounds
from levt.refine.request import Request, Tokens
from levt.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Reader:
    """Reads results as a person would give them back."""

    tokenizer: Tokenizer
    positions: int
    """The longest state that the model can hold, boundaries counted."""

    def usual(self, tokens: Tokens) -> Tokens:
        """The usual tokens of the text that these make up, if the model can hold them; else these themselves.

        >>> reader = Reader(Tokenizer.train(["a dog runs", "a cat runs"] * 9, 300), 8)
        >>> odd = tuple(reader.tokenizer.id_of(piece) for piece in ("▁do", "g"))
        >>> reader.tokenizer.pieces(reader.usual(odd))
        ['▁dog']
        """
        if self.tokenizer.by_pieces:
            return tokens
        found = tuple(self.tokenizer.encode(self.tokenizer.decode(tokens)))
        return found if len(found) + 2 <= self.positions else tokens


def rereading(outcome: Outcome, reader: Reader, numbers: tuple[str, ...] = ()) -> Asking[Outcome]:
    """Go on until the text is one that refining leaves alone, or the iterations are used up.

    The ``numbers`` of the source are put right before it is read.
    """
    mended = mend(outcome, reader.tokenizer) | respell(outcome, numbers, reader.tokenizer)
    read = {outcome.request.draft}
    while outcome.stopped != "limit":
        left = outcome.request.options.max_iterations - outcome.iterations
        usual = reader.usual(outcome.tokens)
        # What was mended no policy has seen, so it is read even where its tokens are the usual ones.
        if (usual == outcome.tokens and not mended) or usual in read:
            break
        if len(usual) + 2 > reader.positions:
            # A number that was put right has made it longer than the model can hold.
            break
        if left < 1:
            # There is no time to see whether it would stay.
            outcome.stopped = "limit"
            break
        read.add(usual)
        options = replace(outcome.request.options, max_iterations=left)
        [more] = yield [Request(source=outcome.request.source, draft=usual, options=options)]
        mended = mend(more, reader.tokenizer) | respell(more, numbers, reader.tokenizer)
        outcome = _joined(outcome, more, reader.tokenizer)
    return outcome


def _joined(first: Outcome, second: Outcome, tokenizer: Tokenizer) -> Outcome:
    """Both on end; where the second changes nothing that is seen, only its work is counted."""
    first.iterations += second.iterations
    first.passes += second.passes
    if tokenizer.decode(second.tokens) != tokenizer.decode(first.tokens):
        first.become(second.request.draft)
        first.rounds = Rounds([*first.rounds, *second.rounds])
        first.tokens, first.stopped = second.tokens, second.stopped
    elif second.stopped == "limit":
        # There was no time to see whether it would stay.
        first.stopped = "limit"
    return first
