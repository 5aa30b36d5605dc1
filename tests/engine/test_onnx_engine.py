"""ONNX graphs against the networks they were made from: every setting, every score, every text."""

import random
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

from alike_engines import alternatives_agree, requests_come_and_go
from network_shapes import SHARING, levt_shapes, shapes

import levt
from levt.edits.state import State
from levt.engine.onnx_engine import OnnxEngine
from levt.engine.onnx_folder import PRECISIONS, Graphs, PrecisionName
from levt.engine.onnx_network import write_network
from levt.engine.onnx_policy import GraphPolicy
from levt.engine.onnx_sessions import Sessions
from levt.engine.onnx_stepwise import GraphWriter
from levt.engine.torch_engine import TorchEngine
from levt.errors import ConfigError, InputError, MissingExtra
from levt.policy.autoregressive import Autoregressive
from levt.policy.levt import LevT
from levt.policy.scores import log_softmax, log_softmax_tokens
from levt.refine.options import Options
from levt.refine.request import Request
from levt.refine.search import SearchOptions
from levt.text.specials import PAD, PLH
from tiny_models import LINES, TOKENIZERS, network, save_tiny

TEXTS = [*dict.fromkeys(LINES), "dog", "snow over snow", "", "a b c d e f", "the stone sleeps", "1 2 3"]
PARITY = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
SIZE = TOKENIZERS.target.size

tokens = st.lists(st.integers(5, SIZE - 1), max_size=12).map(tuple)


def graphs_of(
    net: nn.Module, folder: Path, precision: PrecisionName = "float32", exact: bool | None = None
) -> Any:
    folder.mkdir(parents=True, exist_ok=True)
    chains = write_network(net, folder, PRECISIONS[precision])
    sessions = Sessions(Graphs(folder=folder, chains=chains), threads=1, exact=exact)
    if isinstance(net, LevT):
        return GraphPolicy(sessions, net.config)
    assert isinstance(net, Autoregressive)
    return GraphWriter(sessions, net.config)


