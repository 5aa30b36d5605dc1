"""Learning a vocabulary from lines in any order."""

from levt.text import learn
from levt.text.tokenizer import Tokenizer


def test_characters_of_every_second_line_are_not_overlooked() -> None:
    """Sources and targets may alternate: counting every k-th line would see one language only."""
    lines = ["a dog is running here", "der Hund läuft hinüber"] * 400
    original = learn.COUNTED
    learn.COUNTED = 300
    try:
        tokenizer = Tokenizer.train(lines, 400)
    finally:
        learn.COUNTED = original
    assert not [p for p in tokenizer.pieces(tokenizer.encode("läuft über")) if p.startswith("<0x")]
