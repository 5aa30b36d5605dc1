"""Raw text with its words apart: nothing is lost, and what is apart stays as it is."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from levt.recipes.post_editing_words import words_apart

TEXT = st.text(alphabet="aZé1,.:'’-/()\" %„“…\u0301\t", max_size=30)


@given(text=TEXT)
@settings(max_examples=300)
def test_only_spaces_change_and_twice_is_once(text: str) -> None:
    found = words_apart(text)
    assert found.replace(" ", "") == "".join(unicodedata.normalize("NFC", text).split())
    assert words_apart(found) == found


@pytest.mark.parametrize(
    ("raw", "apart"),
    [
        ("", ""),
        ("Wählen Sie „Datei“ > Öffnen.", "Wählen Sie „ Datei “ > Öffnen ."),
        ("It's the dogs' garden, isn't it?", "It 's the dogs ' garden , isn 't it ?"),
        ("Am 3.5. um 10:30 kamen 1.000,5 % mehr.", "Am 3.5. um 10:30 kamen 1.000,5 % mehr ."),
        ("z. B. in Bd. 3, vgl. Dr. Busch usw.", "z. B. in Bd . 3 , vgl. Dr. Busch usw ."),
        ("Ein Last-Minute-Angebot - und/oder mehr ...", "Ein Last-Minute-Angebot - und / oder mehr ..."),
        ("S-a întors într-o zi, nu?", "S-a întors într-o zi , nu ?"),
    ],
)
def test_customary(raw: str, apart: str) -> None:
    assert words_apart(raw) == apart