def near(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@PARITY
@given(levt_shapes(), st.lists(st.tuples(tokens, tokens), min_size=1, max_size=4), st.integers(0, 9))
def test_every_levt_gives_the_scores_of_its_network(
    tmp_path: Path, shape: dict[str, Any], pairs: list[tuple[Any, Any]], seed: int
) -> None:
    net = network("levt", seed, **shape)
    assert isinstance(net, LevT)
    graphs = graphs_of(net, tmp_path)
    x, y = (State.of(rows).y for rows in zip(*pairs, strict=True))
    state = State.of([row for _, row in pairs])
    with torch.inference_mode():
        memory, other = net.encode(x), graphs.encode(x)
        real, gaps = state.real, state.gaps
        near(log_softmax(graphs.delete(other, y))[real], net.delete(memory, y)[real])
        near(log_softmax(graphs.placeholder(other, y))[gaps], net.placeholder(memory, y)[gaps])
        wide = torch.cat([y[:, :1], torch.full_like(y[:, :1], PLH), y[:, 1:]], 1)
        near(graphs.token(other, wide, wide.eq(PLH)), net.token(memory, wide, wide.eq(PLH)))


@PARITY
@given(shapes(), st.lists(st.tuples(tokens, tokens), min_size=1, max_size=4), st.integers(0, 9))
def test_every_autoregressive_model_gives_the_scores_of_its_network(
    tmp_path: Path, shape: dict[str, Any], pairs: list[tuple[Any, Any]], seed: int
) -> None:
    net = network("autoregressive", seed, **shape)
    assert isinstance(net, Autoregressive)
    graphs = graphs_of(net, tmp_path)
    x, y = (State.of(rows).y for rows in zip(*pairs, strict=True))
    real = y.ne(PAD)
    with torch.inference_mode():
        memory, other = net.encode(x), graphs.encode(x)
        expected = net.logits(memory, y)
        near(graphs.logits(other, y)[real], expected[real])
        cache = graphs.start(other, y.shape[1], 2)
        for i in range(y.shape[1]):
            scores = graphs.step(other, y[:, i].repeat_interleave(2), cache)
            near(scores[::2][real[:, i]], expected[:, i][real[:, i]])
            near(scores[1::2][real[:, i]], expected[:, i][real[:, i]])


def engine_of(net: nn.Module, folder: Path, precision: PrecisionName = "float32") -> OnnxEngine:
    return OnnxEngine(graphs_of(net, folder, precision), TOKENIZERS)


@pytest.mark.parametrize("seed", range(3))
def test_hundreds_of_requests_end_alike(tmp_path: Path, seed: int) -> None:
    """Same edits, same stops, same probabilities; with drafts, locks, bans and options of all kinds."""
    net, rng = network("levt", seed, sharing=SHARING[seed], placeholder_exit=1), random.Random(seed)
    plain, fast = TorchEngine(net, TOKENIZERS), engine_of(net, tmp_path)

    def some(most: int) -> tuple[int, ...]:
        return tuple(rng.randrange(5, SIZE) for _ in range(rng.randrange(most)))

    for _ in range(8):
        requests = []
        for _ in range(16):
            draft = some(12) if rng.random() < 0.5 else ()
            options = Options(
                max_iterations=rng.choice([1, 3, 10]),
                empty_gap_penalty=rng.choice([0.0, 1.5]),
                min_edit=rng.choice([0.0, 0.2]),
            )
            locked = tuple(rng.random() < 0.3 for _ in draft)
            banned = (some(3) or (7,),) if rng.random() < 0.3 else ()
            requests.append(
                Request(source=some(14), draft=draft, locked=locked, banned=banned, options=options)
            )
        sources = [r.source for r in requests]
        expected = plain.refine(plain.encode(sources), requests)
        for one, other in zip(expected, fast.refine(fast.encode(sources), requests), strict=True):
            assert one.tokens == other.tokens
            assert one.stopped == other.stopped
            assert one.passes == other.passes
            assert one.score == pytest.approx(other.score, abs=1e-3)


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_batch_mates_change_nothing(tmp_path: Path, precision: PrecisionName) -> None:
    model = levt.Model(engine_of(network("levt", 2), tmp_path, precision))
    together = model.translate(TEXTS)
    alone = [model.translate(text) for text in TEXTS]
    assert [r.text for r in together] == [r.text for r in alone]
    for one, other in zip(together, alone, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-4)


def test_a_state_that_did_not_change_is_not_run_again(tmp_path: Path) -> None:
    net = network("levt", 1, placeholder_exit=1, decoder_layers=3)
    assert isinstance(net, LevT)
    graphs, ran = graphs_of(net, tmp_path), []
    run = graphs.sessions.run
    graphs.sessions.run = lambda graph, feeds: (ran.append(graph), run(graph, feeds))[1]
    y, other = State.of([[7, 8], [9]]).y, State.of([[7, 8], [5]]).y
    memory = graphs.encode(y)
    low, high = "delete_placeholder_token.0", "delete_placeholder_token.1"
    for asked in ((y, y), (y, other)):
        graphs.delete(memory, asked[0])
        found = graphs.placeholder(memory, asked[1])
        with torch.inference_mode():
            expected = net.placeholder(net.encode(y), asked[1])
        gaps = y[:, 1:].ne(PAD)
        near(log_softmax(found)[gaps], expected[gaps])
    graphs.delete(graphs.encode(y), other)
    assert ran == [
        *("encode", low, high, "delete", "placeholder"),
        *("delete", low, "placeholder"),
        *("encode", low, high, "delete"),
    ]


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_requests_come_and_go(tmp_path: Path, precision: PrecisionName) -> None:
    requests_come_and_go(engine_of(network("levt", 3), tmp_path, precision))


def test_alternatives_of_a_place(tmp_path: Path) -> None:
    net = network("levt", 4)
    alternatives_agree(engine_of(net, tmp_path), net)


def test_search_and_scores(tmp_path: Path) -> None:
    net, rng = network("autoregressive", 5), random.Random(5)
    plain, fast = TorchEngine(net, TOKENIZERS), engine_of(net, tmp_path)
    sources = [tuple(rng.randrange(5, SIZE) for _ in range(n)) for n in (1, 7, 12, 3)]
    for beam in (1, 4):
        options = SearchOptions(beam=beam, n_best=beam)
        found = [e.search(e.encode(sources), [30, 12, 20, 5], options) for e in (plain, fast)]
        for one, other in zip(*found, strict=True):
            assert [h.tokens for h in one] == [h.tokens for h in other]
            assert [h.score for h in one] == pytest.approx([h.score for h in other], abs=1e-4)
    targets, rows = [sources[1], sources[0], ()], [0, 0, 3]
    expected = plain.score(plain.encode(sources), targets, rows)
    assert fast.score(fast.encode(sources), targets, rows) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("kind", ["levt", "autoregressive"])
def test_int8_is_near(tmp_path: Path, kind: str, exact: bool) -> None:
    """Eight bits for rows and weights: within 3 % of fresh networks; seven bits for rows: 5 %."""
    torch.manual_seed(3)
    shape = {"width": 64, "hidden": 128, "heads": 4, "encoder_layers": 3, "decoder_layers": 3}
    net = network(kind, **shape).requires_grad_(False)
    for module in net.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.LayerNorm):
            module.reset_parameters()
    graphs = graphs_of(net, tmp_path, "int8", exact)
    x, y = (State.of(torch.randint(5, SIZE, (6, 20)).tolist()).y for _ in "xy")
    with torch.inference_mode():
        memory, other = net.encode(x), graphs.encode(x)  # type: ignore[operator]
        if isinstance(net, LevT):
            pairs = [
                (net.delete(memory, y), log_softmax(graphs.delete(other, y))),
                (net.placeholder(memory, y), log_softmax(graphs.placeholder(other, y))),
                (net.token(memory, y, y.gt(PLH))[:, 5:], graphs.token(other, y, y.gt(PLH))[:, 5:]),
            ]
        else:
            assert isinstance(net, Autoregressive)
            found = (net.logits(memory, y), graphs.logits(other, y))
            expected, got = (log_softmax_tokens(scores)[..., 5:] for scores in found)
            pairs = [(expected, got)]
    for expected, got in pairs:
        spread = expected - expected.mean()
        assert 1e-5 < (got - expected).norm() / spread.norm() < (0.03 if exact else 0.05)


