"""Early exit of a loaded model: policies leave their towers below the top, for speed. Knows no training.

It pays where a model was taught with exits at these depths; elsewhere it costs quality, which is to be measured.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import nn

from levt.engine.native_policy import NativePolicy
from levt.errors import ConfigError, raise_all
from levt.policy.config import POLICIES
from levt.policy.levt import LevT
from levt.refine.ranges import Range


def leave_early(network: nn.Module, exits: Mapping[str, int]) -> None:
    """Let policies (delete, placeholder, token) leave their towers at these depths, from now on."""
    if not isinstance(network, LevT | NativePolicy):
        raise ConfigError(
            "only LevT run by torch or by our own code can leave its towers early",
            hint="--engine torch, cuda or native; graphs have the exits of their model folder",
        )
    problems = []
    for policy, depth in exits.items():
        tower = next((network.towers[known] for known in POLICIES if known == policy), None)
        if tower is None:
            problems.append(f"a policy is one of {', '.join(POLICIES)}, got {policy!r}")
        elif problem := Range(1, tower.depth).problem(depth, whole=True):
            problems.append(f"the exit of {policy} {problem}")
    raise_all(
        ConfigError,
        "early exit",
        problems,
        hint="a depth counts layers of the decoder; what is left out stays as it is",
    )
    settings: dict[str, Any] = {f"{policy}_exit": depth for policy, depth in exits.items()}
    network.config = replace(network.config, **settings)
