"""What must not be written is not, whatever engine writes; all of them choose the same instead."""

import itertools
import shutil
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

import levt
from levt.engine.cuda_engine import CudaEngine
from levt.engine.engine import Engine
from levt.policy.folder import load_folder
from levt.policy.levt import LevT
from levt.refine.guidance import occurrences
from levt.refine.request import Request
from tiny_models import LINES, TOKENIZERS, save_tiny

pytestmark = pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler")
SOURCES = [tuple(TOKENIZERS.source.encode(line)) for line in LINES[:5]]


@pytest.mark.parametrize("seed", range(5))
def test_all_engines_write_the_same_without_it(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LEVT_THREADS", "1")
    folder = save_tiny(tmp_path / "model", seed=seed)
    plain = levt.load(folder, engine="torch", device="cpu").engine
    network = load_folder(folder).model
    assert isinstance(network, LevT)
    others: list[Engine] = [
        levt.load(folder, engine="native", dtype="float32").engine,
        levt.load(folder, engine="onnx").engine,
        CudaEngine(network, TOKENIZERS),
    ]
    free = plain.refine(plain.encode(SOURCES), [Request(source=source) for source in SOURCES])
    requests = [
        Request(source=outcome.request.source, banned=(pair,))
        for outcome in free
        for pair in list(itertools.pairwise(outcome.tokens))[:4]
    ]
    assert requests
    sources = [request.source for request in requests]
    expected = plain.refine(plain.encode(sources), requests)
    for outcome in expected:
        assert not occurrences(outcome.tokens, outcome.request.banned)
    for engine in others:
        for one, other in zip(engine.refine(engine.encode(sources), requests), expected, strict=True):
            assert (one.tokens, one.passes, one.stopped) == (other.tokens, other.passes, other.stopped)
            assert [round_.script for round_ in one.rounds] == [round_.script for round_ in other.rounds]
    for request, one in zip(requests, expected, strict=True):
        [alone] = plain.refine(plain.encode([request.source]), [request])
        assert alone.tokens == one.tokens
