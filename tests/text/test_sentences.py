"""Sentences: cut where a reader would, never where a sentence might go on, and nothing is lost."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from levt.text.sentences import sentences

TEXTS = [
    "A dog runs.| Two cats sleep!| Is it cold?| Yes.",
    "I met Dr. Smith and J. Doe in St. Ives.| They left.",
    "The U.S. Senate met in Jan. 1990.| Nobody came, e.g. me.",
    "No.| I will not go to No. 5.",
    "“Go.”| She went.",
    '"Why?" he asked.| "Because."| That was all.',
    "(It rained.)| We stayed.",
    "Wait...| What?!| It cost... 5 dollars.",
    "Version 2.0 is out.| It costs 3.50 euros.",
    "1. One thing.| 2. Another thing.",
    "Am 3. Oktober kam er.| Das war z. B. gut.",
    "你好。|今天天气很好。|走吧？",
    "「はい。」と言った。|行こう！",
    "¿Qué?| ¡Sí!",
    "مرحبا.| كيف حالك؟| بخير.",
    "Hello.|\tWorld.|  Two spaces.|\u00a0One that does not break.",
    "Ends without a stop.| and goes on".replace("|", ""),
    "... and . . . nothing",
    "A title\n|One thing. |Another\n|\n\n2. A third",
    "Lines that are broken\nfor width alone. |In\nBerlin, say.\n\n|A blank line ends one,\u2028\u2028|whatever follows",
    "Buy:\r\n|* Milk\r\n|* Bread\r\n---\r\n",
    "---\n\nOne\n|Two\n- - -",
    # Lines that are full, so that the next word would not have fitted, are broken for width, too.
    "Der Ausschuss hat gestern in einer langen Sitzung über die\nBerichte gesprochen. |Niemand kam.",
    "We have been waiting for the answer of the ministry in\nBerlin, and after that for the one of the other\n"
    "Minister. |He never came.",
    "The committee has decided to postpone the vote until\n|- Monday",
    "This line is long enough to be full, and it ends here.\n|Berlin is a large city, and Bonn is one that is not",
    "A list has an item of this very length, no less than that\n|An item that is short\n|And another like the first",
    "A short line of a few words\n|Berlin",
]


@pytest.mark.parametrize("marked", TEXTS)
def test_where_a_reader_would_cut(marked: str) -> None:
    parts = [part.strip() for part in marked.split("|")]
    assert [one.text for one in sentences(marked.replace("|", ""))] == parts


@given(st.text(alphabet='ab AZ.!?…"”)1 \t\n\r。」é', max_size=60) | st.text(max_size=30))
@settings(max_examples=300)
def test_nothing_is_lost_and_a_sentence_is_one(text: str) -> None:
    found = sentences(text)
    assert "".join(one.text + one.space for one in found) == text.strip()
    assert all(one.text == one.text.strip() != "" and not one.space.strip() for one in found)
    assert not found or found[-1].space == ""
    if len(found) > 1:
        assert all(any(map(str.isalnum, one.text)) for one in found)


@pytest.mark.parametrize("odd", [".", ". ", "a. ", "! A", '."', "。", "1. ", "((. ", "A\n", "-\n\n"])
def test_a_long_line_of_marks_takes_no_time(odd: str) -> None:
    text = odd * 20_000
    assert "".join(one.text + one.space for one in sentences(text)) == text.strip()
