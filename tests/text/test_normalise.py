"""Normalisation does what it says, and doing it twice changes nothing more."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from levt.errors import ConfigError
from levt.text.normalise import Normalisation


@given(
    text=st.text(),
    form=st.sampled_from(["NFC", "NFKC", "none"]),
    lowercase=st.booleans(),
    collapse=st.booleans(),
)
@settings(max_examples=300)
def test_twice_is_once(text: str, form, lowercase: bool, collapse: bool) -> None:
    normalise = Normalisation(form=form, lowercase=lowercase, collapse_spaces=collapse)
    assert normalise(normalise(text)) == normalise(text)


def test_examples() -> None:
    assert Normalisation()("e\u0301 \ufb01") == "\u00e9 \ufb01"
    assert Normalisation(form="NFKC")("\ufb01ｅ") == "fie"
    assert Normalisation(form="none")("e\u0301") == "e\u0301"
    assert Normalisation(lowercase=True)("ÄB") == "äb"
    assert Normalisation(collapse_spaces=True)(" a\t\u3000 b\n") == "a b"
    assert Normalisation()(" a\t\u3000 b\n") == " a\t\u3000 b\n"
    assert Normalisation()("\u1e0b\u0323") == unicodedata.normalize("NFC", "\u1e0b\u0323")


def test_unknown_form() -> None:
    normalisation = Normalisation()
    # By the back door: in tests the annotation alone already refuses it.
    object.__setattr__(normalisation, "form", "NFX")
    with pytest.raises(ConfigError, match="form must be one of NFC, NFKC, none, got 'NFX'"):
        normalisation.__post_init__()
