"""A model of every published format loads, and gives the numbers it gave when it was written."""

import json

import pytest
import torch
from make_v1 import EXPECTED, FOLDER, numbers

from levt.policy.folder import load_folder
from levt.policy.levt import LevT


def test_a_model_of_format_1_gives_the_same_numbers() -> None:
    loaded = load_folder(FOLDER)
    assert json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))["format"] == 1
    assert isinstance(loaded.model, LevT)
    found = numbers(loaded.model, loaded.tokenizers)
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert torch.tensor(found[name]).shape == torch.tensor(values).shape
        assert torch.allclose(torch.tensor(found[name]), torch.tensor(values), rtol=0, atol=5e-6), name


def test_the_numbers_depend_on_the_weights() -> None:
    loaded = load_folder(FOLDER)
    assert isinstance(loaded.model, LevT)
    with torch.no_grad():
        loaded.model.delete_head[0] += 1
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    assert numbers(loaded.model, loaded.tokenizers)["delete"] != expected["delete"]


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "source_tokenizer.json"])
def test_the_folder_is_small(name: str) -> None:
    assert (FOLDER / name).stat().st_size < 40_000
