"""How each kind of model that writes all tokens at once is taught: a name in each of both lists here adds a kind."""

from typing import Any

from torch import nn

from levt.data.pack import Packed
from levt.data.store import Store
from levt.errors import ConfigError, raise_all
from levt.imitation.denoising_lessons import DenoisingLessons, DenoisingTeaching
from levt.imitation.insertion_lessons import InsertionLessons, InsertionTeaching
from levt.imitation.lessons import Lessons
from levt.imitation.masked_lessons import MaskedLessons, MaskedTeaching
from levt.policy.autoregressive import Autoregressive
from levt.policy.levt import LevT
from levt.policy.recurrent import Recurrent
from levt.refine.decoders import DECODERS

Teaching = MaskedTeaching | DenoisingTeaching | InsertionTeaching
"""The settings of every such kind; those that are missing here have no flags."""

TEACHING: dict[str, tuple[type[Any], type[Any]]] = {
    "masked": (MaskedTeaching, MaskedLessons),
    "denoising": (DenoisingTeaching, DenoisingLessons),
    "insertion": (InsertionTeaching, InsertionLessons),
}
"""By kind, the settings, and the lessons made by (store, budget, model, settings, smoothing=…)."""


def check_kind(kind: str, model: nn.Module) -> None:
    """Refuse, before anything is learnt, a kind that is missing from a table; those from left to right are in none."""
    if kind == "levt" or isinstance(model, Autoregressive | Recurrent):
        return
    problems = []
    if isinstance(model, LevT):
        problems.append("it is a LevT, and whoever decodes one asks for the kind levt")
    if kind not in TEACHING:
        problems.append("TEACHING in recipes/teaching.py does not say how it is taught")
    if kind not in DECODERS:
        problems.append("DECODERS in refine/decoders.py does not say how it writes")
    raise_all(ConfigError, f"kind {kind}", problems, hint="docs/guides/add-a-policy.md names every table")


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
