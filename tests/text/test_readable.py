"""Sources are read as a reader sees them, and nothing else about them changes."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from levt.text.readable import readable
from levt.text.tokenizer import Tokenizer

LINES = ["a dog runs over the snow.", "Is it café?"] * 9
PLAIN = Tokenizer.train(LINES, 400)
TABBED = Tokenizer.train([line.replace(" ", "\t").replace("f", "ﬁ") for line in LINES], 400)


@pytest.mark.parametrize(
    ("given_", "shown"),
    [
        ("a\tdog", "a dog"),
        ("a \r\n dog\u2028runs", "a dog runs"),
        ("10\u202f000\u00a0dogs", "10 000 dogs"),
        ("\ufeffa d\u00adog\u200b \u200eruns\x00", "a dog runs"),
        ("oﬃce, ｄｏｇ, well\u2011known", "office, dog, well-known"),
        ("a dog. \t", "a dog."),
        ("a  dog ", "a  dog "),
        ("👩\u200d🚀 می\u200cروم “é” …", "👩\u200d🚀 می\u200cروم “é” …"),
        ("\u200b\u00a0\n", ""),
    ],
)
def test_what_is_shown(given_: str, shown: str) -> None:
    assert readable(given_, PLAIN) == shown


def test_what_the_vocabulary_knows_stays() -> None:
    assert readable("a\tdog\nﬁt", TABBED) == "a\tdog ﬁt"
    pieces = Tokenizer.from_pieces(["a", "\tdog"], continuation=None)
    assert readable("a \tdog", pieces) == "a \tdog"


@given(st.text(alphabet="ab é.\t\n\u00a0\u200b\ufeffﬁ\u2011ｄ", max_size=30))
@settings(max_examples=200)
def test_only_once_and_only_the_odd(text: str) -> None:
    found = readable(text, PLAIN)
    assert readable(found, PLAIN) == found
    seen = text.replace("ﬁ", "fi").replace("ｄ", "d").replace("\u2011", "-")
    assert "".join(found.split()) == "".join(seen.replace("\u200b", "").replace("\ufeff", "").split())


@given(st.text(max_size=20))
@settings(max_examples=200)
def test_any_text_is_read(text: str) -> None:
    found = readable(text, PLAIN)
    assert readable(found, PLAIN) == found


def test_a_long_run_of_spaces_takes_no_longer() -> None:
    assert readable(" " * 200_000 + "\u00a0a\u00a0" + " " * 200_000 + "b", PLAIN) == "a b"
