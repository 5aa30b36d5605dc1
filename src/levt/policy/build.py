"""From a configuration to a network with fresh weights."""

from torch import nn

from levt.policy.config import LevTConfig, ModelConfig
from levt.policy.levt import LevT


def build(config: ModelConfig) -> nn.Module:
    """The network that a configuration describes, initialised at random.

    >>> type(build(LevTConfig(source_vocabulary=9, target_vocabulary=9, width=8, hidden=8, heads=2))).__name__
    'LevT'
    """
    if isinstance(config, LevTConfig):
        return LevT(config)
    raise TypeError(f"no network for {type(config).__name__}")
