"""How IT learns: to translate at once, then to improve what it wrote itself, or what noise left (Lee et al. 2018).

The first decoder learns the target from the spread source. The second learns it from the first one's own
translation or, in a share of the rows, from the target after corruption: denoising. Further iterations go on
from what the second decoder wrote. A third loss teaches the length.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float, Int, Int64, Num
from torch import Tensor, nn

from levt.data.pack import Packed as Budget
from levt.data.store import Store
from levt.errors import FLAGS, ConfigError, raise_all
from levt.imitation.lesson import Arrays, fixed
from levt.imitation.lessons import Lessons
from levt.imitation.likelihood import Likelihood, OwnTokens
from levt.imitation.ragged import Ragged
from levt.imitation.roll_in import RollIn, corrupt
from levt.policy.denoising import Denoising
from levt.policy.layout import Packed
from levt.text.specials import PAD, UNK


@dataclass(frozen=True, kw_only=True)
class DenoisingTeaching:
    """How IT is taught."""

    denoising: float = 0.5
    """Share of rows whose second decoder reads the corrupted target and not the first one's translation."""
    noise: float = 0.2
    """Share of tokens that corruption replaces, repeats or swaps, a third each."""
    iterations: int = 3
    """Passes of the second decoder that learn; with the first one's, the authors' four."""
    length_weight: float = 0.1
    """Weight of the length loss beside the token losses; each is a mean over its own decisions."""

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be between 0 and 1, got {getattr(self, name)}"
            for name in ("denoising", "noise")
            if not 0 <= getattr(self, name) <= 1
        ]
        if self.iterations < 1:
            problems.append(f"iterations must be at least 1, got {self.iterations}")
        if not self.length_weight >= 0:  # not a number is neither above nor below
            problems.append(f"length_weight must be at least 0, got {self.length_weight}")
        raise_all(ConfigError, "teaching", problems, hint=FLAGS)


def spread_rows(source: Ragged, target: Ragged) -> Int64[np.ndarray, "t"]:
    """Source tokens over the target's places, with its boundaries: ``levt.policy.denoising.spread``, on the host.

    >>> spread_rows(Ragged(np.array([1, 7, 8, 2]), np.array([4])), Ragged(np.array([1, 5, 5, 5, 2]), np.array([5])))
    array([1, 7, 7, 8, 2])
    """
    row, place = target.row, target.places
    size, wanted = source.lengths[row] - 2, target.lengths[row] - 2
    at = source.begins[row] + 1 + (place - 1) * size // np.maximum(wanted, 1)
    tokens = np.where(size > 0, source.flat[np.minimum(at, len(source.flat) - 1)], UNK)
    return np.where((place > 0) & (place <= wanted), tokens, target.flat)


class DenoisingObjective(nn.Module):
    """−Σ log π(y*_i | spread x), −Σ log π(y*_i | ŷ, x) over iterations, and −log π(N | x)."""

    losses: ClassVar[tuple[str, ...]] = ("draft", "refine", "length")

    def __init__(
        self, policy: Denoising, config: DenoisingTeaching, smoothing: float, budget: Budget, longest: int
    ) -> None:
        super().__init__()
        self.policy, self.budget, self.longest = policy, budget, longest
        self.iterations = config.iterations
        self.token_likelihood = Likelihood(smoothing)
        self.length_likelihood = Likelihood(0.0)
        self.own_tokens = OwnTokens(sample=False)
        self.register_buffer("weights", torch.tensor([1.0, 1.0, config.length_weight]), persistent=False)
        self.weights: Tensor

    def forward(
        self, lesson: Mapping[str, Int[Tensor, "_"]], decisions: Num[Tensor, "3"]
    ) -> tuple[Float[Tensor, ""], Float[Tensor, "3"]]:
        """The weighed sum of mean losses, and the three sums; ``decisions`` are those of the global batch."""
        policy = self.policy
        lesson = {name: value.long() for name, value in lesson.items()}
        rows = Packed.of(lesson["source_lengths"], self.budget.source, self.longest)
        memory = policy.encode(lesson["source"], rows)
        layout = Packed.of(lesson["target_lengths"], self.budget.target, self.longest)
        length = self.length_likelihood(policy.length_policy(memory), lesson["length"])
        target, labels = lesson["target"], lesson["labels"]

        logits = policy.token_logits(policy.hidden(memory, lesson["spread"], layout, "draft"))
        draft = refine = self.token_likelihood(logits, labels)
        for i in range(self.iterations):
            y = torch.where(labels >= 0, self.own_tokens(logits), target)
            if i == 0:
                y = torch.where(lesson["noised"] > 0, lesson["corrupted"], y)
            logits = policy.token_logits(policy.hidden(memory, y, layout, "refine"))
            loss = self.token_likelihood(logits, labels)
            refine = refine + loss if i else loss
        sums = torch.stack([draft, refine, length])
        return (self.weights * sums / decisions.clamp(min=1)).sum(), sums.detach()


class DenoisingLessons(Lessons):
    """Lessons for IT."""

    names = DenoisingObjective.losses

    def __init__(
        self, store: Store, budget: Budget, model: nn.Module, config: DenoisingTeaching, *, smoothing: float
    ) -> None:
        super().__init__(store, budget)
        assert isinstance(model, Denoising)
        self.config, self.smoothing = config, smoothing
        self.vocabulary = model.config.target_vocabulary
        self.noise = RollIn(noise=config.noise)

    def objective(self, model: nn.Module) -> nn.Module:
        """The losses of this model."""
        assert isinstance(model, Denoising)
        return DenoisingObjective(model, self.config, self.smoothing, self.budget, self.longest)

    def make(self, rows: np.ndarray, draw: np.random.Generator) -> tuple[Arrays, np.ndarray]:
        """Spread each source, corrupt each target, and choose what the second decoder reads."""
        source, target, budget = self.rows_of("source", rows), self.rows_of("target", rows), self.budget
        inner = target.inner
        noised = draw.random(len(target.lengths)) < self.config.denoising
        corrupted = corrupt(target, self.noise, self.vocabulary, draw)
        flat = {
            "target": (target.flat, PAD),
            "spread": (spread_rows(source, target), PAD),
            "corrupted": (corrupted.flat, PAD),
            "noised": (noised[target.row].astype(np.int64), 0),
            "labels": (np.where(inner, target.flat, -1), -1),
        }
        lesson: Arrays = {
            "source": fixed(source.flat, budget.source, PAD),
            "source_lengths": fixed(source.lengths, budget.rows, 0),
            "target_lengths": fixed(target.lengths, budget.rows, 0),
            "length": fixed(target.lengths - 2, budget.rows, -1),
        } | {name: fixed(values, budget.target, filler) for name, (values, filler) in flat.items()}
        tokens = int(inner.sum())
        return lesson, np.array([tokens, tokens * self.config.iterations, len(target.lengths)], np.int32)
