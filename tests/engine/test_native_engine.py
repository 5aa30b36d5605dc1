"""Our own compiled passes against the networks they were packed from: every setting, every score, every edit."""

import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from alike_engines import alternatives_agree, requests_come_and_go
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from network_shapes import SHARING, levt_shapes
from test_captured import same
from torch import Tensor

import levt
from levt.edits.state import State
from levt.engine import native_library
from levt.engine.native_engine import NativeEngine
from levt.engine.native_network import NativePrecision, Packed
from levt.engine.native_policy import NativePolicy
from levt.engine.torch_engine import TorchEngine
from levt.errors import ConfigError, InputError
from levt.policy.build import build
from levt.policy.config import LevTConfig
from levt.policy.levt import LevT
from levt.policy.scores import log_softmax
from levt.refine.options import Options
from levt.refine.request import Request
from levt.text.specials import PLH
from tiny_models import LINES, TOKENIZERS, network, save_tiny

pytestmark = pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler")
SIZE = TOKENIZERS.target.size

tokens = st.lists(st.integers(5, SIZE - 1), max_size=20).map(tuple)


def wide(seed: int, **more: Any) -> LevT:
    """Wide enough for two threads to share the columns of a product; with the weights that training begins with."""
    torch.manual_seed(seed)
    shape: dict[str, Any] = {
        "width": 128,
        "heads": 2,
        "hidden": 256,
        "encoder_layers": 2,
        "decoder_layers": 2,
    }
    size = {"source_vocabulary": SIZE, "target_vocabulary": SIZE, "max_length": 64, "max_count": 6}
    net = build(LevTConfig(**{**shape, **size, **more})).eval()
    assert isinstance(net, LevT)
    return net


def policy_of(net: Any, precision: NativePrecision = "float32", threads: int = 1) -> NativePolicy:
    return NativePolicy(Packed(net, precision, threads), net.config)


def engine_of(net: Any, precision: NativePrecision = "float32", threads: int = 1) -> NativeEngine:
    return NativeEngine(policy_of(net, precision, threads), TOKENIZERS)


@st.composite
def shapes(draw: st.DrawFn) -> dict[str, Any]:
    return {**draw(levt_shapes()), "hidden": draw(st.sampled_from([24, 30, 64]))}


def near(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])
@given(
    shapes(),
    st.lists(st.tuples(tokens, tokens), min_size=1, max_size=5),
    st.integers(0, 9),
    st.integers(1, 2),
)
def test_every_levt_gives_the_scores_of_its_network(
    shape: dict[str, Any], pairs: list[tuple[Any, Any]], seed: int, threads: int
) -> None:
    net = network("levt", seed, **shape)
    assert isinstance(net, LevT)
    compare(net, pairs, threads)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_team_gives_them_too(norm: str, threads: int) -> None:
    net = wide(1, norm=norm)
    # A team may pay or not, from pass to pass: both ways are tried within a few.
    for n in range(20):
        compare(net, [(tuple(range(5, 25)), tuple(range(7, 8 + n)))], threads)
    compare(net, [(tuple(range(5, 6 + n)), tuple(range(9, 25 - n))) for n in range(12)], threads)


def compare(net: LevT, pairs: list[tuple[Any, Any]], threads: int) -> None:
    fast = policy_of(net, threads=threads)
    x, y = (State.of(rows).y for rows in zip(*pairs, strict=True))
    state = State.of([row for _, row in pairs])
    with torch.inference_mode():
        memory, other = net.encode(x), fast.encode(x)
        real, gaps = state.real, state.gaps
        near(log_softmax(fast.delete(other, y))[real], net.delete(memory, y)[real])
        near(log_softmax(fast.placeholder(other, y))[gaps], net.placeholder(memory, y)[gaps])
        wide = torch.cat([y[:, :1], torch.full_like(y[:, :1], PLH), y[:, 1:]], 1)
        near(fast.token(other, wide, wide.eq(PLH)), net.token(memory, wide, wide.eq(PLH)))


