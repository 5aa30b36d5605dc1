"""The model folder: what is saved is what is loaded, and everything else is refused with all its problems."""

import json
import multiprocessing
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from levt.errors import ModelError
from levt.policy import atomic
from levt.policy.build import build
from levt.policy.card import Card
from levt.policy.config import CONFIGS, LevTConfig, ModelConfig
from levt.policy.folder import Tokenizers, load_folder, save_folder
from levt.text.tokenizer import Tokenizer

JOINT = Tokenizers.joint(Tokenizer.from_pieces(list("abcdefghij")))
SEPARATE = Tokenizers(Tokenizer.from_pieces(list("uvwxyz")), Tokenizer.from_pieces(list("abcdefghij")))
SMALL: dict[str, Any] = {"width": 8, "max_length": 20}
TRANSFORMER: dict[str, Any] = {"hidden": 12, "heads": 2, "encoder_layers": 1, "decoder_layers": 2}


def config_of(kind: str, tokenizers: Tokenizers = JOINT, **more: Any) -> ModelConfig:
    sizes = {"source_vocabulary": tokenizers.source.size, "target_vocabulary": tokenizers.target.size}
    shape = SMALL if kind == "recurrent" else SMALL | TRANSFORMER
    short = {"max_count": 5} if kind == "levt" else {}
    return CONFIGS[kind](**sizes, **shape, **short, joint_embeddings=not tokenizers.separate, **more)


def saved(folder: Path, kind: str = "levt", tokenizers: Tokenizers = JOINT, seed: int = 0, **how: Any) -> Any:
    torch.manual_seed(seed)
    model = build(config_of(kind, tokenizers))
    save_folder(folder, model, tokenizers, Card(name="tiny"), **how)
    return model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    saved(tmp_path / "model")
    return tmp_path / "model"


def problems_of(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        load_folder(folder)
    return str(caught.value)


def rewrite(folder: Path, name: str, data: bytes) -> None:
    """Change a file and its record, so that only what it means is wrong."""
    from levt.policy.weights import sha256

    (folder / name).write_bytes(data)
    edit(folder, lambda c: c["files"].update({name: {"bytes": len(data), "sha256": sha256(folder / name)}}))


def edit(folder: Path, change: Callable[[Any], Any]) -> None:
    saved_config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    change(saved_config)
    (folder / "config.json").write_text(json.dumps(saved_config), encoding="utf-8")


def edit_tensors(folder: Path, change: Callable[[dict[str, Tensor]], Any]) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "other")
    data = (folder / "other").read_bytes()
    (folder / "other").unlink()
    rewrite(folder, "model.safetensors", data)


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


def test_loading_leaves_the_seed_alone(folder: Path) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    load_folder(folder)
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


def test_without_verifying_a_flipped_bit_of_a_weight_passes(folder: Path) -> None:
    data = bytearray((folder / "model.safetensors").read_bytes())
    before = load_folder(folder).model.state_dict()
    data[-1] ^= 1
    (folder / "model.safetensors").write_bytes(data)
    after = load_folder(folder, verify=False).model.state_dict()
    assert not all(torch.equal(before[name], after[name]) for name in before)


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
        (lambda c: c.update(dtype="int4"), ["dtype must be one of float32"]),
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


def test_network_and_tokenizers_must_belong_together(tmp_path: Path) -> None:
    model = build(config_of("levt"))
    with pytest.raises(ModelError, match="2 problems"):
        save_folder(tmp_path / "m", model, SEPARATE, Card(name="x"))
    same_size = Tokenizers(Tokenizer.from_pieces(list("ABCDEFGHIJ")), JOINT.target)
    with pytest.raises(ModelError, match="joint_embeddings needs one tokenizer"):
        save_folder(tmp_path / "m", model, same_size, Card(name="x"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("can_exchange", [True, False])
def test_replacing_a_model(tmp_path: Path, can_exchange: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not can_exchange:
        monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)
    saved(tmp_path / "m", seed=1)
    second = saved(tmp_path / "m", seed=2)
    assert torch.equal(load_folder(tmp_path / "m").model.delete_head, second.delete_head)
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_failed_write_leaves_the_old_model(
    tmp_path: Path, can_exchange: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = saved(tmp_path / "m", seed=1)
    monkeypatch.setattr(Card, "render", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        saved(tmp_path / "m", seed=2)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    if not can_exchange:
        monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)
        rename = Path.rename

        def fails(self: Path, target: Path) -> Path:
            # The second of the two renames: the new folder into place.
            if target.name == "m" and not self.name.endswith(".old"):
                raise OSError("disk gone")
            return rename(self, target)

        monkeypatch.setattr(Path, "rename", fails)
        with pytest.raises(OSError, match="disk gone"):
            saved(tmp_path / "m", seed=2)
        monkeypatch.undo()
    assert torch.equal(load_folder(tmp_path / "m").model.delete_head, first.delete_head)
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def write_for_ever(folder: Path) -> None:
    torch.set_num_threads(1)
    for seed in range(1_000_000):
        saved(folder, seed=seed % 7)


def test_at_every_moment_there_is_a_model(tmp_path: Path) -> None:
    """Look all the time while another process replaces the model, then kill it in the middle."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    if not atomic._exchange(tmp_path / "one", tmp_path / "other"):
        pytest.skip("this file system cannot exchange folders in one step")
    folder = tmp_path / "m"
    saved(folder)
    writer = multiprocessing.get_context("spawn").Process(target=write_for_ever, args=(folder,), daemon=True)
    writer.start()
    seen = set()
    while len(seen) < 20:
        assert writer.is_alive()
        for _ in range(50):
            seen.add((folder / "config.json").stat().st_mtime_ns)
    assert writer.pid is not None
    os.kill(writer.pid, signal.SIGKILL)
    writer.join()
    load_folder(folder)


def test_a_folder_with_other_files_is_not_replaced(tmp_path: Path) -> None:
    saved(tmp_path / "m")
    (tmp_path / "m" / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(ModelError, match=r"thesis\.txt, which is no part of a model"):
        saved(tmp_path / "m")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ModelError, match="file is a file, and a model is a folder"):
        saved(tmp_path / "file")
    assert (tmp_path / "m" / "thesis.txt").exists()


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


def test_config_type_is_kept(folder: Path) -> None:
    assert isinstance(load_folder(folder).config.model, LevTConfig)
