"""The model folder: what is saved is what is loaded."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from saved_folders import JOINT, SEPARATE, config_of, saved

from levt.errors import ModelError
from levt.policy.build import build
from levt.policy.card import Card
from levt.policy.config import CONFIGS, LevTConfig
from levt.policy.folder import Tokenizers, load_folder, save_folder
from levt.text.tokenizer import Tokenizer


@pytest.mark.parametrize("tokenizers", [JOINT, SEPARATE], ids=["joint", "separate"])
@pytest.mark.parametrize("kind", CONFIGS)
def test_every_kind_of_network_comes_back(tmp_path: Path, kind: str, tokenizers: Tokenizers) -> None:
    model = saved(tmp_path / "m", kind, tokenizers, training={"command": "levt train"})
    loaded = load_folder(tmp_path / "m")
    assert loaded.config.model == model.config
    assert loaded.config.training == {"command": "levt train"}
    assert loaded.tokenizers == tokenizers
    assert not loaded.model.training
    state = loaded.model.state_dict()
    assert state.keys() == model.state_dict().keys()
    for name, tensor in model.state_dict().items():
        assert torch.equal(state[name], tensor), name
    names = {path.name for path in (tmp_path / "m").iterdir()}
    expected = {"config.json", "model.safetensors", "tokenizer.json", "README.md"}
    assert names == expected | ({"source_tokenizer.json"} if tokenizers.separate else set())


@pytest.mark.parametrize("stored", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("wanted", [torch.float32, torch.bfloat16])
def test_precisions(tmp_path: Path, stored: Any, wanted: torch.dtype) -> None:
    model = saved(tmp_path / "m", dtype=stored)
    loaded = load_folder(tmp_path / "m", dtype=wanted)
    on_disk = load_file(tmp_path / "m" / "model.safetensors")
    assert {t.dtype for t in on_disk.values()} == {getattr(torch, stored)}
    for name, parameter in loaded.model.named_parameters():
        assert parameter.dtype == wanted
        rounded = model.get_parameter(name).to(getattr(torch, stored)).to(wanted)
        assert torch.equal(parameter, rounded)


def test_tied_tensors_are_stored_once_and_stay_tied(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = build(config_of("levt"))
    # Ties that the network does not make itself: one module under two names.
    model.twin = model.target_tokens  # type: ignore[assignment]
    from levt.policy.weights import read_weights, stored_tensors, write_weights

    assert sum("target_tokens" in name or "twin" in name for name in stored_tensors(model)) == 1
    write_weights(tmp_path / "w", model, "float32")
    other = build(config_of("levt"))
    other.twin = other.target_tokens  # type: ignore[assignment]
    assert read_weights(tmp_path / "w", other, "float32") == []
    assert other.twin.weight is other.target_tokens.weight
    assert torch.equal(other.twin.weight, model.target_tokens.weight)


def test_loading_leaves_the_seed_alone(tmp_path: Path) -> None:
    saved(tmp_path / "m")
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    load_folder(tmp_path / "m")
    assert torch.equal(torch.rand(3), expected)


def test_saving_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    saved(tmp_path / "a")
    saved(tmp_path / "b")
    for name in ("config.json", "model.safetensors", "tokenizer.json", "README.md"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_others_may_read_what_is_written(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        saved(tmp_path / "m")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o755
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "m").iterdir()} == {0o644}


def test_network_and_tokenizers_must_belong_together(tmp_path: Path) -> None:
    model = build(config_of("levt"))
    with pytest.raises(ModelError, match="2 problems"):
        save_folder(tmp_path / "m", model, SEPARATE, Card(name="x"))
    same_size = Tokenizers(Tokenizer.from_pieces(list("ABCDEFGHIJ")), JOINT.target)
    with pytest.raises(ModelError, match="joint_embeddings needs one tokenizer"):
        save_folder(tmp_path / "m", model, same_size, Card(name="x"))
    assert list(tmp_path.iterdir()) == []


def test_card() -> None:
    card = Card(
        name="levt-xx",
        summary="Translates.",
        languages=("en", "de"),
        licence="mit",
        data={"Corpus | one": "CC-BY 4.0"},
        command="levt train recipe.py",
        scores={"BLEU test": "31.2"},
        limits="Short sentences only.",
        intended_use="Drafts.",
    )
    text = card.render()
    assert text.startswith('---\nlibrary_name: "levt"')
    assert 'language: ["en", "de"]' in text
    assert "| Corpus \\| one | CC-BY 4.0 |" in text
    for words in ("Translates.", "levt train recipe.py", "31.2", "Short sentences only.", "Drafts."):
        assert words in text
    assert Card(name="bare").render().count("Not stated.") == 5


def test_config_type_is_kept(tmp_path: Path) -> None:
    saved(tmp_path / "m")
    assert isinstance(load_folder(tmp_path / "m").config.model, LevTConfig)
