"""From a configuration to a network with fresh weights."""

from collections.abc import Callable
from typing import Any

from torch import nn

from levt.errors import ConfigError
from levt.policy.autoregressive import Autoregressive
from levt.policy.config import (
    AutoregressiveConfig,
    LevTConfig,
    ModelConfig,
    PostEditingConfig,
    RecurrentConfig,
)
from levt.policy.denoising import Denoising, DenoisingConfig
from levt.policy.insertion import InsertionConfig, InsertionTransformer
from levt.policy.levt import LevT
from levt.policy.masked import Masked, MaskedConfig
from levt.policy.post_editing import PostEditor
from levt.policy.recurrent import Recurrent

NETWORKS: dict[type[ModelConfig], Callable[[Any], nn.Module]] = {
    LevTConfig: LevT,
    AutoregressiveConfig: Autoregressive,
    PostEditingConfig: PostEditor,
    RecurrentConfig: Recurrent,
    MaskedConfig: Masked,
    DenoisingConfig: Denoising,
    InsertionConfig: InsertionTransformer,
}
"""The network of every kind of configuration."""


def build(config: ModelConfig) -> nn.Module:
    """The network that a configuration describes, initialised at random from torch's generator.

    >>> type(build(LevTConfig(source_vocabulary=9, target_vocabulary=9, width=8, hidden=8, heads=2))).__name__
    'LevT'
    """
    made = type(config)
    if made not in NETWORKS:
        raise ConfigError(
            f"nobody knows the network of {made.__name__}", hint="add a line to NETWORKS in policy/build.py"
        )
    if "kind" not in vars(made):
        # Its folder would be read as one of the other kind.
        raise ConfigError(
            f"{made.__name__} has no kind of its own, {config.kind!r} is another's",
            hint="name it in the class: kind: ClassVar[str] = …",
        )
    return NETWORKS[made](config)