def some_requests(seed: int, count: int) -> list[Request]:
    rng, made = random.Random(seed), []

    def some(most: int) -> tuple[int, ...]:
        return tuple(rng.randrange(5, SIZE) for _ in range(rng.randrange(most)))

    for _ in range(count):
        draft = some(12) if rng.random() < 0.5 else ()
        options = Options(
            max_iterations=rng.choice([1, 3, 10]),
            empty_gap_penalty=rng.choice([0.0, 1.5]),
            min_edit=rng.choice([0.0, 0.2, 1.0]),
            max_ratio=rng.choice([1.0, 2.0]),
            max_count=rng.choice([2, 255]),
        )
        # Every third is steered, and goes the plain way.
        steered = rng.random() < 0.3
        locked = tuple(steered and rng.random() < 0.3 for _ in draft)
        banned = (some(3) or (7,),) if steered else ()
        opened = {rng.randrange(len(draft) + 1): rng.randrange(2)} if steered and rng.random() < 0.5 else {}
        made.append(
            Request(source=some(14), draft=draft, locked=locked, open=opened, banned=banned, options=options)
        )
    return made


@pytest.mark.parametrize("seed", range(5))
def test_hundreds_of_requests_have_the_edits_of_the_plain_loop(seed: int) -> None:
    net = network("levt", seed, sharing=SHARING[seed], placeholder_exit=1 if seed else None)
    plain, fast = TorchEngine(net, TOKENIZERS), engine_of(net, threads=1 + seed % 2)
    stops = set()
    for part in range(4):
        requests = some_requests(10 * seed + part, 24)
        sources = [request.source for request in requests]
        expected = plain.refine(plain.encode(sources), requests)
        for one, other in zip(fast.refine(fast.encode(sources), requests), expected, strict=True):
            same(one, other)
            for mine, theirs in zip(one.rounds, other.rounds, strict=True):
                assert mine.drop_logp == pytest.approx(theirs.drop_logp, abs=1e-4)
            stops.add(one.stopped)
    assert stops >= {"unchanged", "limit"}


def test_steered_requests_read_their_own_source() -> None:
    """Whatever else is in the batch, and however often a source is used."""
    net = network("levt", 2)
    plain, fast = TorchEngine(net, TOKENIZERS), engine_of(net)
    sources, rows = [(7, 8, 9), (20, 21, 22, 23, 24)], [1, 0, 1, 0, 1]
    draft = (11, 12, 13)
    steering: list[dict[str, Any]] = [
        {}, {"drop": (True, False, False)}, {"glued": (False, True, True)}, {"open": {1: 0}}, {"open": {2: 2}}
    ]  # fmt: skip
    requests = [
        Request(source=sources[row], draft=draft, **more) for row, more in zip(rows, steering, strict=True)
    ]
    expected = plain.refine(plain.encode(sources), requests, rows)
    for one, other in zip(fast.refine(fast.encode(sources), requests, rows), expected, strict=True):
        same(one, other)


def test_texts_are_those_of_torch_and_rows_may_share_a_source(tmp_path: Path) -> None:
    folder, texts = save_tiny(tmp_path / "model", seed=2), list(dict.fromkeys(LINES))
    plain, fast = (
        levt.load(folder, engine=name, device="cpu", dtype="float32") for name in ("torch", "native")
    )
    assert [r.text for r in fast.translate([*texts, ""])] == [r.text for r in plain.translate([*texts, ""])]
    settings_: dict[str, Any] = {"draft": texts[2], "terms": ["Katzen", "Stein"]}
    assert fast.refine(texts[0], **settings_).text == plain.refine(texts[0], **settings_).text


def test_batch_mates_and_threads_change_nothing_in_bytes() -> None:
    net, rng = wide(4), random.Random(3)
    one, two = (policy_of(net, "int8", threads) for threads in (1, 2))
    rows = [[1, *(rng.randrange(5, SIZE) for _ in range(n)), 2] for n in (9, 0, 17, 3, 30, 1, 12, 12)]
    expected = []
    for row in rows:
        [source] = one.packed.encode([row])
        expected.append(one.states([source], [row], "delete"))
    sources = two.packed.encode(rows)
    assert np.array_equal(two.states(sources, rows, "delete"), np.concatenate(expected))
    # A team may pay or not, from pass to pass: both ways are tried within a few.
    for _ in range(20):
        [source] = two.packed.encode(rows[4:5])
        assert np.array_equal(two.states([source], rows[4:5], "delete"), expected[4])


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_bytes_are_near(activation: str) -> None:
    net = wide(5, activation=activation)
    exact, rough = policy_of(net), policy_of(net, "int8")
    rng = random.Random(0)
    rows = [[1, *(rng.randrange(5, SIZE) for _ in range(n)), 2] for n in (8, 21)]
    pairs = [
        (
            policy.packed.delete_scores(h),
            policy.packed.placeholder_scores(h),
            policy.packed.token_scores(h)[0],
        )
        for policy in (exact, rough)
        for h in [policy.states(policy.packed.encode(rows), rows, "token")]
    ]
    for one, other in zip(*pairs, strict=True):
        usable = one > -1e20
        spread = one[usable] - one[usable].mean()
        assert np.linalg.norm((one - other)[usable]) < 0.06 * np.linalg.norm(spread)


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_requests_come_and_go(precision: NativePrecision) -> None:
    requests_come_and_go(engine_of(network("levt", 3), precision))


