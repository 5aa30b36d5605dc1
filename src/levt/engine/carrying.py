"""Texts without a word, as rulers, bullets and smileys: they go over as they are. Knows no network.

A model that has learnt sentences makes words of them, and a ruler may be longer than it can read. As a draft of
themselves they stay.
"""

from dataclasses import replace

from levt.refine.options import Options
from levt.refine.request import Request
from levt.refine.steering import Plan
from levt.text.parts import encode_inside
from levt.text.tokenizer import Tokenizer

BYTES = 4
"""Most tokens of a character: the bytes of UTF-8."""


def wordless(text: str) -> bool:
    """Whether there is no letter and no digit.

    >>> wordless("* * *"), wordless("1."), wordless("😀")
    (True, False, True)
    """
    return not any(map(str.isalnum, text))


def carried(text: str, target: Tokenizer, positions: int, options: Options) -> list[tuple[str, Plan]]:
    """A normalised text in parts that fit, each with a plan that leaves it alone: locked, nothing opened, one round."""
    size = max((positions - 2) // BYTES - 1, 1)
    still = replace(options, max_iterations=1, reread=False)
    found = []
    for start in range(0, len(text), size):
        part = text[start : start + size]
        tokens = tuple(encode_inside(target, part) if start else target.encode(part))
        every = (True,) * len(tokens)
        request = Request(
            source=(),
            draft=tokens,
            locked=every,
            glued=(False, *every[1:]),
            open={0: 0, len(tokens): 0},
            options=still,
        )
        lead = None if not start else " " if part.startswith(" ") else ""
        found.append((part, Plan(request=request, lead=lead)))
    return found
