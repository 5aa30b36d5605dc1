"""An LSTM learns on a GPU as it does on a CPU: what torch does to its weights there takes none from the optimiser."""

from pathlib import Path
from typing import Any

import pytest
import torch
from small_runs import SMALL, Saved, config, copy_store
from torch import nn

from levt.data.pack import Packed
from levt.imitation.teacher_forcing import TeacherForcingLessons
from levt.policy.build import build
from levt.policy.config import RecurrentConfig
from levt.training.log import read_log
from levt.training.loop import Trainer
from levt.training.weights import FlatWeights


def recurrent() -> nn.Module:
    torch.manual_seed(0)
    vocabulary = SMALL["source_vocabulary"]
    return build(
        RecurrentConfig(
            source_vocabulary=vocabulary, target_vocabulary=vocabulary, width=16, max_length=32, dropout=0.0
        )
    )


def losses(folder: Path, device: str, **fields: Any) -> list[float]:
    store = copy_store(folder / "store")
    lessons = TeacherForcingLessons(
        store, Packed.fitting(store, target=128), smoothing=0.1, reads_draft=False
    )
    plain = {"precision": "fp32", "compile": False, "capture": False}
    training = config(max_steps=8, **{**plain, **fields})
    Trainer(recurrent(), lessons, training, folder / "run", save=Saved(), device=device).run()
    return [
        record["token"] for record in read_log(folder / "run" / "log.jsonl") if record["event"] == "train"
    ]


def laid_out_anew(self: nn.LSTM) -> None:
    """What torch does on a GPU whenever a module is moved: the weights are copied to a place of their own."""
    for weight in self.parameters():
        weight.data = weight.data.clone()


def test_weights_that_torch_lays_out_anew_are_learnt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = losses(tmp_path / "plain", "cpu")
    monkeypatch.setattr(nn.LSTM, "flatten_parameters", laid_out_anew)
    assert losses(tmp_path / "moved", "cpu") == expected


def test_weights_that_were_taken_away_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nn.LSTM, "flatten_parameters", laid_out_anew)
    model = recurrent()
    weights = FlatWeights(model, config(), torch.float32)
    assert weights.hold(model)
    assert not weights.hold(model.to("cpu"))


@pytest.mark.gpu
@pytest.mark.parametrize("capture", [False, True])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_same_losses_on_a_gpu(tmp_path: Path, precision: str, capture: bool) -> None:
    expected = losses(tmp_path / "cpu", "cpu")
    found = losses(tmp_path / "gpu", "cuda", precision=precision, capture=capture)
    assert found == pytest.approx(expected, rel=2e-3 if precision == "fp32" else 2e-2)
