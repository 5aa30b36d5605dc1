"""A LevT that begins with what an autoregressive model knows: its tables, its encoder, and its decoder for each tower.

What to read and how words follow each other is the same for both; the heads that delete and open gaps, and reading to
the right as well, are left to learn. Knows no folder.
"""

from levt.errors import ConfigError, raise_all
from levt.policy.autoregressive import Autoregressive
from levt.policy.config import LevTConfig, TransformerConfig
from levt.policy.levt import LevT

FREE = frozenset({"dropout", "attention_dropout", "activation_dropout"})
"""What training alone sees, and may differ."""


def differences(child: LevTConfig, parent: TransformerConfig) -> list[str]:
    """Why a network cannot begin with the weights of another; empty where it can."""
    mine, theirs = child.to_json(), parent.to_json()
    shared = (mine.keys() & theirs.keys()) - FREE - {"kind"}
    found = [
        f"{key} is {theirs[key]!r} there and {mine[key]!r} here"
        for key in sorted(shared)
        if mine[key] != theirs[key]
    ]
    deep = {depth for depth in child.depths.values() if depth != parent.decoder_layers}
    return found + [f"it has {parent.decoder_layers} layers, a tower here {depth}" for depth in sorted(deep)]


def inherit(child: LevT, parent: Autoregressive) -> None:
    """Copy into ``child`` all weights that both have."""
    problems = differences(child.config, parent.config)
    raise_all(ConfigError, "weights cannot be inherited", problems, hint="give both networks the same sizes")
    decoder = parent.decoder.state_dict()
    for tower in child.decoders.values():
        tower.load_state_dict(decoder)
    rest = {name: t for name, t in parent.state_dict().items() if not name.startswith("decoder.")}
    child.load_state_dict(rest, strict=False)
