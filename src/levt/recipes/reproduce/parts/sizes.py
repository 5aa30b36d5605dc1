"""Sizes and lengths of training at each scale. Knows no task.

The paper's are those of ``levt.recipes.paper``: d 512, inner 2048, 8 heads, 6 + 6 layers, 65,536 target tokens a step.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from levt.recipes.paper import TRAINING
from levt.recipes.reproduce.framework.setting import Scale

LEFT_TO_RIGHT = ("autoregressive", "recurrent", "post-editing")
"""Kinds that learn from every token at once, and so in fewer steps."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large, how long, and how long that takes."""

    model: Mapping[str, Any]
    """Fields of every network."""
    deep_encoder: int
    """Encoder layers of the deep and shallow student (12-1 in the paper's size)."""
    left_to_right: Mapping[str, Any]
    """Training of models that write from left to right."""
    all_at_once: Mapping[str, Any]
    """Training of the others."""
    levt: Mapping[str, Any] = field(default_factory=dict)
    """Fields that only LevT has."""
    dev_limit: int = 1_000
    """Sentences of the dev set that choose the checkpoint."""
    overhead: float = 30.0
    """Seconds of a training beside its steps: start, compilation, validation."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """Target tokens a second, by kind, as measured or guessed."""
    penalties: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
    """Every γ that is tried on the dev set."""
    limits: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8, 10)
    """Every limit of iterations that the figure has."""
    timing: float = 5.0
    """Seconds for which each system is timed."""

    def network(self, kind: str) -> dict[str, Any]:
        """Fields of a network of that kind."""
        return {**self.model, **(self.levt if kind == "levt" else {})}

    def training(self, kind: str) -> dict[str, Any]:
        """Fields of the training of that kind."""
        return dict(self.left_to_right if kind in LEFT_TO_RIGHT else self.all_at_once)


TOY = Size(
    model={"width": 16, "hidden": 32, "heads": 2, "encoder_layers": 1, "decoder_layers": 2, "max_length": 64},
    levt={"max_count": 20},
    deep_encoder=2,
    left_to_right={
        "tokens": 256, "max_steps": 8, "learning_rate": 0.01, "warmup": 4, "validate_every": 8, "save_every": 8,
        "log_every": 4,
    },
    all_at_once={
        "tokens": 256, "max_steps": 8, "learning_rate": 0.01, "warmup": 4, "validate_every": 8, "save_every": 8,
        "log_every": 4,
    },
    dev_limit=4,
    overhead=1.0,
    rates={"levt": 20_000.0},
    penalties=(2.5, 3.0),  # what has learnt so little would open no gap without
    limits=(1, 10),
    timing=0.02,
)  # fmt: skip

RATES = {"levt": 742e3, "autoregressive": 1_150e3, "masked": 1_000e3, "insertion": 700e3, "denoising": 400e3}
"""Target tokens a second of the small network alone on an H200; the first two measured, the others guessed.

Several side by side share about 1.5 times as much (see ``CROWD`` of the schedule).
"""

# Learning rates, lengths, averages: the best of what was tried on Multi30k, about a minute of an H200 each.
QUICK = Size(
    model={"width": 256, "hidden": 1024, "heads": 4, "encoder_layers": 6, "decoder_layers": 6, "max_length": 512},
    deep_encoder=12,
    left_to_right={
        "tokens": 12_288, "max_steps": 4_000, "learning_rate": 1e-3, "warmup": 300, "schedule": "cosine", "ema": 0.998,
        "validate_every": 1_000, "save_every": 2_000,
    },
    all_at_once={
        "tokens": 12_288, "max_steps": 5_000, "learning_rate": 1e-3, "warmup": 500, "schedule": "cosine", "ema": 0.999,
        "validate_every": 1_000, "save_every": 2_000,
    },
    overhead=25.0,
    rates=RATES,
    penalties=(0.0, 0.5, 1.0, 2.0, 3.0),
    timing=3.0,
)  # fmt: skip

PAPER = Size(
    model={
        "width": 512,
        "hidden": 2048,
        "heads": 8,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "max_length": 1024,
    },
    deep_encoder=12,
    left_to_right={name: value for name, value in asdict(TRAINING).items() if name not in ("seed",)},
    all_at_once={name: value for name, value in asdict(TRAINING).items() if name not in ("seed",)},
    dev_limit=3_000,
    overhead=600.0,
    rates={"levt": 460e3, "autoregressive": 744e3, "masked": 600e3, "insertion": 430e3, "denoising": 250e3},
    timing=30.0,
)

SIZES: dict[Scale, Size] = {"toy": TOY, "quick": QUICK, "paper": PAPER}


def size(scale: Scale) -> Size:
    """The size of a scale."""
    return SIZES[scale]
