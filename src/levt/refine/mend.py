"""Bytes of a finished text that make up no character are taken out of it. Knows no policy.

A model spells what its vocabulary lacks in bytes, and may leave one of them alone: as text that is U+FFFD, which
nobody meant and which, read again, would be a character of its own. While a text is being edited such a byte may
still get its neighbours, so only what is finished is mended, by one more edit that nobody decided. Nor did anybody mean
a U+FFFD that the model writes because its corpus had some: it goes too, unless source or draft has one.
"""

from levt.refine.loop import Outcome
from levt.text.parts import written_in_error
from levt.text.tokenizer import Tokenizer


def mend(outcome: Outcome, tokenizer: Tokenizer) -> bool:
    """Remove bytes that nobody meant, and say whether there were any; locked tokens stay."""
    at = written_in_error(tokenizer, outcome.tokens, outcome.request.source, outcome.request.draft)
    if not at:
        return False
    locked = outcome.locks()
    loose = [i for i in at if not locked[i]]
    if loose:
        outcome.remove(loose)
    return bool(loose)
