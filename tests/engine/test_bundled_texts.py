"""The model that comes with the package, on texts of a kind it has hardly seen."""

import pytest

import levt
from levt.engine.model import Model

ODD = ("北京", "🙂", "😀👍", "naïve", "Θεός", "東京", "Łódź", "Дмитрий", "€")


@pytest.fixture(scope="module")
def model() -> Model:
    return levt.load("levt-en-de", device="cpu", engine="torch")


def test_no_lone_byte_is_left_over(model: Model) -> None:
    sources = [frame.format(word) for word in ODD for frame in ("The {} is on the table.", "{} was late.")]
    assert any("\ufffd" in result.text for result in model.translate(sources, reread=False)), "no such test"
    for source, result in zip(sources, model.translate(sources), strict=True):
        assert "\ufffd" not in result.text, source
        assert result.trace.text == result.text


def test_sentences_are_translated_as_if_alone(model: Model) -> None:
    sentences = ["The dog is asleep.", "Do not wake it up!", "Dr. Miller comes at noon."]
    result = model.translate("  ".join(sentences), by_sentence=True)
    assert result.text == "  ".join(one.text for one in model.translate(sentences))
    assert result.trace.text == result.text


def test_what_a_reader_does_not_see_changes_nothing(model: Model) -> None:
    plain = "The two children are playing in the first park."
    odd = [
        plain.replace(" are", space + "are") for space in ("\t", "\n", "\r\n", "\u00a0", "\u2009", " \u200b")
    ]
    odd += [
        "\ufeff" + plain,
        plain + " \t",
        plain.replace("playing", "play\u00ading"),
        plain.replace("fi", "ﬁ"),
    ]
    odd += ["\u200e" + plain, "\t" + plain]
    wanted = model.translate(plain).text
    assert [result.text for result in model.translate(odd)] == [wanted] * len(odd)
    assert model.translate("\ufeff\u200b").text == ""


LONG = ("64549", "879858", "9426164", "1234567890", "4711081547110815")


def test_long_numbers_go_over_digit_by_digit(model: Model) -> None:
    frames = ("The number is {}.", "Your order {} was sent in 2021.", "{}", "One is {}, the other 2{}.")
    sources = [frame.format(*[number] * 2) for number in LONG for frame in frames]
    plain = model.translate(sources, reread=False)
    assert any(number not in result.text for number, result in zip(LONG, plain[::4], strict=True)), (
        "no such test"
    )
    for source, result in zip(sources, model.translate(sources), strict=True):
        assert numbers(result.text) == numbers(source)
        assert result.trace.text == result.text
        assert model.refine(source, draft=result.text).text == result.text


def test_a_number_of_the_draft_is_left_to_who_wrote_it(model: Model) -> None:
    source, draft = "The number is 1234567890.", "Die Zahl ist 1234567891."
    assert model.refine(source, draft=draft, min_edit=1.0).text == draft
    assert model.refine(source, draft=draft, keep=["1234567891"]).text == draft


def numbers(text: str) -> list[str]:
    return sorted(run for run in "".join(c if c.isdigit() else " " for c in text).split() if len(run) >= 5)
