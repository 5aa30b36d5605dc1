"""How MaskT learns: some target tokens are masked, and predicted from the others (Ghazvininejad et al. 2019).

The number of masks is uniform on 1 … N, so every iteration of mask-predict is met in training. A second loss
teaches the length.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Num
from torch import Tensor, nn

from levt.data.pack import Packed as Budget
from levt.data.store import Store
from levt.errors import FLAGS, ConfigError, raise_all
from levt.imitation.lesson import Arrays, LessonShape, fixed
from levt.imitation.lessons import Lessons
from levt.imitation.likelihood import Likelihood
from levt.imitation.ragged import Ragged
from levt.imitation.roll_in import RollIn, hold_to
from levt.policy.layout import Packed
from levt.policy.masked import Masked
from levt.text.specials import PAD, PLH


@dataclass(frozen=True, kw_only=True)
class MaskedTeaching:
    """How MaskT is taught."""

    length_weight: float = 0.1
    """Weight of the length loss beside the token loss; each is a mean over its own decisions."""

    def __post_init__(self) -> None:
        problems = []
        if not self.length_weight >= 0:  # not a number is neither above nor below
            problems.append(f"length_weight must be at least 0, got {self.length_weight}")
        raise_all(ConfigError, "teaching", problems, hint=FLAGS)


def random_masks(target: Ragged, draw: np.random.Generator) -> Bool[np.ndarray, "t"]:
    """Which tokens of rows with boundaries are masked: n ~ U{1, …, N} of N, each choice of n as likely."""
    inner = target.lengths - 2
    count = np.where(inner > 0, 1 + np.floor(draw.random(len(inner)) * inner), 0)
    key = draw.random(len(target.flat))
    key[~target.inner] = 2.0
    rank = np.empty(len(key), np.int64)
    # Sorted by row, then by chance: the place in the row is the rank.
    rank[np.lexsort((key, target.row))] = target.places
    masked: np.ndarray = rank < count[target.row]
    return masked


class MaskedObjective(nn.Module):
    """−Σ log π(y*_i | canvas, x) over masks, and −log π(N | x)."""

    losses: ClassVar[tuple[str, ...]] = ("token", "length")

    def __init__(self, policy: Masked, config: MaskedTeaching, smoothing: float, shape: LessonShape) -> None:
        super().__init__()
        self.policy, self.shape = policy, shape
        self.token_likelihood = Likelihood(smoothing)
        self.length_likelihood = Likelihood(0.0)
        self.register_buffer("weights", torch.tensor([1.0, config.length_weight]), persistent=False)
        self.weights: Tensor

    def forward(
        self, lesson: Mapping[str, Int[Tensor, "_"]], decisions: Num[Tensor, "2"]
    ) -> tuple[Float[Tensor, ""], Float[Tensor, "2"]]:
        """The weighed sum of mean losses, and the two sums; ``decisions`` are those of the global batch."""
        policy, shape = self.policy, self.shape
        lesson = {name: value.long() for name, value in lesson.items()}
        rows = Packed.of(lesson["source_lengths"], shape.source, shape.longest)
        memory = policy.encode(lesson["source"], rows)
        layout = Packed.of(lesson["target_lengths"], shape.target, shape.longest)
        h = policy.hidden(memory, lesson["canvas"], layout).index_select(0, lesson["hole_at"])
        token = self.token_likelihood(policy.token_logits(h), lesson["hole_tokens"])
        length = self.length_likelihood(policy.length_policy(memory), lesson["length"])
        sums = torch.stack([token, length])
        return (self.weights * sums / decisions.clamp(min=1)).sum(), sums.detach()


class MaskedLessons(Lessons):
    """Lessons for MaskT."""

    names = MaskedObjective.losses

    def __init__(
        self, store: Store, budget: Budget, model: nn.Module, config: MaskedTeaching, *, smoothing: float
    ) -> None:
        super().__init__(store, budget)
        assert isinstance(model, Masked)
        self.config, self.smoothing = config, smoothing
        # As many tokens are masked as random deletion takes out.
        self.shape = LessonShape.of(
            rows=budget.rows, source=budget.source, target=budget.target, draft=0,
            longest=self.longest, roll_in=RollIn(), joint=False,
        )  # fmt: skip

    def objective(self, model: nn.Module) -> nn.Module:
        """The losses of this model."""
        assert isinstance(model, Masked)
        return MaskedObjective(model, self.config, self.smoothing, self.shape)

    def make(self, rows: np.ndarray, draw: np.random.Generator) -> tuple[Arrays, np.ndarray]:
        """Mask some tokens of each target."""
        source, target, shape = self.rows_of("source", rows), self.rows_of("target", rows), self.shape
        kept = ~random_masks(target, draw)
        hold_to(kept, np.zeros(len(kept), bool), 0, shape.holes, draw)
        holes = np.flatnonzero(~kept)
        lesson: Arrays = {
            "source": fixed(source.flat, shape.source, PAD),
            "source_lengths": fixed(source.lengths, shape.rows, 0),
            "canvas": fixed(np.where(kept, target.flat, PLH), shape.target, PAD),
            "target_lengths": fixed(target.lengths, shape.rows, 0),
            "hole_at": fixed(holes, shape.holes, 0),
            "hole_tokens": fixed(target.flat[holes], shape.holes, -1),
            "length": fixed(target.lengths - 2, shape.rows, -1),
        }
        return lesson, np.array([len(holes), len(target.lengths)], np.int32)
