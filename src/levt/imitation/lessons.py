"""Lessons of an epoch: what the training loop asks for, whatever is being taught."""

from abc import ABC, abstractmethod

import numpy as np
from jaxtyping import Int32, Int64
from torch import nn

from levt.data.pack import Packed
from levt.data.store import Store
from levt.imitation.drafts import with_drafts
from levt.imitation.lesson import Arrays, LessonShape, decisions, make_lesson
from levt.imitation.neighbours import neighbours
from levt.imitation.objective import LevTObjective, ObjectiveConfig
from levt.imitation.ragged import Ragged
from levt.imitation.roll_in import RollIn
from levt.policy.levt import LevT


class Lessons(ABC):
    """Turns examples of a store into arrays of one shape, and knows the objective that learns from them."""

    def __init__(self, store: Store, budget: Packed) -> None:
        self.store, self.budget = store, budget
        self.longest = max(store.longest(field) for field in store.fields) + 2

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The losses, in the order in which the objective gives them."""

    @abstractmethod
    def objective(self, model: nn.Module) -> nn.Module:
        """The module that maps (lesson, decisions) to (loss, sums of losses)."""

    @abstractmethod
    def make(
        self, rows: Int64[np.ndarray, "r"], draw: np.random.Generator
    ) -> tuple[Arrays, Int32[np.ndarray, "k"]]:
        """The lesson of some examples, and how many decisions each loss counts."""

    def rows_of(self, field: str, rows: np.ndarray) -> Ragged:
        """A field of some examples, with boundaries."""
        return Ragged(*self.store.gather(field, rows)).bounded()


class LevTLessons(Lessons):
    """Dual-policy learning."""

    def __init__(
        self,
        store: Store,
        budget: Packed,
        model: LevT,
        *,
        roll_in: RollIn,
        objective: ObjectiveConfig,
        repaired: int | None = None,
    ) -> None:
        """Examples from number ``repaired`` on always begin from a made-up draft."""
        super().__init__(store, budget)
        self.roll_in, self.config, self.repaired = roll_in, objective, repaired
        self.vocabulary = model.config.target_vocabulary
        self.near = neighbours(store) if roll_in.drafts.mismatched else None
        towers, exit_of = model.towers, model.config.exit_of
        joint = towers["placeholder"] is towers["token"] and exit_of("placeholder") == exit_of("token")
        self.shape = LessonShape.of(
            rows=budget.rows, source=budget.source, target=budget.target, draft=budget.draft,
            longest=self.longest, roll_in=roll_in, joint=joint,
            repaired=0.0 if repaired is None else 1 - repaired / len(store),
        )  # fmt: skip

    @property
    def names(self) -> tuple[str, ...]:
        """The three policies, and insertion after the model's own deletions where that is learnt too."""
        return LevTObjective.losses + (LevTObjective.more_losses if self.config.own_deletions else ())

    def objective(self, model: nn.Module) -> nn.Module:
        """Algorithm 1 for this model."""
        assert isinstance(model, LevT)
        return LevTObjective(model, self.config, self.roll_in, self.shape)

    def make(self, rows: np.ndarray, draw: np.random.Generator) -> tuple[Arrays, np.ndarray]:
        """Roll in from these examples."""
        target = self.rows_of("target", rows)
        repaired = None if self.repaired is None else rows >= self.repaired
        lesson = make_lesson(
            self.rows_of("source", rows), target, self.drafts(rows, target, repaired, draw),
            roll_in=self.roll_in, shape=self.shape, vocabulary=self.vocabulary, draw=draw, repaired=repaired,
        )  # fmt: skip
        counted = decisions(lesson)
        if self.config.own_deletions:
            # What the model will delete is not known here, so these losses are means over the whole target.
            inner = int(lesson["target_lengths"].sum()) - 2 * len(rows)
            counted = np.append(counted, [inner + len(rows), inner]).astype(np.int32)
        return lesson, counted

    def drafts(
        self, rows: np.ndarray, target: Ragged, repaired: np.ndarray | None, draw: np.random.Generator
    ) -> Ragged | None:
        """The drafts of the corpus, those that are made up, or both; ``repaired`` rows have a made-up one."""
        given = self.rows_of("draft", rows) if self.store.has_draft else None
        config = self.roll_in.drafts
        if not config.made:
            return given
        near = target
        if self.near is not None:
            near = self.rows_of("target", self.near[draw.integers(2, size=len(rows)), rows])
        return with_drafts(target, given, near, config, self.longest, draw, repaired)
