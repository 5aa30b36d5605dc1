"""How the Insertion Transformer learns: which tokens could come next in each gap (Stern et al. 2019).

Of a random part of the target, each gap lacks a span of tokens, maybe none. Its loss is Σ_i w_i · −log π(y_i | gap):
with w uniform over the span, or larger towards its middle, w_i ∝ exp(−|i − middle| / τ), so that the model learns to
write balanced binary trees. A gap that lacks nothing learns ``</s>``. A gap is one decision, and the losses are
averaged over all gaps of a batch (the paper averages within each sentence first).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int, Int64, Num
from torch import Tensor, nn

from levt.data.pack import Packed as Budget
from levt.data.store import Store
from levt.errors import FLAGS, ConfigError, raise_all, wrong_choices
from levt.imitation.lesson import Arrays, LessonShape, fixed
from levt.imitation.lessons import Lessons
from levt.imitation.ragged import Ragged
from levt.imitation.roll_in import RollIn, hold_to, random_deletion
from levt.policy.insertion import InsertionTransformer
from levt.policy.layout import Packed
from levt.text.specials import EOS, PAD


@dataclass(frozen=True, kw_only=True)
class InsertionTeaching:
    """How the Insertion Transformer is taught."""

    order: Literal["balanced", "uniform"] = "balanced"
    """Which of the missing tokens of a gap should come first: the middle one, or any."""
    temperature: float = 1.0
    """τ of the balanced order: towards 0 only the middle counts, towards ∞ the order is uniform."""

    def __post_init__(self) -> None:
        problems = wrong_choices(self)
        if not self.temperature > 0:  # not a number is neither above nor below
            problems.append(f"temperature must be above 0, got {self.temperature}")
        raise_all(ConfigError, "teaching", problems, hint=FLAGS)


def span_weights(
    place: Int64[np.ndarray, "m"],
    size: Int64[np.ndarray, "m"],
    span: Int64[np.ndarray, "m"],
    config: InsertionTeaching,
) -> Float64[np.ndarray, "m"]:
    """The w of missing tokens, given their place in their span (from 0), its size and its number; 1 in sum.

    >>> three = np.array([3, 3, 3])
    >>> span_weights(np.arange(3), three, 0 * three, InsertionTeaching(temperature=1.0)).round(3)
    array([0.212, 0.576, 0.212])
    """
    if config.order == "uniform":
        return 1 / size.astype(np.float64)
    # The nearest token lies on the middle or half a step beside it; from there the exponent begins at 0.
    distance = np.abs(place - (size - 1) / 2) - (size - 1) % 2 / 2
    raw = np.exp(-distance / config.temperature)
    weights: np.ndarray = raw / np.bincount(span, raw)[span]
    return weights


def gap_lesson(
    target: Ragged, kept: Bool[np.ndarray, "t"], config: InsertionTeaching
) -> tuple[
    Ragged, Int64[np.ndarray, "g"], Int64[np.ndarray, "c"], Int64[np.ndarray, "c"], Float64[np.ndarray, "c"]
]:
    """The state that is kept; where its gaps are; and what they lack: (gap, token, weight), ``</s>`` for nothing."""
    state, position = target.keep(kept), np.flatnonzero(kept)
    gaps = np.flatnonzero(state.row[1:] == state.row[:-1])
    size = np.diff(position)[gaps] - 1
    ordinal = np.full(len(position), -1)
    ordinal[gaps] = np.arange(len(gaps))
    missing = np.flatnonzero(~kept)
    left = np.cumsum(kept)[missing] - 1
    span = ordinal[left]
    weights = span_weights(missing - position[left] - 1, size[span], span, config)
    empty = np.flatnonzero(size == 0)
    return (
        state,
        gaps,
        np.concatenate([span, empty]),
        np.concatenate([target.flat[missing], np.full(len(empty), EOS)]),
        np.concatenate([weights, np.ones(len(empty))]),
    )


class InsertionObjective(nn.Module):
    """Σ over gaps and what they lack of w · −log π(token | gap), smoothed."""

    losses: ClassVar[tuple[str, ...]] = ("token",)

    def __init__(self, policy: InsertionTransformer, smoothing: float, shape: LessonShape) -> None:
        super().__init__()
        self.policy, self.smoothing, self.shape = policy, smoothing, shape

    def forward(
        self, lesson: Mapping[str, Int[Tensor, "_"]], decisions: Num[Tensor, "1"]
    ) -> tuple[Float[Tensor, ""], Float[Tensor, "1"]]:
        """The mean loss of a gap, and the sum; ``decisions`` are the gaps of the global batch."""
        policy, shape = self.policy, self.shape
        weights = lesson["weights"].view(torch.float32)
        lesson = {name: value.long() for name, value in lesson.items()}
        rows = Packed.of(lesson["source_lengths"], shape.source, shape.longest)
        memory = policy.encode(lesson["source"], rows)
        h = policy.hidden(
            memory, lesson["kept"], Packed.of(lesson["kept_lengths"], shape.kept, shape.longest)
        )
        at = lesson["gap_at"]
        pairs = torch.cat([h.index_select(0, at), h.index_select(0, at + 1)], -1)
        logp = policy.gap_logits(pairs).float().log_softmax(-1)
        named = logp.flatten().index_select(0, lesson["gap"] * logp.shape[-1] + lesson["tokens"])
        # The weights of a gap that counts are 1 in sum, those of padding 0.
        counts = logp.new_zeros(shape.kept).index_add(0, lesson["gap"], weights)
        total = (
            -(1 - self.smoothing) * (weights * named).sum() - self.smoothing * (counts * logp.mean(-1)).sum()
        )
        return total / decisions.clamp(min=1).squeeze(0), total.detach().unsqueeze(0)


class InsertionLessons(Lessons):
    """Lessons for the Insertion Transformer."""

    names = InsertionObjective.losses

    def __init__(
        self, store: Store, budget: Budget, model: nn.Module, config: InsertionTeaching, *, smoothing: float
    ) -> None:
        super().__init__(store, budget)
        assert isinstance(model, InsertionTransformer)
        self.config, self.smoothing, self.roll_in = config, smoothing, RollIn()
        self.shape = LessonShape.of(
            rows=budget.rows, source=budget.source, target=budget.target, draft=0,
            longest=self.longest, roll_in=self.roll_in, joint=False,
        )  # fmt: skip

    def objective(self, model: nn.Module) -> nn.Module:
        """The loss of this model."""
        assert isinstance(model, InsertionTransformer)
        return InsertionObjective(model, self.smoothing, self.shape)

    def make(self, rows: np.ndarray, draw: np.random.Generator) -> tuple[Arrays, np.ndarray]:
        """Keep a random part of each target."""
        source, target, shape = self.rows_of("source", rows), self.rows_of("target", rows), self.shape
        kept = random_deletion(target, self.roll_in, draw)
        hold_to(kept, target.inner, len(target.flat) - shape.kept, shape.holes, draw)
        state, gaps, gap, tokens, weights = gap_lesson(target, kept, self.config)
        most = shape.holes + shape.kept
        lesson: Arrays = {
            "source": fixed(source.flat, shape.source, PAD),
            "source_lengths": fixed(source.lengths, shape.rows, 0),
            "kept": fixed(state.flat, shape.kept, PAD),
            "kept_lengths": fixed(state.lengths, shape.rows, 0),
            "target_lengths": fixed(target.lengths, shape.rows, 0),
            "gap_at": fixed(gaps, shape.kept, 0),
            "gap": fixed(gap, most, 0),
            "tokens": fixed(tokens, most, 0),
            # Lessons are whole numbers: the weights travel as the bits of single-precision ones.
            "weights": fixed(weights.astype(np.float32).view(np.int32).astype(np.int64), most, 0),
        }
        return lesson, np.array([len(gaps)], np.int32)
