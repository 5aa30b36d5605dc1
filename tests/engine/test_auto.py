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


@pytest.mark.parametrize("flags", ["flags : sse2 avx2", "flags : sse2 avx2 avx512f"])
def test_without_the_instructions_or_a_compiler_it_is_not_fast(
    flags: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> str:
        raise ConfigError("no compiler", hint="install one")

    monkeypatch.setattr(native_library, "processor", lambda: flags)
    monkeypatch.setattr(native_library, "compiler", none)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    # Both remember what they found, so ask them afresh.
    monkeypatch.setattr(native_library, "library", native_library.library.__wrapped__)
    assert not native_library.fast.__wrapped__()


@pytest.mark.skipif(not native_library.fast(), reason="needs AVX-512 and a C compiler")
def test_the_texts_are_those_of_torch(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "levt", seed=3)
    auto, plain = levt.load(folder, device="cpu"), levt.load(folder, device="cpu", engine="torch")
    assert isinstance(auto.engine, NativeEngine)
    assert [result.text for result in auto.translate(LINES)] == [
        result.text for result in plain.translate(LINES)
    ]
