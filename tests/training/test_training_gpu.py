"""Every kind of network learns on a GPU what it learns on a CPU."""

from pathlib import Path
from typing import Any

import jaxtyping
import pytest
import worker
from small_runs import copy_store

LEVT = [kind == "levt" for kind, _ in worker.KINDS]
PLAIN = {"precision": "fp32", "compile": False, "capture": False}


@pytest.mark.gpu
# Torch's advice on its own speed, in Inductor.
@pytest.mark.filterwarnings("ignore:TensorFloat32 tensor cores:UserWarning")
@pytest.mark.filterwarnings(r"ignore:\s*Online softmax is disabled:UserWarning")
@pytest.mark.parametrize("settings", [PLAIN, {}], ids=["plain", "as it comes"])
def test_the_same_losses(tmp_path: Path, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    # Dynamo cannot trace what the check of shapes would say of a mistake; other tests have it on.
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    copy_store(tmp_path / "store", draft=True)
    steps = {"max_steps": 8, "learning_rate": 0.03, "micro_batches": 1}
    expected = worker.every_kind(tmp_path / "store", tmp_path / "cpu", {**PLAIN, **steps}, dropout=0.0)
    found = worker.every_kind(
        tmp_path / "store", tmp_path / "gpu", {**settings, **steps}, "cuda", dropout=0.0
    )
    for name, values in expected.items():
        if name.endswith("gradient_norm"):
            continue
        if LEVT[int(name.split(".")[0])]:
            # What it samples for itself is drawn on the device: other states, as hard on average.
            assert found[name].mean().item() == pytest.approx(values.mean().item(), rel=0.1), name
        else:
            assert found[name].tolist() == pytest.approx(values.tolist(), rel=0.05), name
