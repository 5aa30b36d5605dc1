"""Setting: what a user may ask of any reproduction. Knows no reproduction."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from levt.errors import ConfigError, raise_all

Scale = Literal["toy", "quick", "paper"]
CLOSE_CALLS: dict[Scale, int] = {"toy": 1, "quick": 3, "paper": 1}
"""Trainings of each model about which less than one BLEU is claimed, unless somebody asks for another number."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How large, on what, how often."""

    scale: Scale = "quick"
    """toy: made-up sentences, seconds on a CPU; quick: small models, minutes on a GPU; paper: the paper's, days."""
    data: Path = field(default_factory=lambda: Path("data"))
    """Folder with one folder for each set of texts; toy needs none."""
    seeds: int = 1
    """Trainings of each model whose scores are averaged."""
    close_calls: int = 1
    """The same where a claim is about less than one BLEU, if that is more."""
    tasks: tuple[str, ...] = ()
    """Of a reproduction that has several tasks, which; none given: all."""

    def __post_init__(self) -> None:
        problems = []
        if self.scale not in get_args(Scale):
            problems.append(f"scale must be one of {', '.join(get_args(Scale))}, got {self.scale!r}")
        for name in ("seeds", "close_calls"):
            if not 1 <= getattr(self, name) <= 20:
                problems.append(f"{name} must be between 1 and 20, got {getattr(self, name)}")
        raise_all(ConfigError, "setting", problems, hint="`levt reproduce --help` explains each setting")
