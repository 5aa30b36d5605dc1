"""From a network to a folder of graphs."""

from pathlib import Path

from torch import nn

from levt.engine.onnx_autoregressive import write_autoregressive
from levt.engine.onnx_graph import Weights
from levt.engine.onnx_levt import write_levt
from levt.engine.onnx_linear import Precision
from levt.engine.onnx_writer import Writer
from levt.errors import ConfigError
from levt.policy.autoregressive import Autoregressive
from levt.policy.config import POLICIES, AutoregressiveConfig, LevTConfig, ModelConfig
from levt.policy.levt import LevT

KINDS = (LevTConfig, AutoregressiveConfig)
"""What can be made into graphs."""
WEIGHTS = "weights.bin"
"""The file of weights, beside the graphs."""


def check_kind(config: ModelConfig) -> None:
    """Refuse the kinds of networks of which there are no graphs."""
    if type(config) not in KINDS:
        raise ConfigError(
            f"ONNX graphs are made of models of kind {' and '.join(kind.kind for kind in KINDS)}, "
            f"got {config.kind}",
            hint="the engine torch runs every kind",
        )


def passes(config: ModelConfig) -> tuple[str, ...]:
    """The passes through a network of which there are graphs."""
    return ("encode", *POLICIES) if isinstance(config, LevTConfig) else ("encode", "step", "score")


def write_network(network: nn.Module, folder: Path, precision: Precision) -> dict[str, list[str]]:
    """Write the graphs of a network, and give the graphs that each pass runs."""
    assert isinstance(network, LevT | Autoregressive)
    check_kind(network.config)
    with (folder / WEIGHTS).open("wb") as file:
        writer = Writer(network, folder, Weights(file, WEIGHTS), precision)
        if isinstance(network, LevT):
            write_levt(writer, network)
        else:
            write_autoregressive(writer, network)
    return writer.chains
