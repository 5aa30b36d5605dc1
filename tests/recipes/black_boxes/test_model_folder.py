"""Our own models as black boxes."""

from pathlib import Path

import pytest

import levt
from levt.errors import ConfigError, ModelError
from levt.recipes.black_boxes import BlackBox, open_black_box
from tiny_models import save_tiny

TEXTS = ["A dog runs.", "", "Two cats sleep."]


@pytest.mark.parametrize("kind", ["levt", "autoregressive", "recurrent"])
def test_as_the_model_itself(tmp_path: Path, kind: str) -> None:
    folder = save_tiny(tmp_path / kind, kind)
    box = open_black_box(f"levt:{folder}", device="cpu")
    assert isinstance(box, BlackBox)
    assert box.translate(TEXTS) == [r.text for r in levt.load(folder, device="cpu").translate(TEXTS)]


def test_what_cannot_write_is_refused(tmp_path: Path) -> None:
    save_tiny(tmp_path / "editor", "post-editing")
    with pytest.raises(ConfigError, match="post-editing model"):
        open_black_box(f"levt:{tmp_path / 'editor'}", device="cpu")
    for kind in ("levt", "masked", "denoising", "insertion"):
        save_tiny(tmp_path / kind, kind)
        with pytest.raises(ConfigError, match=f"a model of kind {kind} has no beam"):
            open_black_box(f"levt:{tmp_path / kind}", device="cpu", beam=2)
    with pytest.raises(ModelError):
        open_black_box(f"levt:{tmp_path / 'nothing'}", device="cpu")


@pytest.mark.parametrize("spec", ["phrase:nowhere", "command:cat", "http://localhost:9"])
def test_a_beam_is_for_models_only(spec: str) -> None:
    with pytest.raises(ConfigError, match=r"a black box .* has no beam, got 4\nhint: leave it out"):
        open_black_box(spec, beam=4)