def test_alternatives_of_a_place() -> None:
    net = network("levt", 4)
    alternatives_agree(engine_of(net), net)


def test_policies_leave_early() -> None:
    fast = levt.Model(engine_of(network("levt", 1, decoder_layers=3))).leave_early(delete=1, placeholder=2)
    early = network("levt", 1, decoder_layers=3, delete_exit=1, placeholder_exit=2)
    expected = levt.Model(TorchEngine(early, TOKENIZERS)).translate(LINES[:5])
    assert [r.text for r in fast.translate(LINES[:5])] == [r.text for r in expected]


def test_exits_can_be_raised_again() -> None:
    """A tower stays as deep as it is, whatever was asked for before."""
    plain = network("levt", 1, decoder_layers=3, sharing="none")
    model = levt.Model(engine_of(plain)).leave_early(delete=1, token=1)
    early = model.translate(LINES[:5])
    again = model.leave_early(delete=3, token=3).translate(LINES[:5])
    expected = levt.Model(TorchEngine(plain, TOKENIZERS)).translate(LINES[:5])
    assert [r.text for r in again] == [r.text for r in expected] != [r.text for r in early]
    with pytest.raises(ConfigError, match="at most 3, got 4"):
        model.leave_early(delete=4)


def test_what_it_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = save_tiny(tmp_path / "model")
    with pytest.raises(ConfigError, match="runs on the CPU"):
        levt.load(folder, engine="native", device="cuda")
    with pytest.raises(ConfigError, match="int8 or float32"):
        levt.load(folder, engine="native", dtype="bfloat16")
    with pytest.raises(ConfigError, match="kind levt, got autoregressive"):
        levt.load(save_tiny(tmp_path / "ar", "autoregressive"), engine="native")
    packed = policy_of(network("levt")).packed
    with pytest.raises(InputError, match="at most 64"):
        packed.encode([[1, *[5] * 63, 2]])
    with pytest.raises(IndexError, match="between 0 and"):
        packed.encode([[1, SIZE, 2]])
    monkeypatch.setenv("CC", "false")
    with pytest.raises(ConfigError, match="cannot compile"):
        native_library.build(tmp_path / "cache" / "made.so")
    assert not list((tmp_path / "cache").iterdir())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="no C compiler"):
        native_library.build(tmp_path / "cache" / "made.so")


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"cannot be built in .*: (Not a directory|File exists)\n") as error:
        native_library.build(tmp_path / "file" / "made.so")
    assert "XDG_CACHE_HOME" in str(error.value.hint)


def test_a_cache_that_cannot_be_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of somebody else, or one whose name is too long, which holds for every user, root too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ("x" * 300)))
    with pytest.raises(ConfigError, match=r"cannot be built in .*: File name too long") as error:
        native_library.library.__wrapped__()
    assert "XDG_CACHE_HOME" in str(error.value.hint)
    monkeypatch.setattr(native_library, "library", native_library.library.__wrapped__)
    monkeypatch.setattr(native_library, "processor", lambda: "flags : avx512f")
    assert not native_library.fast.__wrapped__()


def test_a_user_without_a_home_has_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default engine is then another one; who asks for this one learns what to do."""

    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    folder = save_tiny(tmp_path / "model")
    monkeypatch.setattr(Path, "home", nowhere)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for known in (native_library.library, native_library.fast):
        known.cache_clear()
    try:
        assert levt.load(folder, device="cpu").translate("a dog").stopped
        for engine in ("native", "onnx"):
            with pytest.raises(ConfigError, match="home directory") as error:
                levt.load(folder, engine=engine)
            assert "XDG_CACHE_HOME" in str(error.value.hint)
    finally:
        native_library.fast.cache_clear()
