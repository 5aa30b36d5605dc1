"""ONNX Runtime on the CPU, in single precision: the same texts as the plain engine, sooner.

Once the graphs are written no network of torch is built; they are written when there are none (see ``onnx_folder``).
"""

from pathlib import Path

import torch

from levt.engine.onnx_folder import PrecisionName, find_graphs, precision_named
from levt.engine.onnx_policy import GraphPolicy
from levt.engine.onnx_sessions import Sessions, runtime
from levt.engine.onnx_stepwise import GraphWriter
from levt.engine.torch_engine import TorchEngine
from levt.errors import ConfigError, ModelError, raise_all
from levt.policy.config import AutoregressiveConfig, LevTConfig
from levt.policy.folder import damaged_files, open_folder, read_tokenizers, vocabulary_problems
from levt.policy.folder_config import DAMAGED, WEIGHTS


class OnnxEngine(TorchEngine):
    """Runs the graphs of a model; everything around them is the plain engine's."""

    @property
    def device(self) -> torch.device:
        """Graphs run on the CPU."""
        return torch.device("cpu")

    @property
    def threads(self) -> int:
        """Threads of a graph."""
        assert isinstance(self.network, GraphPolicy | GraphWriter)
        return self.network.sessions.threads


def load(folder: Path, device: str | None = None, dtype: str | None = None) -> OnnxEngine:
    """Read the graphs of a model folder, writing them first where there are none."""
    return load_precision(folder, device, precision_named(dtype or "float32"))


def load_precision(folder: Path, device: str | None, precision: PrecisionName) -> OnnxEngine:
    """The same in a precision."""
    runtime()
    if device not in (None, "cpu"):
        raise ConfigError(f"ONNX graphs run on the CPU, got device {device!r}", hint="--engine torch")
    config = open_folder(folder)
    graphs = find_graphs(folder, config, precision)
    # The graphs have been checked and no network is built: the weights are not read, and may be missing.
    damaged = damaged_files(folder, config, without=(WEIGHTS,))
    problems = [f"{name}: {problem}" for name, problem in damaged.items()]
    raise_all(ModelError, f"the model folder {folder}", problems, hint=DAMAGED)
    tokenizers = read_tokenizers(folder, config)
    unfit = vocabulary_problems(config.model, tokenizers)
    raise_all(ModelError, f"the model folder {folder}", unfit, hint=DAMAGED)
    sessions = Sessions(graphs)
    if isinstance(config.model, LevTConfig):
        # Now, not at the first text.
        sessions.open_all()
        return OnnxEngine(GraphPolicy(sessions, config.model), tokenizers)
    assert isinstance(config.model, AutoregressiveConfig)
    return OnnxEngine(GraphWriter(sessions, config.model), tokenizers)
