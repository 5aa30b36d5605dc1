"""Does a converted model write what fairseq writes? Compares texts with a recorded run of fairseq.

``decoding`` in ``expected.json`` lists cases: the pieces of a ``source``, an ``empty_gap_penalty``, and the pieces
of fairseq's greedy ``output`` from nothing, after at most ten iterations. fairseq lets a state grow while it is
shorter than max(10, 2 × source with boundaries), which are our limits, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from levt.convert.fairseq import Converted
from levt.engine.torch_engine import TorchEngine
from levt.refine.options import Options
from levt.refine.request import Request
from levt.text.specials import UNK

BATCH = 60


@dataclass(frozen=True)
class Decoded:
    """How many outputs are the same."""

    cases: int
    same: int
    first_difference: tuple[str, str] | None = None
    """fairseq's output and ours, in pieces, where they differ first."""


def compare_decoding(converted: Converted, cases: Sequence[Mapping[str, Any]]) -> Decoded:
    """Decode every case and count the outputs that are fairseq's."""
    engine = TorchEngine(converted.model, converted.tokenizers)
    source = converted.tokenizers.source
    pairs: list[tuple[list[str], list[str]]] = []
    for start in range(0, len(cases), BATCH):
        part = cases[start : start + BATCH]
        requests = [
            Request(
                source=tuple(UNK if (i := source.id_of(p)) is None else i for p in case["source"]),
                options=Options(
                    max_iterations=10, empty_gap_penalty=case["empty_gap_penalty"], max_ratio=2.0, min_room=10
                ),
            )
            for case in part
        ]
        outcomes = engine.refine(engine.encode([request.source for request in requests]), requests)
        pairs += [
            (case["output"], converted.tokenizers.target.pieces(outcome.tokens))
            for case, outcome in zip(part, outcomes, strict=True)
        ]
    other = [pair for pair in pairs if pair[0] != pair[1]]
    first = (" ".join(other[0][0]), " ".join(other[0][1])) if other else None
    return Decoded(len(pairs), len(pairs) - len(other), first)
