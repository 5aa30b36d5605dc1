"""The texts of a converted model are compared one by one."""

import json
from pathlib import Path

import numpy
import pytest
from fairseq_stand_in import PIECES, StandIn

from levt.cli import main
from levt.convert.fairseq import convert_fairseq
from levt.convert.fairseq_decoding import compare_decoding
from levt.engine.model import Model
from levt.engine.torch_engine import TorchEngine


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A recorded run whose texts come from our own decoding, one sentence at a time, by another way."""
    checkpoint, dictionary, _ = StandIn().save(tmp_path)
    (tmp_path / "dict.source.txt").unlink()
    converted = convert_fairseq(checkpoint, dictionary)
    model = Model(TorchEngine(converted.model, converted.tokenizers))
    cases = []
    for penalty in (0.0, 1.0):
        for source in (PIECES[:4], PIECES[3:5], PIECES[:1]):
            result = model.translate(" ".join(source), empty_gap_penalty=penalty)
            cases.append(
                {"source": list(source), "empty_gap_penalty": penalty, "output": list(result.pieces)}
            )
    recorded = {"cases": [], "decoding": cases}
    (tmp_path / "expected.json").write_text(json.dumps(recorded), encoding="utf-8")
    numpy.savez(tmp_path / "expected.npz")
    return tmp_path


def test_the_same_texts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["parity", str(folder)])
    assert capsys.readouterr().out.splitlines()[-1].split()[:3] == ["decoding", "6", "6"]


def test_another_text_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    recorded["decoding"][4]["output"].append(PIECES[0])
    (folder / "expected.json").write_text(json.dumps(recorded), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["parity", str(folder)])
    assert ended.value.code == 1
    shown = capsys.readouterr()
    assert shown.out.splitlines()[-1].split()[-1] == "FAIL"
    assert "texts differ, first in:" in shown.err


def test_batches_of_cases(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("levt.convert.fairseq_decoding.BATCH", 4)
    cases = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["decoding"]
    found = compare_decoding(convert_fairseq(folder / "checkpoint.pt", folder / "dict.txt"), cases)
    assert (found.cases, found.same) == (6, 6)
