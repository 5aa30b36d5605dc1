"""What ``auto`` stands for: the fastest engine that computes what was trained."""

from pathlib import Path

import pytest
import torch

import levt
from levt.edits import kernels
from levt.engine import engine, native_library
from levt.engine.native_engine import NativeEngine
from levt.errors import ConfigError
from tiny_models import LINES, save_tiny


def chosen(folder: Path, device: str | None, dtype: str | None = None) -> tuple[str, str | None]:
    return engine._exact(folder, device, dtype)


def test_a_gpu_is_taken_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = save_tiny(tmp_path / "levt")
    monkeypatch.setattr(kernels, "HAVE_TRITON", True)
    monkeypatch.setattr(native_library, "fast", lambda: False)
    found = []
    for gpu, device in ((False, None), (True, None), (True, "cpu"), (True, "cuda:1")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda gpu=gpu: gpu)
        found.append(chosen(folder, device)[0])
    monkeypatch.setattr(kernels, "HAVE_TRITON", False)
    found.append(chosen(folder, "cuda")[0])
    assert found == ["torch", "cuda", "torch", "cuda", "torch"]


def test_on_a_cpu_model_precision_and_processor_choose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, writer = save_tiny(tmp_path / "levt"), save_tiny(tmp_path / "ar", "autoregressive")
    monkeypatch.setattr(native_library, "fast", lambda: True)
    assert chosen(folder, "cpu") == chosen(folder, "cpu", "float32") == ("native", "float32")
    assert chosen(folder, "cpu", "bfloat16") == ("torch", "bfloat16")
    assert chosen(folder, "mps") == chosen(writer, "cpu") == ("torch", None)
    monkeypatch.setattr(native_library, "fast", lambda: False)
    assert chosen(folder, "cpu") == ("torch", None)


@pytest.mark.parametrize(
    ("flags", "compiled", "expected"),
    [
        ("flags : avx2", True, False),
        ("flags : avx2 avx512f", False, False),
        ("flags : avx2 avx512f", True, True),
    ],
)
def test_it_is_fast_with_the_instructions_and_a_compiler(
    flags: str, compiled: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def library() -> None:
        if not compiled:
            raise ConfigError("there is no C compiler", hint="install one")

    monkeypatch.setattr(native_library, "processor", lambda: flags)
    monkeypatch.setattr(native_library, "library", library)
    # It remembers what it found, so it is asked afresh.
    assert native_library.fast.__wrapped__() == expected


@pytest.mark.skipif(not native_library.fast(), reason="needs AVX-512 and a C compiler")
def test_the_texts_are_those_of_torch(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "levt", seed=3)
    auto, plain = levt.load(folder, device="cpu"), levt.load(folder, device="cpu", engine="torch")
    assert isinstance(auto.engine, NativeEngine)
    assert [result.text for result in auto.translate(LINES)] == [
        result.text for result in plain.translate(LINES)
    ]
