"""The bundled model writes, sentence for sentence, what it wrote when it was bundled; and it is small and whole."""

import json

import pytest
from make_bundled import EXPECTED, answers

import levt
from levt.policy.hub import BUNDLED, bundled
from levt.policy.inspection import inspect_folder
from levt.recipes.bundled import NAME
from levt.recipes.bundled_sentences import SENTENCES

needs_model = pytest.mark.skipif(NAME not in bundled(), reason=f"the model {NAME} is not bundled yet")


@needs_model
def test_twenty_sentences_come_out_as_they_did() -> None:
    expected, found = json.loads(EXPECTED.read_text("utf-8")), answers()
    assert len(expected["translations"]) == 20
    assert found == expected


@needs_model
def test_each_by_itself_or_all_together() -> None:
    model = levt.load(NAME, device="cpu", dtype="float32")
    expected = [row["text"] for row in json.loads(EXPECTED.read_text("utf-8"))["translations"]]
    assert [result.text for result in model.translate(list(SENTENCES))] == expected


@needs_model
def test_it_is_whole_and_fits_into_32_megabytes() -> None:
    folder = BUNDLED / NAME
    assert inspect_folder(folder).problems == []
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 32_000_000
    card = (folder / "README.md").read_text("utf-8")
    assert all(word in card for word in ("Europarl", "Tatoeba", "Multi30k", "must not be used", "BLEU"))
