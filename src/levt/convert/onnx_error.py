"""How far the scores of graphs are from those of the network they were made from."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from levt.edits.state import State
from levt.engine.onnx_folder import Graphs
from levt.engine.onnx_policy import GraphPolicy
from levt.engine.onnx_sessions import Sessions
from levt.engine.onnx_stepwise import GraphWriter
from levt.policy.autoregressive import Autoregressive
from levt.policy.folder import load_folder
from levt.policy.levt import LevT
from levt.policy.scores import log_softmax, log_softmax_tokens
from levt.text.specials import PLH, SPECIALS

ROWS, LENGTH = 8, 24
"""States that are compared, and their tokens."""


@dataclass(frozen=True, kw_only=True)
class ScoreError:
    """One kind of scores, compared over random states."""

    scores: str
    """Of what."""
    relative: float
    """Root mean square of the difference of log-probabilities over that of their spread."""
    same: float
    """Share of decisions that are the same."""


@torch.inference_mode()
def score_errors(model: Path, graphs: Graphs) -> list[ScoreError]:
    """Compare graphs with their network on random tokens; on text the errors are of the same size."""
    network, sessions = load_folder(model).model, Sessions(graphs)
    assert isinstance(network, LevT | Autoregressive)
    config = network.config
    shape = (ROWS, min(LENGTH, config.max_length - 2))
    generator = torch.Generator().manual_seed(0)
    x, y = (
        State.of(torch.randint(len(SPECIALS), size, shape, generator=generator).tolist()).y
        for size in (config.source_vocabulary, config.target_vocabulary)
    )
    if isinstance(network, LevT):
        pairs = of_policies(network, GraphPolicy(sessions, network.config), x, y)
    else:
        other = GraphWriter(sessions, config)
        scores = log_softmax_tokens(network.logits(network.encode(x), y))
        pairs = iter([("token", scores, log_softmax_tokens(other.logits(other.encode(x), y)))])
    return [compared(name, expected, found) for name, expected, found in pairs]


def of_policies(
    network: LevT, graphs: GraphPolicy, x: Tensor, y: Tensor
) -> Iterator[tuple[str, Float[Tensor, "p k"], Float[Tensor, "p k"]]]:
    """The log π of both for each policy."""
    memory, other = network.encode(x), graphs.encode(x)
    yield (
        "delete",
        network.delete(memory, y).flatten(0, 1),
        log_softmax(graphs.delete(other, y)).flatten(0, 1),
    )
    expected, found = network.placeholder(memory, y), log_softmax(graphs.placeholder(other, y))
    yield "placeholder", expected.flatten(0, 1), found.flatten(0, 1)
    y = torch.where(torch.arange(y.shape[1]) % 2 == 1, PLH, y)
    holes = y.eq(PLH)
    yield "token", network.token(memory, y, holes), graphs.token(other, y, holes)


def compared(name: str, expected: Float[Tensor, "*p k"], found: Float[Tensor, "*p k"]) -> ScoreError:
    """The error of one kind of scores; what is −∞ in both is left out."""
    usable = expected.isfinite()
    spread = expected[usable] - expected[usable].mean()
    difference = (found - expected)[usable]
    return ScoreError(
        scores=name,
        relative=float(difference.norm() / spread.norm()),
        same=float(expected.argmax(-1).eq(found.argmax(-1)).float().mean()),
    )
