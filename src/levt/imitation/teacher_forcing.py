"""Teacher forcing: how the siblings that write from left to right learn. One loss, over every next token."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int, Num
from torch import Tensor, nn

from levt.data.pack import Packed as Budget
from levt.data.store import Store
from levt.errors import ConfigError
from levt.imitation.lesson import Arrays, fixed
from levt.imitation.lessons import Lessons
from levt.imitation.likelihood import Likelihood
from levt.imitation.ragged import Ragged, interleave
from levt.policy.autoregressive import Autoregressive
from levt.policy.layout import Packed
from levt.policy.post_editing import PostEditor
from levt.policy.recurrent import Recurrent
from levt.text.specials import BOS, EOS, PAD


class TeacherForcing(nn.Module):
    """−Σ log π(y*_{i+1} | y*_0 … y*_i, x), smoothed."""

    losses: ClassVar[tuple[str, ...]] = ("token",)

    def __init__(
        self, policy: Autoregressive | Recurrent, smoothing: float, sizes: dict[str, int], longest: int
    ) -> None:
        super().__init__()
        self.policy, self.sizes, self.longest = policy, sizes, longest
        self.likelihood = Likelihood(smoothing)

    def forward(
        self, lesson: Mapping[str, Int[Tensor, "_"]], decisions: Num[Tensor, "1"]
    ) -> tuple[Float[Tensor, ""], Float[Tensor, "1"]]:
        """The mean loss, and its sum; ``decisions`` are those of the global batch."""
        lesson = {name: value.long() for name, value in lesson.items()}
        source, target = self.sizes["source"], self.sizes["target"]
        if isinstance(self.policy, PostEditor):
            rows = Packed.of(lesson["source_lengths"], source, 2 * self.longest)
            rows = replace(rows, positions=lesson["positions"])
            memory = self.policy.encode_joined(lesson["source"], lesson["parts"], rows)
        else:
            memory = self.policy.encode(
                lesson["source"], Packed.of(lesson["source_lengths"], source, self.longest)
            )
        layout = Packed.of(lesson["target_lengths"], target, self.longest)
        logits = self.policy.logits(memory, lesson["target"], layout)
        total = self.likelihood(logits, lesson["labels"])
        return total / decisions.clamp(min=1).squeeze(0), total.detach().unsqueeze(0)


class TeacherForcingLessons(Lessons):
    """Lessons for the autoregressive Transformer, the post-editing baseline and the recurrent network."""

    names = TeacherForcing.losses

    def __init__(self, store: Store, budget: Budget, *, smoothing: float, reads_draft: bool) -> None:
        super().__init__(store, budget)
        if reads_draft and not store.has_draft:
            raise ConfigError(
                "a post-editing model reads drafts, and this corpus has none",
                hint="prepare triples: levt prepare --draft …",
            )
        self.smoothing, self.reads_draft = smoothing, reads_draft
        source = budget.source + (budget.draft if reads_draft else 0)
        self.sizes = {"source": source, "target": budget.target}

    def objective(self, model: nn.Module) -> nn.Module:
        """Teacher forcing of this model."""
        assert isinstance(model, Autoregressive | Recurrent)
        return TeacherForcing(model, self.smoothing, self.sizes, self.longest)

    def make(self, rows: np.ndarray, draw: np.random.Generator) -> tuple[Arrays, np.ndarray]:
        """The sources, the targets behind ``<s>``, and the token that follows each."""
        del draw  # nothing is random
        source, target = self.rows_of("source", rows), self.rows_of("target", rows)
        inputs, labels = target.keep(target.flat != EOS), target.flat[target.flat != BOS]
        lesson: Arrays = {}
        if self.reads_draft:
            both, of_source, of_draft = interleave(source, draft := self.rows_of("draft", rows))
            parts, positions = np.ones(len(both.flat), np.int64), np.empty(len(both.flat), np.int64)
            parts[of_source] = 0
            positions[of_source], positions[of_draft] = source.places, draft.places
            lesson["parts"] = fixed(parts, self.sizes["source"], 0)
            lesson["positions"] = fixed(positions, self.sizes["source"], 0)
            source = Ragged(both.flat, both.lengths.reshape(-1, 2).sum(1))
        lesson |= {
            "source": fixed(source.flat, self.sizes["source"], PAD),
            "source_lengths": fixed(source.lengths, self.budget.rows, 0),
            "target": fixed(inputs.flat, self.sizes["target"], PAD),
            "target_lengths": fixed(inputs.lengths, self.budget.rows, 0),
            "labels": fixed(labels, self.sizes["target"], -1),
        }
        return lesson, np.array([len(labels)], np.int32)
