"""The pieces of a vocabulary that are words by themselves. Knows no model."""

from functools import lru_cache

from levt.refine.request import Tokens
from levt.text.segmentation import SPACE
from levt.text.specials import SPECIALS
from levt.text.tokenizer import Tokenizer

FEWEST = 0.1
"""In a script without spaces hardly a piece begins with one: there every piece will do."""


@lru_cache(maxsize=8)
def whole_words(tokenizer: Tokenizer) -> Tokens:
    """The tokens that begin with a space and go on in letters alone; all where there are hardly any.

    >>> tokenizer = Tokenizer.train(["a dog runs", "a cat runs"] * 9, 300)
    >>> "▁dog" in tokenizer.pieces(whole_words(tokenizer)), "▁" in tokenizer.pieces(whole_words(tokenizer))
    (True, False)
    """
    usable = range(len(SPECIALS), tokenizer.size)
    words = tuple(
        token
        for token, piece in zip(usable, tokenizer.pieces(usable), strict=True)
        if piece.startswith(SPACE) and piece[1:].isalpha()
    )
    return words if len(words) >= max(FEWEST * (tokenizer.size - 256), 4) else tuple(usable)
