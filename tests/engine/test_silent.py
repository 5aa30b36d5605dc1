"""Nobody is told what levt is used for: by itself ONNX Runtime keeps an identifier and reports to its makers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tiny_models import save_tiny


def test_onnx_runtime_keeps_no_identifier_and_reports_nothing(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    folder, home = save_tiny(tmp_path / "model", "levt"), tmp_path / "home"
    code = f"import levt; levt.load({str(folder)!r}, engine='onnx', device='cpu').translate('A dog runs.')"
    ours = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    homes = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    subprocess.run([sys.executable, "-c", code], env=ours | homes, check=True)
    assert {path.name for path in home.rglob("*") if path.is_dir()} >= {"levt"}
    assert [path for path in (home / "cache").iterdir() if path.name != "levt"] == []
    assert [path for path in home.iterdir() if path.name != "cache"] == []
