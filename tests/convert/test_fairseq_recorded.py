"""Recorded runs: compared by `levt parity`, and checked before."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from fairseq_stand_in import StandIn
from recorded_runs import expected, recorded

from levt.convert.fairseq_parity import parity
from levt.errors import InputError


@pytest.mark.parametrize("flags", [{}, {"share_all_embeddings": False}])
def test_the_command_says_ok(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: dict[str, Any]
) -> None:
    from levt.cli import main

    main(["parity", str(recorded(StandIn(**flags), tmp_path))])
    out = capsys.readouterr().out
    assert out.count("OK") == 4
    assert "FAIL" not in out


def test_the_command_fails_on_other_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from levt.cli import main

    folder = recorded(StandIn(), tmp_path)
    numbers = expected(StandIn())
    numbers["01.delete"] = numbers["01.delete"] + 2e-4
    numbers["02.token"][0, 3] = numpy.nan
    numpy.savez(folder / "expected.npz", **numbers)
    with pytest.raises(SystemExit) as caught:
        main(["parity", str(folder)])
    assert caught.value.code == 1
    table = {line.split()[0]: line.split()[-1] for line in capsys.readouterr().out.splitlines()[1:]}
    assert table == {"encoder": "OK", "delete": "FAIL", "placeholder": "OK", "token": "FAIL"}


def test_a_folder_without_a_recorded_run_is_refused(tmp_path: Path) -> None:
    StandIn().save(tmp_path)
    with pytest.raises(InputError, match="recorded run"):
        parity(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda run: [], "must have lists"),
        (lambda run: {"cases": []}, "must have lists"),
        (lambda run: {"cases": [{**run["cases"][0], "source": 5}]}, "case 1 must have"),
        (lambda run: {"cases": [{**run["cases"][0], "id": "other"}]}, "no numbers other.encoder"),
        (lambda run: {**run, "decoding": [{"source": []}]}, "case 1 of decoding"),
        (lambda run: {**run, "decoding": 5}, "must have lists"),
    ],
)
def test_a_recorded_run_that_says_too_little_is_refused(
    tmp_path: Path, change: Callable[[Any], Any], words: str
) -> None:
    file = recorded(StandIn(), tmp_path) / "expected.json"
    file.write_text(json.dumps(change(json.loads(file.read_text("utf-8")))), encoding="utf-8")
    with pytest.raises(InputError, match=words) as caught:
        parity(tmp_path)
    assert caught.value.hint


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 cut short", b"\x93NUMPY"])
def test_damaged_numbers_are_refused(tmp_path: Path, data: bytes) -> None:
    (recorded(StandIn(), tmp_path) / "expected.npz").write_bytes(data)
    with pytest.raises(InputError, match="cannot be read"):
        parity(tmp_path)


def test_numbers_of_another_byte_order_and_precision_are_read(tmp_path: Path) -> None:
    folder = recorded(StandIn(), tmp_path)
    numpy.savez(folder / "expected.npz", **{k: v.astype(">f8") for k, v in expected(StandIn()).items()})
    assert all(row.within(1e-4) for row in parity(folder))
