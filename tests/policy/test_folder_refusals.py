"""The model folder: whatever is not as it was saved is refused, with all its problems."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from saved_folders import edit, edit_tensors, problems_of, rewrite, saved
from torch import Tensor

from levt.policy.folder import load_folder
from levt.text.tokenizer import Tokenizer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    saved(tmp_path / "model")
    return tmp_path / "model"


def test_every_flipped_bit_is_found(folder: Path) -> None:
    for name in ("model.safetensors", "tokenizer.json"):
        whole = (folder / name).read_bytes()
        for place in range(0, len(whole), max(1, len(whole) // 25)):
            changed = bytearray(whole)
            changed[place] ^= 1 << (place % 8)
            (folder / name).write_bytes(changed)
            assert f"{name}: the checksum must be" in problems_of(folder)
        (folder / name).write_bytes(whole)
    load_folder(folder)


def test_all_problems_are_named_together(folder: Path) -> None:
    def change(tensors: dict[str, Tensor]) -> None:
        del tensors["delete_head"]
        tensors["stranger"] = torch.zeros(2)
        tensors["placeholder_head"] = torch.zeros(3, 16)
        tensors["target_tokens.weight"] = tensors["target_tokens.weight"].half()

    edit_tensors(folder, change)
    rewrite(folder, "tokenizer.json", tokenizer_bytes(folder, Tokenizer.from_pieces(list("abc"))))
    message = problems_of(folder)
    assert "source_vocabulary is 15, but the source tokenizer has 8 pieces" in message
    assert "target_vocabulary is 15, but the target tokenizer has 8 pieces" in message
    assert "the tensor delete_head is missing" in message
    assert "the tensor stranger is not part of the model" in message
    assert "the tensor placeholder_head must have the shape (6, 16), has (3, 16)" in message
    assert "the tensor target_tokens.weight must be float32, is float16" in message
    assert "6 problems" in message


def tokenizer_bytes(folder: Path, tokenizer: Tokenizer) -> bytes:
    tokenizer.save(folder.parent / "t.json")
    return (folder.parent / "t.json").read_bytes()


def test_integers_are_no_weights(folder: Path) -> None:
    edit_tensors(folder, lambda tensors: tensors.update(delete_head=torch.zeros(2, 8, dtype=torch.int32)))
    assert "the tensor delete_head must be float32, is I32" in problems_of(folder)


def test_a_cut_file_is_refused(folder: Path) -> None:
    whole = (folder / "model.safetensors").read_bytes()
    for length in (0, 7, 100, len(whole) - 1):
        (folder / "model.safetensors").write_bytes(whole[:length])
        assert f"model.safetensors: must have {len(whole)} bytes, has {length}" in problems_of(folder)
        rewrite(folder, "model.safetensors", whole[:length])
        assert "not a readable safetensors file" in problems_of(folder)
        rewrite(folder, "model.safetensors", whole)


def test_a_pickle_called_safetensors_is_refused_unread(folder: Path, tmp_path: Path) -> None:
    class Runs:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "ran"),)

    torch.save(Runs(), tmp_path / "p")
    rewrite(folder, "model.safetensors", (tmp_path / "p").read_bytes())
    assert "not a readable safetensors file" in problems_of(folder)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["pytorch_model.bin", "checkpoint.pt", "x.pth", "x.PKL", "last.ckpt"])
def test_a_pickle_in_the_folder_is_refused_with_a_hint(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    message = problems_of(folder)
    assert name in message
    assert "hint: `levt convert fairseq`" in message


def test_no_module_of_the_load_path_knows_pickle() -> None:
    import levt.policy.folder as there

    for module in ("folder", "folder_config", "weights", "hub", "atomic", "card", "inspection"):
        text = (Path(there.__file__).parent / f"{module}.py").read_text(encoding="utf-8")
        assert "import pickle" not in text
        assert "torch.load" not in text


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert f"{name}: the file is missing" in problems_of(folder)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.update(format=2), ["format must be 1, got 2", "newer levt"]),
        (lambda c: c.update(format=True), ["format must be 1, got True"]),
        (lambda c: c.update(format="1"), ["format must be 1, got '1'"]),
        (lambda c: c.pop("format"), ["the key 'format' is missing"]),
        (
            lambda c: c.update(colour="red", size=3),
            ["unknown key 'colour'", "unknown key 'size'", "2 problems"],
        ),
        (lambda c: c.pop("dtype"), ["the key 'dtype' is missing"]),
        (lambda c: c.update(dtype="int2"), ["dtype must be one of float32"]),
        (lambda c: c.update(levt=1), ["levt must be a version"]),
        (lambda c: c.update(training=[1]), ["training must be a table"]),
        (lambda c: c.update(separate_tokenizers=1), ["separate_tokenizers must be true or false"]),
        (lambda c: c.update(model=[]), ["model must be a table"]),
        (lambda c: c["model"].update(dim=8), ["unknown key 'dim'"]),
        (lambda c: c["model"].update(kind="gpt"), ["unknown kind 'gpt'"]),
        (lambda c: c["model"].update(heads=3), ["width must be a multiple of heads"]),
        (lambda c: c.update(files=3), ["files must be a table"]),
        (lambda c: c["files"].pop("tokenizer.json"), ["files must be model.safetensors, tokenizer.json"]),
        (lambda c: c["files"].update({"../x": {"bytes": 1, "sha256": ""}}), ["files must be"]),
        (lambda c: c["files"].update({"model.safetensors": 3}), ["must have 'bytes' and 'sha256'"]),
        (
            lambda c: c["model"].update(encoder_layers=2),
            ["encoder.blocks.1.self_attention.qkv.weight is missing"],
        ),
        *(
            (lambda c, sizes=sizes: c["model"].update(sizes), ["a network of these sizes cannot be in model"])
            for sizes in (
                {"width": 1 << 50},
                {"hidden": 1 << 100},
                {"encoder_layers": 1_000, "hidden": 1_000},
                {"decoder_layers": 1_000, "hidden": 1_000},
                {"max_count": 10**6},
                {"encoder_hidden": 10**6},
                {"encoder_width": 1 << 12, "joint_embeddings": False},
                {"target_vocabulary": 10**7, "joint_embeddings": False},
            )
        ),
        (
            lambda c: c["model"].update(encoder_layers=1_001),
            ["encoder_layers must be at most 1,000, got 1001"],
        ),
        (lambda c: c["model"].update(decoder_layers=10**7), ["decoder_layers must be at most 1,000"]),
        (lambda c: c["model"].update(max_length=10**7), ["max_length must be at most 1,000,000"]),
    ],
)
def test_config_is_read_strictly(folder: Path, change: Callable[[Any], Any], words: list[str]) -> None:
    edit(folder, change)
    message = problems_of(folder)
    assert all(word in message for word in words), message


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff\xfe", b"null"])
def test_a_config_that_is_none(folder: Path, text: bytes) -> None:
    (folder / "config.json").write_bytes(text)
    assert "config.json" in problems_of(folder)


def test_folders_that_are_none(tmp_path: Path) -> None:
    assert "there is no model folder" in problems_of(tmp_path / "none")
    assert "it has no config.json" in problems_of(tmp_path)
    saved(tmp_path / "chain" / "student" / "best")
    best = tmp_path / "chain" / "student" / "best"
    assert problems_of(tmp_path / "chain").endswith(f"hint: did you mean {best}?")


def test_a_folder_exported_without_weights_says_what_runs_it(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    assert "copy or download it again" in problems_of(folder)
    (folder / "onnx").mkdir()
    said = problems_of(folder)
    assert "left out, there are only ONNX graphs" in said
    assert "--engine onnx-int8" in said


def test_json_without_end_is_damaged(folder: Path) -> None:
    (folder / "config.json").write_text("[" * 100_000)
    assert "config.json cannot be read" in problems_of(folder)
