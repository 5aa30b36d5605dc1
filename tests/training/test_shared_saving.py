"""Checkpoints of a run: each process verifies its share of the files, and damage that one finds stops all."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from torch import Tensor

from levt.errors import ModelError
from levt.training.checkpoint import Record, Standing, checksum
from levt.training.parallel import World
from levt.training.saving import Saver

NAMES = ["a", "b", "c"]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    for name in NAMES:
        (tmp_path / name).write_text(name)
    sums = {name: checksum(tmp_path / name) for name in NAMES}
    return Record(standing=Standing(), identity={}, sums=sums)


def verify(folder: Path, record: Record, rank: int, others: int = 0) -> None:
    """As one of two processes, where so many of the others have found damage."""

    def summed(count: Tensor) -> Tensor:
        return count + others

    saver = object.__new__(Saver)
    saver.world = cast("World", SimpleNamespace(rank=rank, size=2, sum=summed))
    saver._verify(folder, record)


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_read_by_one(tmp_path: Path, record: Record, name: str) -> None:
    for rank in range(2):
        verify(tmp_path, record, rank)
    (tmp_path / name).write_text("other")
    reader = NAMES.index(name) % 2
    verify(tmp_path, record, 1 - reader)
    with pytest.raises(ModelError, match=f"the checksum of {name} differs"):
        verify(tmp_path, record, reader)


def test_what_another_finds_stops_this_one_too(tmp_path: Path, record: Record) -> None:
    with pytest.raises(ModelError, match="is damaged: another process has found it"):
        verify(tmp_path, record, 0, others=1)
