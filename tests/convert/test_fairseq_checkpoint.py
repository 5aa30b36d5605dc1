"""Reading checkpoints: every tensor as torch wrote it, and nothing in a file is ever run."""

import argparse
import io
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from levt.convert.fairseq_checkpoint import GLOBALS, Settings, TensorRef, read_checkpoint
from levt.errors import ModelError


def contents() -> dict[str, Any]:
    torch.manual_seed(0)
    model = nn.Linear(3, 4).state_dict()
    model["turned"] = model["weight"].t()
    model["part"] = torch.arange(20.0)[5:9]
    model["half"] = torch.randn(5).half()
    model["brain"] = torch.randn(5).bfloat16()
    model["parameter"] = nn.Parameter(torch.randn(2, 2))
    model["empty"] = torch.empty(0, 3)
    model["scalar"] = torch.tensor(3)
    return {
        "model": model,
        "args": argparse.Namespace(
            arch="levenshtein_transformer", nested=argparse.Namespace(x=[1, (2, None)])
        ),
        "size": torch.Size([1, 2]),
        "dtype": torch.float16,
    }


def hand_made(path: Path, program: bytes, **entries: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x/data.pkl", program)
        for name, data in entries.items():
            archive.writestr(f"x/{name.replace('_', '/')}", data)
    return path


@pytest.mark.parametrize("as_zip", [True, False])
def test_reads_what_torch_wrote(tmp_path: Path, as_zip: bool) -> None:
    saved = contents()
    torch.save(saved, tmp_path / "c.pt", _use_new_zipfile_serialization=as_zip)
    read = read_checkpoint(tmp_path / "c.pt")
    assert isinstance(read.data["args"], Settings)
    assert read.data["args"].values["arch"] == "levenshtein_transformer"
    assert read.data["args"].values["nested"].values == {"x": [1, (2, None)]}
    assert read.data["size"] == (1, 2)
    assert read.data["dtype"] is torch.float16
    assert list(read.data["model"]) == list(saved["model"])
    for name, ref in read.data["model"].items():
        found = read.tensor(ref)
        assert found.dtype == saved["model"][name].dtype
        assert torch.equal(found, saved["model"][name].detach()), name


def test_tied_tensors_are_equal_references(tmp_path: Path) -> None:
    weight = torch.randn(3, 2)
    torch.save({"a": weight, "b": weight, "c": weight.clone(), "d": weight[1:]}, tmp_path / "c.pt")
    data = read_checkpoint(tmp_path / "c.pt").data
    assert data["a"] == data["b"]
    assert data["a"] != data["c"]
    assert data["a"] != data["d"]


class Reduces:
    """Pickles as a call of any function."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.call = function, args

    def __reduce__(self) -> Any:
        return self.call


def ran(mark: str) -> None:
    Path(mark).touch()


@pytest.mark.parametrize("as_zip", [True, False])
@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda mark: Reduces(os.system, f"touch {mark}"), "posix.system"),
        (lambda mark: Reduces(eval, f"__import__('os').mkdir({mark!r})"), "__builtin__.eval"),
        (lambda mark: Reduces(exec, f"import os; os.mkdir({mark!r})"), "__builtin__.exec"),
        (lambda mark: Reduces(ran, mark), ".ran"),
        (
            lambda mark: Reduces(getattr, Reduces(eval, f"__import__('os').mkdir({mark!r})"), "__doc__"),
            "__builtin__.getattr",
        ),
        (lambda mark: {"model": [{"deep": (Reduces(os.mkdir, mark),)}]}, "posix.mkdir"),
        (lambda mark: argparse.Namespace(inner=Reduces(os.system, f"touch {mark}")), "posix.system"),
    ],
)
def test_a_hostile_checkpoint_runs_nothing(tmp_path: Path, function: Any, name: str, as_zip: bool) -> None:
    mark = tmp_path / "ran"
    torch.save(
        {"args": None, "x": function(str(mark))}, tmp_path / "c.pt", _use_new_zipfile_serialization=as_zip
    )
    with pytest.raises(ModelError, match="nothing was run") as caught:
        read_checkpoint(tmp_path / "c.pt")
    assert name in caught.value.message
    assert caught.value.hint
    assert not mark.exists()
    # The same file does run where it is loaded the usual way, so the test can fail.
    torch.load(tmp_path / "c.pt", weights_only=False)
    assert mark.exists()


def stack_global(module: str, name: str) -> bytes:
    def text(word: str) -> bytes:
        return b"\x8c" + bytes([len(word)]) + word.encode()

    return text(module) + text(name) + b"\x93"


@pytest.mark.parametrize(
    "program",
    [
        b"cos\nsystem\n(S'true'\ntR.",
        b"(S'true'\nios\nsystem\n.",
        b"\x80\x04" + stack_global("os", "system") + b"\x8c\x04true\x85R.",
        b"\x80\x04" + stack_global("argparse", "os.system") + b"\x8c\x04true\x85R.",
        b"\x80\x04" + stack_global("collections", "OrderedDict.__init__.__globals__") + b".",
        b"\x80\x04" + stack_global("torch", "load") + b".",
        b"\x80\x04" + stack_global("torch._utils", "_rebuild_wrapper_subclass") + b".",
    ],
)
def test_every_way_to_name_a_global_is_closed(tmp_path: Path, program: bytes) -> None:
    with pytest.raises(ModelError, match="nothing was run"):
        read_checkpoint(hand_made(tmp_path / "c.pt", program))


@pytest.mark.parametrize("allowed", sorted(GLOBALS))
def test_a_pickle_cannot_alter_the_table(tmp_path: Path, allowed: tuple[str, str]) -> None:
    before = repr(sorted((key, getattr(entry, "dtype", None)) for key, entry in GLOBALS.items()))
    module, name = allowed
    for state in (b"}\x8c\x05dtypeNs", b"N}\x8c\x05dtypeNs\x86", b"N}\x8c\x0c__setstate__Ns\x86"):
        program = b"\x80\x04" + stack_global(module, name) + state + b"b."
        with pytest.raises(ModelError):
            read_checkpoint(hand_made(tmp_path / "c.pt", program))
    after = repr(sorted((key, getattr(entry, "dtype", None)) for key, entry in GLOBALS.items()))
    assert after == before
    assert callable(Settings.__setstate__)


def test_a_stand_in_for_settings_takes_nothing_else(tmp_path: Path) -> None:
    settings = argparse.Namespace()
    vars(settings).update({"__class__": "os.system", "values": 7})
    program = pickle.dumps(settings, protocol=2)
    read = read_checkpoint(hand_made(tmp_path / "c.pt", program)).data
    assert type(read) is Settings
    assert read.values == {"__class__": "os.system", "values": 7}


def storage(key: str, length: int) -> bytes:
    return (
        b"(\x8c\x07storage"
        + stack_global("torch", "FloatStorage")
        + f"V{key}\nVcpu\nI{length}\nt".encode()
        + b"Q"
    )


def tensor(length: int, offset: int, shape: int, stride: int) -> bytes:
    view = f"I{offset}\n(I{shape}\nt(I{stride}\nt".encode()
    return (
        b"\x80\x04"
        + stack_global("torch._utils", "_rebuild_tensor_v2")
        + b"("
        + storage("0", length)
        + view
        + b"tR."
    )


@pytest.mark.parametrize(
    ("length", "offset", "shape", "stride"),
    [(4, 1, 4, 1), (4, 0, 5, 1), (4, 0, 2, 4), (4, 0, 10**12, 0), (10**12, 0, 4, 1), (4, 4, 1, 1)],
)
def test_a_tensor_outside_its_storage_is_refused(
    tmp_path: Path, length: int, offset: int, shape: int, stride: int
) -> None:
    path = hand_made(tmp_path / "c.pt", tensor(length, offset, shape, stride), data_0=bytes(16))
    read = read_checkpoint(path)
    assert isinstance(read.data, TensorRef)
    with pytest.raises(ModelError):
        read.tensor(read.data)


def test_a_whole_tensor_of_a_hand_made_file_is_read(tmp_path: Path) -> None:
    numbers = torch.arange(4.0)
    path = hand_made(tmp_path / "c.pt", tensor(4, 1, 2, 2), data_0=numbers.numpy().tobytes())
    read = read_checkpoint(path)
    assert read.tensor(read.data).tolist() == [1.0, 3.0]


def test_bytes_after_a_storage_are_passed_over(tmp_path: Path) -> None:
    numbers = torch.arange(4.0).numpy().tobytes()
    read = read_checkpoint(hand_made(tmp_path / "c.pt", tensor(4, 0, 4, 1), data_0=numbers + b"x"))
    assert read.tensor(read.data).tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("flag", [1, 1 << 5, 1 << 6])
def test_a_storage_that_claims_to_be_encrypted_or_patched_is_refused(tmp_path: Path, flag: int) -> None:
    path = hand_made(tmp_path / "c.pt", tensor(4, 0, 4, 1), data_0=bytes(16))
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    place = data.index(b"PK\x01\x02")  # of the first entry of the directory
    for _ in range(next(i for i, name in enumerate(names) if name.endswith("data/0"))):
        place = data.index(b"PK\x01\x02", place + 1)
    data[place + 8] |= flag
    path.write_bytes(data)
    read = read_checkpoint(path)
    with pytest.raises(ModelError, match="cannot be read") as caught:
        read.tensor(read.data)
    assert caught.value.hint


@pytest.mark.parametrize(("shape", "stride"), [(-1, 1), (1, -1)])
def test_negative_sizes_are_refused(tmp_path: Path, shape: int, stride: int) -> None:
    with pytest.raises(ModelError, match="negative"):
        read_checkpoint(hand_made(tmp_path / "c.pt", tensor(4, 0, shape, stride), data_0=bytes(16)))


def test_files_that_are_no_checkpoints(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no checkpoint"):
        read_checkpoint(tmp_path / "none.pt")
    for data in (b"", b"hello", pickle.dumps({"model": {}}), os.urandom(200)):
        (tmp_path / "c.pt").write_bytes(data)
        with pytest.raises(ModelError):
            read_checkpoint(tmp_path / "c.pt")
    with zipfile.ZipFile(tmp_path / "c.pt", "w") as archive:
        archive.writestr("a.txt", "no checkpoint")
    with pytest.raises(ModelError, match=r"no data\.pkl"):
        read_checkpoint(tmp_path / "c.pt")
    with zipfile.ZipFile(tmp_path / "c.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/data.pkl", pickle.dumps({}))
    with pytest.raises(ModelError, match="compressed"):
        read_checkpoint(tmp_path / "c.pt")


@pytest.mark.parametrize("as_zip", [True, False])
def test_a_file_cut_anywhere_is_refused(tmp_path: Path, as_zip: bool) -> None:
    whole = io.BytesIO()
    torch.save(contents(), whole, _use_new_zipfile_serialization=as_zip)
    data = whole.getvalue()
    for cut in range(0, len(data), 97):
        (tmp_path / "c.pt").write_bytes(data[:cut])

        def read_all() -> None:
            read = read_checkpoint(tmp_path / "c.pt")
            for ref in read.data["model"].values():
                read.tensor(ref)

        with pytest.raises(ModelError):
            read_all()
