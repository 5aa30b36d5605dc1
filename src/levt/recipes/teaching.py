"""How each kind of model that writes all tokens at once is taught: one line here adds a kind."""

from typing import Any

from torch import nn

from levt.data.pack import Packed
from levt.data.store import Store
from levt.errors import ConfigError
from levt.imitation.denoising_lessons import DenoisingLessons, DenoisingTeaching
from levt.imitation.insertion_lessons import InsertionLessons, InsertionTeaching
from levt.imitation.lessons import Lessons
from levt.imitation.masked_lessons import MaskedLessons, MaskedTeaching

Teaching = MaskedTeaching | DenoisingTeaching | InsertionTeaching
"""The settings of every such kind."""

TEACHING: dict[str, tuple[type[Any], type[Any]]] = {
    "masked": (MaskedTeaching, MaskedLessons),
    "denoising": (DenoisingTeaching, DenoisingLessons),
    "insertion": (InsertionTeaching, InsertionLessons),
}
"""By kind, the settings, and the lessons made by (store, budget, model, settings, smoothing=…)."""


def teaching_lessons(
    kind: str, teaching: Teaching | None, store: Store, budget: Packed, model: nn.Module, *, smoothing: float
) -> Lessons:
    """The lessons of a kind; None leaves its settings as they are by default."""
    settings, lessons = TEACHING[kind]
    if not isinstance(teaching, settings | None):
        raise ConfigError(
            f"teaching of a {kind} model must be {settings.__name__}, got {type(teaching).__name__}",
            hint="leave it out for the default",
        )
    made: Lessons = lessons(store, budget, model, teaching or settings(), smoothing=smoothing)
    return made
