"""How each kind of model that writes all tokens at once is decoded: one line here adds a kind."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from levt.refine.canvas import ParallelOptions
from levt.refine.denoise import DenoiseOptions, denoise
from levt.refine.insert_decode import InsertOptions, insert_decode
from levt.refine.loop import Outcome
from levt.refine.mask_predict import MaskPredictOptions, mask_predict
from levt.refine.search import SearchOptions


@dataclass(frozen=True)
class Decoder:
    """What a user may ask of a kind, and who answers."""

    options: type[ParallelOptions]
    decode: Callable[[Any, Any, Any, Any], list[Outcome]]
    """(network, memory, limits, options) → one outcome per source."""


DECODERS: dict[str, Decoder] = {
    "masked": Decoder(MaskPredictOptions, mask_predict),
    "denoising": Decoder(DenoiseOptions, denoise),
    "insertion": Decoder(InsertOptions, insert_decode),
}
"""The decoder of every such kind."""


def options_of(kind: str) -> type[ParallelOptions] | type[SearchOptions]:
    """The settings of a kind other than LevT; those not named above write from left to right.

    >>> options_of("recurrent").__name__, options_of("masked").__name__
    ('SearchOptions', 'MaskPredictOptions')
    """
    return DECODERS[kind].options if kind in DECODERS else SearchOptions
