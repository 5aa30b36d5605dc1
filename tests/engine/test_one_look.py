"""Deletions and placeholders at one look, by every network that can: the answers and outcomes of two looks."""

import random
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from network_shapes import SHARING
from test_captured import same
from test_native_engine import some_requests
from torch import Tensor

from levt.edits.state import State
from levt.engine import chunked
from levt.engine.chunked import Chunked
from levt.engine.native_network import Packed
from levt.engine.native_policy import NativePolicy
from levt.engine.onnx_folder import PRECISIONS, Graphs
from levt.engine.onnx_network import write_network
from levt.engine.onnx_policy import GraphPolicy
from levt.engine.onnx_sessions import Sessions
from levt.policy.levt import LevT
from levt.refine.guidance import Guidance
from levt.refine.loop import Outcome, refine
from levt.refine.phases import Looking, Policy
from levt.refine.request import Request
from tiny_models import TOKENIZERS, network

SIZE = TOKENIZERS.target.size
KINDS = ("torch", "chunked", "native", "onnx")
EXITS: tuple[dict[str, int], ...] = ({}, {"delete_exit": 1}, {"delete_exit": 1, "placeholder_exit": 1})


class Twice:
    """The three policies of a network and nothing else: who asks must look twice."""

    def __init__(self, policy: Policy) -> None:
        self.delete, self.placeholder, self.token = policy.delete, policy.placeholder, policy.token


def policies(net: LevT, kind: str, folder: Path) -> Any:
    """The encoder and the policies of a network, run by some code."""
    if kind == "native":
        if not any(map(shutil.which, ("cc", "gcc", "clang"))):
            pytest.skip("no C compiler")
        native = NativePolicy(Packed(net, "float32"), net.config)
        return native, native
    if kind == "onnx":
        pytest.importorskip("onnxruntime")
        chains = write_network(net, folder, PRECISIONS["float32"])
        graphs = GraphPolicy(Sessions(Graphs(folder=folder, chains=chains), threads=1), net.config)
        return graphs, graphs
    return net, Chunked(net, 2) if kind == "chunked" else net


def outcomes(encoder: Any, policy: Policy, requests: list[Request]) -> list[Outcome]:
    with torch.inference_mode():
        memory = encoder.encode(State.of([request.source for request in requests]).y)
    return refine(policy, memory, requests, Guidance.of(requests, positions=64, vocabulary=SIZE))


@pytest.mark.parametrize("exits", EXITS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_the_answers_and_outcomes_of_two_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, exits: dict[str, int]
) -> None:
    monkeypatch.setattr(chunked, "WORTH", 6)
    rng = random.Random(0)
    for seed, sharing in enumerate(SHARING):
        net = network("levt", seed, sharing=sharing, **exits)
        assert isinstance(net, LevT)
        (tmp_path / sharing).mkdir()
        encoder, policy = policies(net, kind, tmp_path / sharing)
        assert isinstance(policy, Looking)
        together = sharing in ("all", "plh+del") and len(exits) != 1
        assert policy.alike == together == net.alike
        requests = some_requests(seed, 24)
        for one, other in zip(
            outcomes(encoder, policy, requests), outcomes(encoder, Twice(policy), requests), strict=True
        ):
            same(one, other)
        if together:
            state = State.of([[rng.randrange(5, SIZE) for _ in range(n)] for n in (4, 0, 9, 1, 12, 7)])
            with torch.inference_mode():
                memory = encoder.encode(state.y)
                deletions, placeholders = policy.look(memory, state.y)
                near(deletions[state.inner], policy.delete(memory, state.y)[state.inner])
                near(placeholders[state.gaps], policy.placeholder(memory, state.y)[state.gaps])


def near(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_a_look_is_one_pass_over_rows_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    net = network("levt", 2)
    assert isinstance(net, LevT)
    passes, hidden = list[tuple[str, int]](), net.hidden

    def counted(memory: Any, y: Tensor, layout: Any, policy: Any) -> Tensor:
        passes.append((policy, y.shape[0]))
        return hidden(memory, y, layout, policy)

    monkeypatch.setattr(net, "hidden", counted)
    requests = [request for seed in range(8) for request in some_requests(seed, 12)]
    rows = {}
    for name, policy in (("once", net), ("twice", Twice(net))):
        passes.clear()
        found = outcomes(net, policy, requests)  # type: ignore[arg-type]
        rows[name] = sum(n for _, n in passes)
    lost = [any(round_.script.drop) for o in found for round_ in o.rounds if round_.script.drop]
    # Some rounds of cycles are forgotten.
    assert rows["twice"] - rows["once"] >= lost.count(False) > 50
    assert lost.count(True) > 20
