"""Where a run keeps its checkpoints: in one file from the first process, or a part from each. Knows no step."""

from pathlib import Path
from typing import Any

import torch

from levt.errors import ModelError
from levt.training.checkpoint import (
    Record,
    Standing,
    checkpoint_path,
    damaged,
    prune,
    read_flat,
    read_record,
    verify,
    write_checkpoint,
)
from levt.training.config import TrainingConfig
from levt.training.parallel import World
from levt.training.weights import FlatWeights, Weights


class Saver:
    """Writes the checkpoints of a run as its weights are spread, reads them however they were."""

    def __init__(self, run: Path, weights: Weights, config: TrainingConfig, world: World) -> None:
        self.run, self.weights, self.world = run, weights, world
        self.keep = max(config.keep, config.average)
        self.shards = None
        if not isinstance(weights, FlatWeights):
            from levt.training.sharded_checkpoint import ShardedWriter

            self.shards = ShardedWriter(world)

    def write(self, standing: Standing, identity: dict[str, Any]) -> None:
        """Write the checkpoint of a step; all processes must take part. Sharded ones are only begun."""
        path = checkpoint_path(self.run, standing.step)
        if self.shards is not None:
            record = Record(standing=standing, identity=identity, workers=self.world.size)
            self.shards.begin(path, record, self.weights, after=self._prune)
        elif self.world.first:
            assert isinstance(self.weights, FlatWeights)
            write_checkpoint(path, standing, self.weights.state(), identity, self.world.size)
            self._prune()

    def _prune(self) -> None:
        prune(self.run, self.keep)

    def load(self, folder: Path, identity: dict[str, Any]) -> Record:
        """Take over the weights of a checkpoint, whoever wrote it; all processes must take part."""
        record = read_record(folder, identity)
        self._verify(folder, record)
        if record.shards:
            from levt.training.sharded_checkpoint import read_shards

            read_shards(folder, self.weights, self.world)
        else:
            self.weights.restore(read_flat(folder))
        if self.world.first:  # whoever wrote the last one may have been killed before it tidied up
            self._prune()
        return record

    def _verify(self, folder: Path, record: Record) -> None:
        """Each process reads some of the files; if one finds damage, all stop."""
        found: ModelError | None = None
        try:
            verify(folder, record, slice(self.world.rank, None, self.world.size))
        except ModelError as error:
            found = error
        if self.world.sum(torch.tensor([int(found is not None)])).item():
            raise found or damaged(folder, ValueError("another process has found it"))

    def wait(self) -> None:
        """Wait until what was begun is on the disk."""
        if self.shards is not None:
            self.shards.wait()

    def close(self) -> None:
        """The same, and make an end."""
        if self.shards is not None:
            self.shards.close()
