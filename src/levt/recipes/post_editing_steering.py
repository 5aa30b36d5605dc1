"""The steering figures: iteration limits with and without an oracle, keystrokes saved, the order of edits.

All on plain lists and a loaded LevT; results are rows of tables. Writes no file.
"""

from collections.abc import Sequence

from levt.engine.model import Model
from levt.evaluation.edit_order import Agreement, Place, Times, agreement, left_to_right, trace_times
from levt.evaluation.effort import Help as Hand
from levt.evaluation.effort import simulate
from levt.evaluation.quality_tags import Risks, trace_risks
from levt.evaluation.report import DO_NOTHING
from levt.evaluation.score import Score
from levt.evaluation.surface import SIGNATURE
from levt.evaluation.table import Row
from levt.recipes.post_editing_help import HELP, helped
from levt.recipes.post_editing_judge import METRICS, compared
from levt.recipes.post_editing_triples import Triples, Watched
from levt.refine.options import Options

LIMITS = (1, 2, 3, 4, 5, 6, 8, 10)
"""Iterations at which a refinement is cut off."""
HANDS: dict[str, Hand] = {
    "none": "accept",
    "oracle deletion": "delete",
    "oracle deletion and placeholders": "ask",
}
"""What the person of the simulation does, by what the oracle decides in the proposals."""


def timeouts(
    model: Model, triples: Triples, *, limits: Sequence[int] = LIMITS
) -> dict[str, dict[int, tuple[Score, ...]]]:
    """Figure 5 of the paper: BLEU and TER by kind of help and limit; empty drafts make it translation."""
    found: dict[str, dict[int, tuple[Score, ...]]] = {}
    for name, help in HELP.items():
        found[name] = {}
        for limit in limits:
            texts = helped(
                model,
                triples.sources,
                triples.drafts,
                triples.targets,
                help=help,
                options=Options(max_iterations=limit),
            )
            found[name][limit] = tuple(
                compared(metric, {"": texts}, triples.targets, None)[""] for metric in METRICS
            )
    return found


def keystrokes(model: Model, triples: Triples) -> list[Row]:
    """Keystrokes of a person with each kind of help, and alone."""
    rows: list[Row] = []
    for name, hand in HANDS.items():
        texts = helped(model, triples.sources, triples.drafts, triples.targets, help=HELP[name])
        found = simulate(triples.drafts, texts, triples.targets, help=hand)
        if not rows:
            alone = Score(name="keystrokes", value=found.alone, signature=SIGNATURE)
            rows.append(Row(name=DO_NOTHING, scores=(alone,)))
        rows.append(Row(name=hand, scores=found.scores()))
    return rows


def orders(model: Model, watched: Watched) -> list[Row]:
    """How far the order of a model's edits, and some plain orders, agree with the person's over the same places.

    Few places are edited by both. So the places of the person are also put in the order in which the model thinks
    them wrong (the riskiest first), whether it would edit them or not.
    """
    triples = watched.triples
    results = model.refine(triples.sources, draft=triples.drafts)
    traces = [result.trace for result in results]
    by_phase = [trace_times(trace) for trace in traces]
    by_risk = [
        _riskiest(trace_risks(trace), times) for trace, times in zip(traces, watched.times, strict=True)
    ]
    reading = [left_to_right(times) for times in watched.times]
    compared_with: dict[str, list[Times]] = {
        "LevT's edits, phase by phase": [*by_phase],
        "LevT's edits, surest first": [trace_times(trace, by="probability") for trace in traces],
        "LevT's edits, left to right": [left_to_right(times) for times in by_phase],
        "the person's places, riskiest first": [*by_risk],
        "the person's places, left to right": [*reading],
        "the person's places, right to left": [
            {place: -at for place, at in times.items()} for times in reading
        ],
    }
    return [
        Row(name=name, scores=_columns(agreement(times, watched.times)))
        for name, times in compared_with.items()
    ]


def _riskiest(risks: Risks, times: Times) -> dict[Place, float]:
    """The places of an order, the riskiest first."""
    return {
        place: -(risks.words[place.at] if place.kind == "word" else risks.gaps[place.at]) for place in times
    }


def _columns(found: Agreement) -> tuple[Score, ...]:
    named = {
        "same order %": 100 * found.same,
        "τ": found.tau,
        "places shared %": 100 * found.shared,
        "pairs": float(found.pairs),
        "sentences": float(found.sentences),
    }
    return tuple(Score(name=k, value=v, signature=SIGNATURE) for k, v in named.items())