def test_rows_of_zeros_are_no_trouble(tmp_path: Path) -> None:
    """A dead feed-forward layer gives zeros, whose scale is 0."""
    net = network("levt", 6)
    assert isinstance(net, LevT)
    with torch.no_grad():
        for block in net.tower(("delete", "placeholder", "token")).blocks:
            block.feed_forward.into.bias.fill_(-1e6)  # type: ignore[union-attr]
    graphs = graphs_of(net, tmp_path, "int8")
    y = State.of([[7, 8, 9], [11]]).y
    scores = graphs.delete(graphs.encode(y), y)
    assert scores.isfinite().all()


def test_loading_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LEVT_THREADS", "1")
    folder = save_tiny(tmp_path / "model", seed=1)
    plain, fast = levt.load(folder, device="cpu"), levt.load(folder, engine="onnx")
    assert [r.text for r in fast.translate(TEXTS)] == [r.text for r in plain.translate(TEXTS)]
    assert isinstance(fast.engine, OnnxEngine)
    assert fast.engine.threads == 1
    small = levt.load(folder, engine="onnx-int8")
    assert len(small.translate(TEXTS)) == len(TEXTS)

    # The graphs are in the cache now: no network is built again.
    monkeypatch.setattr("levt.policy.folder.build", None)
    again = levt.load(folder, engine="onnx", device="cpu", dtype="float32")
    assert again.translate(TEXTS[0]).text == plain.translate(TEXTS[0]).text
    assert levt.load(folder, engine="onnx", dtype="int8").translate("x").text == small.translate("x").text

    for wrong in ({"device": "cuda"}, {"dtype": "float16"}):
        with pytest.raises(ConfigError):
            levt.load(folder, engine="onnx", **wrong)
    with pytest.raises(ConfigError, match="onnx-int8 has the dtype int8"):
        levt.load(folder, engine="onnx-int8", dtype="float32")
    monkeypatch.setenv("LEVT_THREADS", "many")
    with pytest.raises(ConfigError, match="LEVT_THREADS must be a whole number"):
        levt.load(folder, engine="onnx")


def test_other_kinds_are_refused(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model", "recurrent")
    with pytest.raises(ConfigError, match="of kind levt and autoregressive, got recurrent"):
        levt.load(folder, engine="onnx")


def test_too_long_is_refused(tmp_path: Path) -> None:
    engine = engine_of(network("levt", 7), tmp_path)
    with pytest.raises(InputError, match="at most 64 tokens"):
        engine.encode([(7,) * 63])


@pytest.mark.parametrize("package", ["onnxruntime", "onnx"])
def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = save_tiny(tmp_path / "model")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=f"the package '{package}' is not installed") as error:
        levt.load(folder, engine="onnx")
    assert error.value.hint == "pip install 'levt[onnx]'"
