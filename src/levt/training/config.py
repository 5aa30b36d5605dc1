"""Settings of a training run that any kind of model has. Knows no model and no data."""

import math
from dataclasses import dataclass, replace
from typing import Literal

from levt.errors import FLAGS, ConfigError, raise_all, wrong_choices

MOST_SEED = 2**32 - 1
"""Seed, step and micro-batch together make a number of 64 bits."""


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How long, how fast, how safe."""

    tokens: int = 12_288
    """Target tokens of one micro-batch on one device, boundaries included."""
    accumulate: int = 1
    """Micro-batches of one process that make up a step."""
    micro_batches: int | None = None
    """Micro-batches of all processes together that make up a step, whatever their number; None: accumulate of each."""
    max_steps: int = 100_000
    """Steps after which training ends."""
    max_minutes: float | None = None
    """Minutes after which training ends, everything included; None: no limit."""
    learning_rate: float = 5e-4
    """Highest learning rate."""
    warmup: int = 4_000
    """Steps in which the learning rate rises linearly."""
    schedule: Literal["inverse-sqrt", "cosine", "linear"] = "inverse-sqrt"
    """How it falls afterwards; the last two reach 0 when training ends, by steps or by minutes."""
    beta1: float = 0.9
    """Decay of Adam's mean of gradients."""
    beta2: float = 0.98
    """Decay of Adam's mean of squares."""
    weight_decay: float = 0.01
    """Decoupled weight decay."""
    clip: float = 1.0
    """Largest norm of the gradient; 0 for no limit."""
    ema: float = 0.0
    """Decay of the moving average of the weights that is validated and saved; 0: the weights themselves."""
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    """Numbers of forward and backward; auto: bf16 on a GPU, fp32 on a CPU. Master weights are always fp32."""
    compile: bool | None = None
    """torch.compile of the blocks; None: on a GPU."""
    capture: bool | None = None
    """Replay the step as a CUDA graph; None: on a GPU."""
    sharding: Literal["replicate", "shard"] = "replicate"
    """Under torchrun, replicate: all weights in every process (DDP); shard: a part in each (FSDP2)."""
    backend: Literal["auto", "nccl", "gloo"] = "auto"
    """How processes talk to each other; auto: nccl between GPUs, gloo between CPUs."""
    validate_every: int = 1_000
    """Steps between validations."""
    patience: int = 0
    """Validations without a better score after which training ends; 0: never."""
    save_every: int = 1_000
    """Steps between checkpoints."""
    keep: int = 2
    """Checkpoints kept, the best apart."""
    average: int = 0
    """At the end judge the mean of the last so many checkpoints too, which are kept for it; 0: only what was judged."""
    max_bad_steps: int = 20
    """Steps with a loss that is not finite after which training stops; they are skipped and counted."""
    log_every: int = 50
    """Steps between log lines."""
    seed: int = 1
    """Everything random is a pure function of this and the step."""

    def __post_init__(self) -> None:
        problems = wrong_choices(self)
        for name, least in (
            ("tokens", 16), ("accumulate", 1), ("max_steps", 1), ("warmup", 0), ("validate_every", 1), ("patience", 0),
            ("save_every", 1), ("keep", 1), ("average", 0), ("max_bad_steps", 1),
            ("log_every", 1), ("seed", 0), ("clip", 0), ("weight_decay", 0),
        ):  # fmt: skip
            if not getattr(self, name) >= least:  # not a number is neither above nor below
                problems.append(f"{name} must be at least {least}, got {getattr(self, name)}")
        if self.weight_decay == math.inf:
            problems.append("weight_decay must be finite, got inf")
        for name in ("beta1", "beta2", "ema"):
            if not 0 <= getattr(self, name) < 1:
                problems.append(f"{name} must be at least 0 and below 1, got {getattr(self, name)}")
        if not 0 < self.learning_rate < 1:
            problems.append(f"learning_rate must be above 0 and below 1, got {self.learning_rate}")
        if self.max_minutes is not None and not self.max_minutes > 0:
            problems.append(f"max_minutes must be above 0, got {self.max_minutes}")
        if self.seed > MOST_SEED:
            problems.append(f"seed must be at most {MOST_SEED}, got {self.seed}")
        if self.micro_batches is not None and self.micro_batches < 1:
            problems.append(f"micro_batches must be at least 1, got {self.micro_batches}")
        if self.micro_batches is not None and self.accumulate > 1:
            problems.append(
                f"micro_batches decides accumulate: set only one, got {self.micro_batches} and {self.accumulate}"
            )
        raise_all(ConfigError, "training", problems, hint=FLAGS)

    def shared_by(self, processes: int) -> "TrainingConfig":
        """The settings of one of so many processes, with the micro-batches of a step shared out.

        >>> TrainingConfig(micro_batches=8).shared_by(4).accumulate
        2
        """
        if self.micro_batches is None:
            return self
        if self.micro_batches % processes:
            raise ConfigError(
                f"{self.micro_batches} micro-batches cannot be shared by {processes} processes",
                hint="set --training.micro-batches to a multiple of every number of processes you may get",
            )
        return replace(self, accumulate=self.micro_batches // processes, micro_batches=None)
