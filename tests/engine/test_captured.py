"""Fixed shapes give the edits of the plain loop; on a CPU nothing is captured, on a GPU everything is."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from levt.edits.state import State
from levt.engine import static_edits
from levt.engine.captured import Captured
from levt.engine.captured_search import CapturedSearch
from levt.engine.cuda_engine import CudaEngine
from levt.engine.exits import leave_early
from levt.engine.graph import WIDTHS, Graph, bucket
from levt.engine.seat import Seat
from levt.engine.static_edits import Controls, Frame
from levt.engine.torch_engine import TorchEngine
from levt.errors import InputError
from levt.policy.autoregressive import Autoregressive
from levt.policy.build import build
from levt.policy.config import LevTConfig
from levt.policy.folder import Tokenizers
from levt.policy.levt import LevT
from levt.refine.loop import Outcome
from levt.refine.options import Options
from levt.refine.request import Request
from levt.refine.search import SearchOptions
from levt.text.tokenizer import Tokenizer
from tiny_models import network as tiny_network

VOCABULARY = 40


def network(seed: int, **settings: Any) -> LevT:
    torch.manual_seed(seed)
    shape = {
        "width": 32,
        "hidden": 48,
        "heads": 2,
        "encoder_layers": 1,
        "decoder_layers": 2,
        "max_length": 80,
    }
    config = LevTConfig(
        source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY, max_count=7, **{**shape, **settings}
    )
    model = build(config).eval()
    assert isinstance(model, LevT)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
    return model


def tokenizers() -> Tokenizers:
    return Tokenizers.joint(Tokenizer.from_pieces([f"p{i}" for i in range(VOCABULARY - 5)]))


def some_requests(seed: int, count: int) -> list[Request]:
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        source = tuple(rng.randrange(5, VOCABULARY) for _ in range(rng.randint(1, 30)))
        draft = tuple(rng.randrange(5, VOCABULARY) for _ in range(rng.choice([0, 0, 3, 12])))
        locked = tuple(rng.random() < 0.3 for _ in draft)
        made.append(
            Request(
                source=source,
                draft=draft,
                locked=locked,
                glued=tuple(lock and rng.random() < 0.5 for lock in locked),
                options=Options(
                    max_iterations=rng.randint(1, 8),
                    empty_gap_penalty=rng.choice([0.0, 1.0, 3.0]),
                    min_edit=rng.choice([0.0, 0.0, 0.2]),
                    max_ratio=rng.choice([1.0, 2.0, 3.0]),
                    max_count=rng.choice([2, 255]),
                ),
            )
        )
    return made


def same(one: Outcome, other: Outcome) -> None:
    assert one.tokens == other.tokens
    assert (one.iterations, one.passes, one.stopped) == (other.iterations, other.passes, other.stopped)
    assert [r.script for r in one.rounds] == [r.script for r in other.rounds]
    assert [r.decisions for r in one.rounds] == [r.decisions for r in other.rounds]
    assert one.score == pytest.approx(other.score, abs=1e-4)
    for mine, theirs in zip(one.rounds, other.rounds, strict=True):
        assert mine.fill_logp == pytest.approx(theirs.fill_logp, abs=1e-4)
        assert mine.counts_logp == pytest.approx(theirs.counts_logp, abs=1e-4)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("height", [1, 3, 8])
def test_the_same_edits_as_the_plain_loop(seed: int, height: int) -> None:
    model = network(seed, sharing=["all", "plh+tok", "none"][seed % 3])
    fast, plain = CudaEngine(model, tokenizers()), TorchEngine(model, tokenizers())
    requests = some_requests(seed, height)
    sources = [r.source for r in requests]
    found = fast.refine(fast.encode(sources), requests)
    for one, other in zip(found, plain.refine(plain.encode(sources), requests), strict=True):
        same(one, other)


def test_a_state_that_outgrows_its_bucket_is_run_again_in_a_wider_one() -> None:
    grown = 0
    for seed in range(8):
        model = network(seed)
        fast, plain = CudaEngine(model, tokenizers()), TorchEngine(model, tokenizers())
        request = Request(
            source=(5, 6, 7), options=Options(max_ratio=12.0, empty_gap_penalty=3.0, max_iterations=4)
        )
        [one] = fast.refine(fast.encode([request.source]), [request])
        [other] = plain.refine(plain.encode([request.source]), [request])
        same(one, other)
        grown += len(one.tokens) + 2 > bucket(3 * 5 // 4 + 6, WIDTHS, 80)
    assert grown


def test_what_cannot_be_captured_goes_the_plain_way() -> None:
    model = network(2)
    fast, plain = CudaEngine(model, tokenizers()), TorchEngine(model, tokenizers())
    for steered in (
        Request(source=(5, 6), draft=(7, 8), open={1: 2}, banned=((9,),)),
        Request(source=(5, 6), open={0: 0}),
    ):
        assert not fast.captured.serves([steered])
        same(
            fast.refine(fast.encode([(5, 6)]), [steered])[0],
            plain.refine(plain.encode([(5, 6)]), [steered])[0],
        )
    many = some_requests(5, 20)
    sources = [r.source for r in many]
    for one, other in zip(
        fast.refine(fast.encode(sources), many), plain.refine(plain.encode(sources), many), strict=True
    ):
        same(one, other)


def test_what_is_too_long_is_refused_as_ever() -> None:
    engine = CudaEngine(network(2), tokenizers())
    for request in (Request(source=(5,) * 79), Request(source=(5,), draft=(6,) * 79)):
        with pytest.raises(InputError, match="at most 80 tokens"):
            engine.refine(engine.encode([request.source]), [request])


def deletes(outcome: Outcome) -> list[bool]:
    """For each iteration that has a deletion to ask for, whether anything was deleted."""
    asked = outcome.rounds if outcome.request.draft else outcome.rounds[1:]
    return [any(round_.script.drop) for round_ in asked]


@pytest.mark.parametrize("sharing", ["all", "none"])
def test_the_host_reads_once_an_iteration(sharing: str) -> None:
    engine = CudaEngine(network(4, sharing=sharing), tokenizers())
    request = Request(source=tuple(range(5, 25)))
    memory = engine.encode([request.source])
    [outcome] = engine.refine(memory, [request])
    again = sum(deletes(outcome)) if sharing == "all" else 0
    assert engine.captured.synchronisations <= outcome.iterations + 1 + again


def test_a_state_in_which_nothing_is_deleted_is_looked_at_once_for_deletion_and_placeholders() -> None:
    saved = looked_again = 0
    for seed in range(80):
        model = network(seed % 5)
        engine, looks = CudaEngine(model, tokenizers()), list[str]()
        states = engine.captured._states

        def spy(*given: Any, looks: list[str] = looks, states: Any = states) -> torch.Tensor:
            looks.append(given[-1])
            found: torch.Tensor = states(*given)
            return found

        engine.captured._states = spy
        engine.captured._begin()
        [request] = some_requests(seed, 1)
        [outcome] = engine.refine(engine.encode([request.source]), [request])
        if outcome.stopped == "cycle" or not outcome.tokens or len(engine.captured._solo._seats) > 1:
            continue  # Rounds are left out, or nothing was looked at, or some were run again in a wider bucket.
        kept = deletes(outcome).count(False)
        assert len(looks) == outcome.passes - kept
        saved, looked_again = saved + kept, looked_again + len(deletes(outcome)) - kept
    assert saved > 10
    assert looked_again > 10


@pytest.mark.parametrize("sharing", ["all", "plh+tok"])
def test_what_is_never_run_is_not_captured(sharing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    captured = list[object]()
    monkeypatch.setattr(Graph, "fresh", property(lambda graph: True))
    monkeypatch.setattr(Graph, "prepare", lambda graph: captured.append(graph.work))
    model = network(4, sharing=sharing)
    seat = Seat(model, 8, 8, device=torch.device("cpu"), capture=False)
    assert (seat._place.work in captured) == model.alike == (sharing == "all")
    for graph in (seat._open, seat._begin, seat._edit, seat._turn, seat._fill):
        assert graph.work in captured


def test_the_device_of_the_network_is_the_current_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two GPUs the first would be captured, with nothing on it."""
    now, seen, second = list[torch.device](), list[torch.device](), torch.device("cuda:1")

    @contextmanager
    def current(device: torch.device) -> Iterator[None]:
        now.append(device)
        yield
        now.pop()

    def look(*_: object) -> list[Any]:
        seen.extend(now)
        return []

    monkeypatch.setattr(torch.cuda, "device", current)
    writer = tiny_network("autoregressive")
    assert isinstance(writer, Autoregressive)
    refines, searches = Captured(network(4)), CapturedSearch(writer)
    monkeypatch.setattr(refines, "_refine", look)
    monkeypatch.setattr(searches, "_search", look)
    refines.device = searches.device = second
    assert not refines.refine([])
    assert not searches.search([], [], SearchOptions())
    assert seen == [second, second]
    assert not now


