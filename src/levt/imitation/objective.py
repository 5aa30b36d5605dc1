"""The objective of dual-policy learning: three log-likelihoods of what the expert would do (Algorithm 1).

The paper adds up sums over a sentence, L_ins + L_del. Here each of the three is a mean over its own decisions in the
whole batch, as in the reference implementation: sums would weigh a loss by how many decisions the roll-in left it.

One forward pass of the encoder, one of the decoder over y_ins and y_ins′ together (two where their policies
have towers of their own), one over y_del, whose tokens are the model's own predictions of the pass before.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int, Num
from torch import Tensor, nn

from levt.errors import FLAGS, ConfigError, raise_all
from levt.imitation.expert import expert_match
from levt.imitation.lesson import LessonShape
from levt.imitation.likelihood import Likelihood, OwnTokens
from levt.imitation.own_deletions import LeftOver, left_over
from levt.imitation.roll_in import RollIn
from levt.policy.layout import Packed
from levt.policy.levt import LevT
from levt.policy.memory import Memory


@dataclass(frozen=True, kw_only=True)
class ObjectiveConfig:
    """How the losses are made and weighed."""

    label_smoothing: float = 0.1
    """Of the token loss: the paper's 0.1."""
    decision_smoothing: float = 0.01
    """Of the deletion and placeholder losses, of which the paper says nothing."""
    delete_weight: float = 1.0
    """Of the deletion loss in the sum; each loss is a mean over its own decisions."""
    placeholder_weight: float = 1.0
    """Of the placeholder loss in the sum."""
    token_weight: float = 1.0
    """Of the token loss in the sum."""
    own_deletions: float = 0.0
    """Weight of insertion also learnt after the model's own deletions, per target token; 0: not learnt, no cost."""

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be at least 0 and below 1, got {getattr(self, name)}"
            for name in ("label_smoothing", "decision_smoothing")
            if not 0 <= getattr(self, name) < 1
        ]
        problems += [
            f"{name} must be {'finite' if getattr(self, name) > 0 else 'at least 0'}, got {getattr(self, name)}"
            for name in ("delete_weight", "placeholder_weight", "token_weight", "own_deletions")
            if not 0 <= getattr(self, name) < math.inf
        ]
        raise_all(ConfigError, "objective", problems, hint=FLAGS)


class LevTObjective(nn.Module):
    """The three losses of one lesson."""

    losses: ClassVar[tuple[str, ...]] = ("delete", "placeholder", "token")
    more_losses: ClassVar[tuple[str, ...]] = ("own placeholder", "own token")
    """Those after the model's own deletions."""

    def __init__(self, policy: LevT, config: ObjectiveConfig, roll_in: RollIn, shape: LessonShape) -> None:
        super().__init__()
        self.policy, self.config, self.shape = policy, config, shape
        self.token_likelihood = Likelihood(config.label_smoothing)
        self.decision_likelihood = Likelihood(config.decision_smoothing)
        self.own_tokens = OwnTokens(sample=roll_in.fill == "sample")
        weights = [config.delete_weight, config.placeholder_weight, config.token_weight]
        weights += [config.own_deletions] * 2 if config.own_deletions else []
        self.register_buffer("weights", torch.tensor(weights), persistent=False)
        self.weights: Tensor

    def forward(
        self, lesson: Mapping[str, Int[Tensor, "_"]], decisions: Num[Tensor, "k"]
    ) -> tuple[Float[Tensor, ""], Float[Tensor, "k"]]:
        """The weighed sum of mean losses, and the sums; ``decisions`` are those of the global batch."""
        policy, shape = self.policy, self.shape
        lesson = {name: value.long() for name, value in lesson.items()}
        rows = self._rows(lesson, "source", shape.source)
        memory = policy.encode(lesson["source"], rows)
        gap_states, hole_states = self._insertion_states(memory, lesson)

        count_logits = policy.count_logits(gap_states)
        plh = self.decision_likelihood(count_logits, lesson["gap_counts"].clamp(max=policy.config.max_count))
        token_logits = policy.token_logits(hole_states)
        tok = self.token_likelihood(token_logits, lesson["hole_tokens"])

        # y_del: the model's own tokens in the placeholders, then the oracle says which of them must go.
        tokens = self.own_tokens(token_logits)
        y = lesson["delete"].index_copy(0, lesson["fill_to"], tokens[lesson["fill_from"]])
        rows = self._rows(lesson, "delete", shape.delete)
        target_rows = self._rows(lesson, "target", shape.target)
        match = expert_match(y, rows, lesson["target"], target_rows)
        inner = rows.real & rows.positions.gt(0) & ~rows.last
        labels = torch.where(inner, match.lt(0).long(), -1)
        delete_logits = policy.delete_logits(policy.hidden(memory, y, rows, "delete"))
        del_ = self.decision_likelihood(delete_logits, labels)

        losses = [del_, plh, tok]
        if self.config.own_deletions:
            drop = delete_logits.detach().argmax(-1).eq(1)
            left = left_over(match, drop, rows, lesson["target"], target_rows, shape.holes)
            losses += self._after_own_deletions(memory, left, target_rows)
        sums = torch.stack(losses)
        return (self.weights * sums / decisions.clamp(min=1)).sum(), sums.detach()

    def _after_own_deletions(self, memory: Memory, left: LeftOver, target_rows: Packed) -> list[Tensor]:
        """Both insertion losses where the model itself has deleted."""
        policy = self.policy
        of_gaps = policy.hidden(memory, left.kept, left.kept_rows, "placeholder")
        counts = policy.count_logits(_pairs(of_gaps, left.gap_at))
        of_holes = policy.hidden(memory, left.holes, target_rows, "token").index_select(0, left.hole_at)
        return [
            self.decision_likelihood(counts, left.gap_counts.clamp(max=policy.config.max_count)),
            self.token_likelihood(policy.token_logits(of_holes), left.hole_tokens),
        ]

    def _rows(
        self, lesson: Mapping[str, Tensor], name: str, total: int, lengths: str | None = None
    ) -> Packed:
        return Packed.of(lesson[lengths or f"{name}_lengths"], total, self.shape.longest)

    def _insertion_states(
        self, memory: Memory, lesson: Mapping[str, Tensor]
    ) -> tuple[Float[Tensor, "i e"], Float[Tensor, "p d"]]:
        """States of both sides of every gap of y_ins, and of every placeholder of y_ins′."""
        policy, shape = self.policy, self.shape
        if shape.joint:
            rows = self._rows(lesson, "insert", shape.kept + shape.target)
            of_gaps = of_holes = policy.hidden(memory, lesson["insert"], rows, "token")
        else:
            rows = self._rows(lesson, "kept", shape.kept)
            of_gaps = policy.hidden(memory, lesson["kept"], rows, "placeholder")
            rows = self._rows(lesson, "holes", shape.target, "target_lengths")
            of_holes = policy.hidden(memory, lesson["holes"], rows, "token")
        return _pairs(of_gaps, lesson["gap_at"]), of_holes.index_select(0, lesson["hole_at"])


def _pairs(states: Float[Tensor, "n d"], at: Int[Tensor, "g"]) -> Float[Tensor, "g e"]:
    """The states of both sides of some gaps, joined."""
    return torch.cat([states.index_select(0, at), states.index_select(0, at + 1)], -1)
