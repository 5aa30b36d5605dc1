"""Leave alone: the reluctance to edit with which post-editing helps most, and for sure.

Real drafts are mostly right, and every needless edit makes one worse. ``min_edit`` says how probable an edit must be.
It is chosen on a dev set, among values of which 1 means to leave everything as it is. A value may be chosen only where
neither BLEU nor TER is worse than doing nothing, and one of them is better by more than chance explains, however many
values are tried: so what helps on the dev set by luck alone is not taken, and where nothing helps the drafts stay.

The dial holds for insertions too, so a reluctant model may delete a word and then not dare to write the right one. γ
makes up for that: it is subtracted from the logit of an empty gap before the dial is asked. So both can be chosen.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from levt.engine.model import Model
from levt.errors import ConfigError, raise_all
from levt.evaluation.score import Score
from levt.evaluation.significance import shared_level
from levt.recipes.post_editing_judge import compared
from levt.recipes.post_editing_triples import Triples

VALUES = (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
LEAVE_ALONE = 1.0


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What a value gave on the dev set."""

    min_edit: float
    empty_gap_penalty: float = 0.0
    bleu: Score
    ter: Score
    allowed: bool
    """Whether it is better than doing nothing."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The value to use, and why."""

    min_edit: float
    """What was chosen; 1 where no other value was good enough."""
    empty_gap_penalty: float = 0.0
    """γ that was chosen with it."""
    bleu: Score
    """Of doing nothing."""
    ter: Score
    """Of doing nothing."""
    tried: tuple[Tried, ...]


def checked(values: Sequence[float], level: float) -> None:
    """Refuse what cannot be tried."""
    problems = [] if 0 < level <= 1 else [f"level must be above 0 and at most 1, got {level}"]
    problems += [f"values must be from 0 to below 1, got {v}" for v in values if not 0 <= v < 1]
    raise_all(ConfigError, "calibration", problems, hint="leave them out for the defaults")


def chosen(
    texts: Mapping[tuple[float, float], Sequence[str]],
    drafts: Sequence[str],
    references: Sequence[str],
    *,
    level: float,
    samples: int,
) -> Calibration:
    """Choose among the texts of each ``(min_edit, γ)``: of those allowed the lowest TER, of equals the most reluctant.

    ``level`` is how often luck may choose a value where none helps; 1 asks only for no loss on the dev set.
    """
    share = shared_level(level, 2 * len(texts))  # each is judged by two metrics
    samples = max(samples, math.ceil(1 / share) - 1)  # with fewer trials no p-value could be that small
    names = {pair: " ".join(map(str, pair)) for pair in texts}
    systems: dict[str, Sequence[str]] = {"": drafts, **{names[pair]: found for pair, found in texts.items()}}
    bleu, ter = (compared(name, systems, references, samples) for name in ("bleu", "ter"))
    tried = tuple(
        Tried(
            min_edit=pair[0],
            empty_gap_penalty=pair[1],
            bleu=bleu[name],
            ter=ter[name],
            allowed=_helps(bleu[name], bleu[""], ter[name], ter[""], share),
        )
        for pair, name in names.items()
    )
    best = min(
        (t for t in tried if t.allowed),
        key=lambda t: (t.ter.value, -t.min_edit, t.empty_gap_penalty),
        default=None,
    )
    return Calibration(
        min_edit=LEAVE_ALONE if best is None else best.min_edit,
        empty_gap_penalty=0.0 if best is None else best.empty_gap_penalty,
        bleu=bleu[""],
        ter=ter[""],
        tried=tried,
    )


def calibrate_model(
    model: Model,
    triples: Triples,
    *,
    values: Sequence[float] = VALUES,
    penalties: Sequence[float] = (),
    level: float = 0.05,
    samples: int = 1000,
    progress: Callable[[str], None] = lambda text: None,
    **settings: Any,
) -> Calibration:
    """Choose ``min_edit`` of a LevT on the triples of a dev set, and with ``penalties`` γ too.

    ``settings`` are the other ones of its refinement.
    """
    if model.kind != "levt":
        raise ConfigError(
            f"a model of kind {model.kind} has no min_edit to tune", hint="a model of kind levt has"
        )
    checked(values, level)
    texts: dict[tuple[float, float], Sequence[str]] = {}
    for penalty in penalties or (settings.get("empty_gap_penalty", 0.0),):
        for value in values:
            progress(f"min_edit {value:g}" + (f", γ {penalty:g}" if penalties else ""))
            wanted = {**settings, "min_edit": value, "empty_gap_penalty": penalty}
            results = model.refine(triples.sources, draft=triples.drafts, **wanted)
            texts[value, penalty] = [result.text for result in results]
    return chosen(texts, triples.drafts, triples.targets, level=level, samples=samples)


def _helps(bleu: Score, no_bleu: Score, ter: Score, no_ter: Score, level: float) -> bool:
    """Whether nothing is lost and something is won, surely."""
    if bleu.value < no_bleu.value or ter.value > no_ter.value:
        return False
    assert bleu.p_value is not None
    assert ter.p_value is not None
    return min(bleu.p_value, ter.p_value) <= level