@pytest.mark.gpu
def test_kernels_do_what_torch_does() -> None:
    from levt.engine import edit_kernels

    for seed in range(50):
        torch.manual_seed(seed)
        rng = random.Random(seed)
        b, n, k = rng.randint(1, 5), rng.choice([5, 8, 13, 64, 100]), 9
        rows = [[rng.randrange(5, VOCABULARY) for _ in range(rng.randint(0, n - 2))] for _ in range(b)]
        state = State.of(
            rows,
            locked=[[rng.random() < 0.3 for _ in row] for row in rows],
            glued=[[rng.random() < 0.2 for _ in row] for row in rows],
            width=n,
            device="cuda",
        )
        frames = [Frame.empty(b, n, "cuda"), Frame.empty(b, n, "cuda")]
        controls = Controls(
            torch.rand(b, device="cuda") * 2,
            torch.tensor([rng.choice([0.0, 0.3, 1.0]) for _ in range(b)], device="cuda"),
            torch.randint(1, 6, (b,), device="cuda"),
            torch.randint(2, n + 10, (b,), device="cuda").maximum(state.lengths),
        )
        for frame in frames:
            for mine, given in ((frame.y, state.y), (frame.locked, state.locked), (frame.glued, state.glued)):
                mine.copy_(given)
        deletes, counts = torch.randn(b, n, 2, device="cuda") * 3, torch.randn(b, n - 1, k, device="cuda") * 3
        tokens = torch.randn(b, n, VOCABULARY, device="cuda") * 3
        for steps, frame in zip((static_edits, edit_kernels), frames, strict=True):
            steps.delete_step(frame, deletes, controls)
            steps.insert_step(frame, counts, controls)
            steps.fill_step(frame, tokens)
        assert torch.equal(frames[0].ints, frames[1].ints)
        assert torch.equal(frames[0].locked, frames[1].locked)
        assert torch.equal(frames[0].glued, frames[1].glued)
        real = state.real
        torch.testing.assert_close(frames[0].drop_logp[real], frames[1].drop_logp[real])
        torch.testing.assert_close(frames[0].fill_logp, frames[1].fill_logp)


@pytest.mark.gpu
def test_a_thousand_sentences_on_a_gpu() -> None:
    model = network(7).cuda()
    fast, plain = CudaEngine(model, tokenizers()), TorchEngine(model, tokenizers())
    requests = some_requests(11, 1000)
    for request in requests:
        [one] = fast.refine(fast.encode([request.source]), [request])
        [other] = plain.refine(plain.encode([request.source]), [request])
        assert one.tokens == other.tokens
        assert one.iterations == other.iterations


def test_exits_may_change_after_something_was_captured() -> None:
    model = network(3)
    fast, plain = CudaEngine(model, tokenizers()), TorchEngine(model, tokenizers())
    request = some_requests(8, 1)[0]
    for exit_ in (None, 1):
        if exit_ is not None:
            leave_early(model, {"delete": exit_, "placeholder": exit_})
        stages = fast.captured._solo
        [one] = fast.refine(fast.encode([request.source]), [request])
        [other] = plain.refine(plain.encode([request.source]), [request])
        same(one, other)
        assert (fast.captured._solo is stages) == (exit_ is None)
