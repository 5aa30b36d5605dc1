"""The same texts on a GPU as on the CPU."""

from pathlib import Path

import pytest

import levt
from tiny_models import LINES, save_tiny

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("kind", ["levt", "autoregressive", "recurrent"])
def test_gpu_and_cpu_write_the_same(tmp_path: Path, kind: str) -> None:
    folder = save_tiny(tmp_path / "model", kind, seed=2)
    here, there = (levt.load(folder, device=d, dtype="float32") for d in ("cpu", "cuda"))
    texts = [*dict.fromkeys(LINES), "", "dog"]
    assert [r.text for r in there.translate(texts)] == [r.text for r in here.translate(texts)]


def test_steering_on_the_gpu(tmp_path: Path) -> None:
    model = levt.load(save_tiny(tmp_path / "model", seed=2))
    result = model.refine(
        LINES[0],
        draft="Ein Hund läuft",
        keep=["Hund"],
        drop=["Ein"],
        terms=["Schnee", "Stein"],
        insert_at={3: 2},
    )
    assert all(term in result.text for term in ("Hund", "Schnee", "Stein"))
    assert result.trace.result == result.tokens
    teacher = levt.load(save_tiny(tmp_path / "teacher", "autoregressive", seed=3))
    assert model.translate(LINES[:3], teacher=teacher)
    assert model.translate(LINES[0], terms=["a", "b", "c", "d", "e"]).text
    editor = levt.load(save_tiny(tmp_path / "editor", "post-editing", seed=3))
    assert editor.refine(LINES[:2], draft=["Ein Hund", ""], beam=3)
