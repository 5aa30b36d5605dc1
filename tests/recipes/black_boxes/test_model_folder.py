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
    save_tiny(tmp_path / "levt")
    with pytest.raises(ConfigError, match="no beam"):
        open_black_box(f"levt:{tmp_path / 'levt'}", device="cpu", beam=2)
    with pytest.raises(ModelError):
        open_black_box(f"levt:{tmp_path / 'nothing'}", device="cpu")
